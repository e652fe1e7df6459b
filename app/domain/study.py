"""A study's settings, and the plans of assignments derived from them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from topkapi.app.domain.draws import shuffled
from topkapi.app.domain.enums import Goal, Tool
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.grades.session import DEFAULT_GRADES, GradePlan
from topkapi.app.domain.lists.plan import ListRules, PairChoice
from topkapi.app.domain.pairs.answers import ItemId
from topkapi.app.domain.pairs.plan import BOUNDS, Plan
from topkapi.app.domain.pairs.sorters.registry import SORTERS
from topkapi.app.domain.settings import Bounds, setting, settings_of


@dataclass(frozen=True, slots=True)
class Grade:
    """One grade of the grading tool, and when to choose it."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class StudySettings:
    """Judging settings of a study: each is declared here, and only here."""

    k: int = setting(
        10, "Top k", "Number of pages in the list.", bounds=BOUNDS["k"], unit="pages", basic=True
    )
    tools: tuple[Tool, ...] = setting(
        (Tool.PAIRS,),
        "Tools",
        'What assessors do: `"pairs"` (T1), `"grades"` (T2), `"lists"` (T3), or several of them.',
        "study",
        basic=True,
    )
    sorter: str = setting(
        "heap",
        "Sorter",
        "How pairs are chosen.",
        choices={name: f"{name}: {sorter.summary}" for name, sorter in SORTERS.items()},
        basic=True,
    )
    allow_ties: bool = setting(
        True, "Ties", "Assessors may answer that two pages are equally good.", basic=True
    )
    allow_bad: bool = setting(
        True,
        "Bad pages",
        "Assessors may mark a page as clearly irrelevant; "
        "they can always say that they cannot judge.",
    )
    reuse_answers: bool = setting(
        True, "Reuse answers", "Pairs that the assessor has answered are not asked again."
    )
    infer_transitive: bool = setting(
        False,
        "Skip implied answers",
        "Pairs decided by earlier answers are not asked: fewer questions, but fewer mistakes are "
        "noticed.",
    )
    best_of: int = setting(
        1,
        "Majority of",
        "Ask a pair until one side has a majority of this many answers; odd.",
        bounds=BOUNDS["best_of"],
        unit="answers per pair",
    )
    recheck: int = setting(
        0,
        "Check the final list",
        "Passes over adjacent pages of the final list.",
        bounds=BOUNDS["recheck"],
        unit="times",
    )
    check_share: float = setting(
        0.0,
        "Ask again",
        "Share of answered pairs that are asked once more with the sides swapped.",
        bounds=BOUNDS["check_share"],
        unit="of the answered pairs",
    )
    attention_every: int = setting(
        0,
        "Gold pair after",
        "Ask a gold pair of the query after this many answers; 0 for never.",
        bounds=BOUNDS["attention_every"],
        unit="answers",
    )
    budget: int | None = setting(
        None,
        "Budget",
        "Sorter `robust`: number of questions per query; "
        "if empty, as many as `heap` is expected to ask.",
        bounds=BOUNDS["budget"],
        unit="questions per query",
    )
    stop_at: float | None = setting(
        None,
        "Stop at",
        "Sorter `robust`: stop early at this expected quality: "
        "kappa-NDCG, or overlap for the goal `members`.",
        bounds=BOUNDS["stop_at"],
        unit="expected quality",
    )
    pair_limit: int = setting(
        1,
        "Ask a pair at most",
        "Sorter `robust`: how many times a pair is asked at most.",
        bounds=BOUNDS["pair_limit"],
        unit="times",
    )
    goal: str = setting(
        Goal.ORDER.value,
        "Goal",
        "Sorter `robust`: what to ask for, the `order` of the top k or its `members`.",
        choices={"order": "the order of the top k", "members": "which pages belong in the top k"},
    )
    together: bool = setting(
        False,
        "Together",
        "Sorter `robust`: the people assigned to a query make one list as a team; every round "
        "adds one person.",
    )
    prior: str = setting(
        "",
        "Prior",
        "Sorter `robust`: a feature of the candidates, `grade`, or `machine:NAME` for a "
        "machine's judgments, that helps choose the questions; the list follows from people's "
        "answers alone. If empty, none.",
        longest=300,
    )
    grades: tuple[Grade, ...] = setting(
        tuple(Grade(name) for name in DEFAULT_GRADES),
        "Grades of T2",
        "From worst to best, each with a name and a description.",
        "study",
        frozen=False,
    )
    idle_seconds: int = setting(
        120,
        "Pause after",
        "Seconds without activity before the clock pauses; they are not counted.",
        "study",
        bounds=Bounds(10, 3600),
        unit="seconds without activity",
        frozen=False,
    )
    rest_minutes: int | None = setting(
        None,
        "Suggest a break after",
        "Minutes of uninterrupted work before the judging page suggests a break; if empty, never.",
        "study",
        bounds=Bounds(5, 240),
        unit="minutes of work",
        frozen=False,
    )
    people_queries: int | None = setting(
        None,
        "People judge",
        "Number of random queries that a rotation assigns to people; machines judge all queries. "
        "If empty, people judge all of them.",
        "study",
        bounds=Bounds(5),
        unit="random queries",
        frozen=False,
    )
    lists_in_rotation: bool = setting(
        False, "In the rotation", "No one judges a query with both lists and another tool.", "lists"
    )
    lists_pairs: str = setting(
        PairChoice.ALL.value,
        "Pairs of lists",
        "Which pairs of lists are asked.",
        "lists",
        choices={"all": "all", "random": "a random sample", "active": "the most informative"},
    )
    lists_size: int | None = setting(
        None,
        "Ask about",
        "Pairs of lists per assessor and query; if empty, all.",
        "lists",
        bounds=Bounds(1),
        unit="pairs of lists",
    )
    lists_repeats: bool = setting(
        False, "Allow repeats", "Several assessors may be asked the same pair of lists.", "lists"
    )
    training: bool = setting(
        False,
        "Train assessors",
        "Assessors confirm the guidelines and practise before their first work.",
        "training",
        frozen=False,
        basic=True,
    )
    training_needed: int | None = setting(
        None,
        "Needed",
        "Correct practice answers needed to start work; if empty, finishing practice is enough.",
        "training",
        bounds=Bounds(1),
        unit="correct answers",
        frozen=False,
    )
    training_tries: int = setting(
        3,
        "Tries",
        "Number of attempts per assessor.",
        "training",
        bounds=Bounds(1, 100),
        unit="per assessor",
        frozen=False,
    )
    training_explain: bool = setting(
        True,
        "Explain missed questions",
        "After a failed attempt, show what most people chose and why; otherwise only in the last "
        "attempt.",
        "training",
        frozen=False,
    )
    training_contact: str = setting(
        "",
        "Contact",
        "Whom to contact after the last attempt; if empty, the administrators.",
        "training",
        longest=300,
        frozen=False,
    )

    def __post_init__(self) -> None:
        for each in SETTINGS.values():
            each.check(getattr(self, each.name))
        if not self.tools or len(set(self.tools)) != len(self.tools):
            raise Invalid("Name one or more tools, each once.", field="tools")
        self._pairs((), "")
        self._grades((), "")
        _ = self.list_rules  # raises if invalid

    def as_json(self) -> dict[str, Any]:
        """Return a plain dictionary that `from_json` reads back."""
        stored = asdict(self)
        stored["tools"] = [tool.value for tool in self.tools]
        stored["grades"] = [asdict(grade) for grade in self.grades]
        return stored

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Read the settings that `as_json` wrote; missing ones get their defaults."""
        known = {field.name for field in fields(cls)}
        values = {name: value for name, value in stored.items() if name in known}
        if "tools" in values:
            values["tools"] = tuple(Tool(tool) for tool in values["tools"])
        if "grades" in values:
            values["grades"] = tuple(Grade(**grade) for grade in values["grades"])
        return cls(**values)

    def frozen_settings(self) -> dict[str, Any]:
        """Return the settings that determine sessions: the frozen ones, and the grades' names."""
        stored = {name: value for name, value in self.as_json().items() if SETTINGS[name].frozen}
        return stored | {"grades": [grade.name for grade in self.grades]}

    def frozen_changes(self, other: "StudySettings") -> list[str]:
        """Return the names of the frozen settings that ``other`` has with another value."""
        mine, others = self.frozen_settings(), other.frozen_settings()
        return [name for name in mine if mine[name] != others[name]]

    def _pairs(self, order: Sequence[ItemId], seed: str) -> Plan:
        shared = {each.name for each in fields(Plan)} & set(SETTINGS)
        values = {name: getattr(self, name) for name in shared}
        values["budget"] = self._budget(len(order))
        version = SORTERS[self.sorter].version
        return Plan(order=tuple(order), sorter_version=version, seed=seed, **values)

    def _budget(self, n: int) -> int | None:
        """Return the number of questions for a sampled sorter, fixed when the plan is made."""
        sorter = SORTERS[self.sorter]
        if self.budget is None and n > 1:
            return max(1, sorter.bound(n, self.k)) if sorter.sampled else None
        return self.budget

    def _grades(self, order: Sequence[ItemId], seed: str) -> GradePlan:
        names = tuple(grade.name for grade in self.grades)
        return GradePlan(order=tuple(order), grades=names, seed=seed)

    @property
    def list_rules(self) -> ListRules:
        """Rules for comparing lists."""
        return ListRules(
            choice=PairChoice(self.lists_pairs),
            size=self.lists_size,
            depth=self.k,
            repeats=self.lists_repeats,
        )

    def plan(self, documents: Sequence[ItemId], seed: str) -> Plan:
        """Return the plan of a session over ``documents`` in an order drawn from ``seed``."""
        return self._pairs(shuffled(documents, seed, "order"), seed)

    def grade_plan(self, documents: Sequence[ItemId], seed: str) -> GradePlan:
        """Return the plan of a grading session over ``documents`` in an order from ``seed``."""
        return self._grades(shuffled(documents, seed, "order"), seed)


SETTINGS = settings_of(StudySettings)


def stored_plan(
    settings: StudySettings, tool: Tool, documents: Sequence[ItemId], seed: str
) -> dict[str, Any]:
    """Return the plan of ``tool`` as JSON, stored with an assignment to replay its session."""
    if tool is Tool.GRADES:
        return settings.grade_plan(documents, seed).as_json()
    return settings.plan(documents, seed).as_json()
