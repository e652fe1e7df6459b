"""A study's settings, and the plans of assignments derived from them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from topkapi.app.domain.draws import shuffled
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.grades.session import DEFAULT_GRADES, GradePlan
from topkapi.app.domain.lists.plan import ListRules, PairChoice
from topkapi.app.domain.pairs.answers import ItemId
from topkapi.app.domain.pairs.goal import Goal
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.sorters.registry import SORTERS

MAX_K = 1000
IDLE_RANGE = (10, 3600)
REST_RANGE = (5, 240)
MAX_TRIES = 100
MAX_CONTACT = 300
# Settings that no session depends on: they can change while work is assigned.
_NEVER_FROZEN = (
    "idle_seconds",
    "rest_minutes",
    *("training", "training_needed", "training_tries", "training_contact"),
)


@dataclass(frozen=True, slots=True)
class Grade:
    """One grade of the grading tool, and when to choose it."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class StudySettings:
    """Judging settings of a study; ``grades`` go from worst to best.

    The sorter and its options are those of `Plan`. ``idle_seconds`` is the time without activity
    after which the timer pauses, ``rest_minutes`` the active time after which the judging page
    suggests a rest. ``lists_in_rotation`` applies the rule that no assessor judges a
    query with two tools to the tool `lists` as well. ``lists_pairs``, ``lists_size`` and
    ``lists_repeats`` are the `ListRules`, whose depth is ``k``.

    With ``training``, assessors confirm the guidelines and practise before their first work;
    ``training_needed`` known answers in at most ``training_tries`` tries qualify them, if set.
    ``training_contact`` says whom to ask after the last try.
    """

    k: int = 10
    tools: tuple[Tool, ...] = (Tool.PAIRS,)
    sorter: str = "heap"
    allow_ties: bool = True
    allow_bad: bool = True
    reuse_answers: bool = True
    infer_transitive: bool = False
    best_of: int = 1
    recheck: int = 0
    check_share: float = 0.0
    attention_every: int = 0
    budget: int | None = None
    stop_at: float | None = None
    pair_limit: int = 1
    goal: str = Goal.ORDER.value
    grades: tuple[Grade, ...] = tuple(Grade(name) for name in DEFAULT_GRADES)
    idle_seconds: int = 120
    rest_minutes: int | None = None
    lists_in_rotation: bool = False
    lists_pairs: str = PairChoice.ALL.value
    lists_size: int | None = None
    lists_repeats: bool = False
    training: bool = False
    training_needed: int | None = None
    training_tries: int = 3
    training_contact: str = ""

    def __post_init__(self) -> None:
        if self.k > MAX_K:
            raise Invalid(f"k is {self.k}; it can be at most {MAX_K}.", field="k")
        if not self.tools or len(set(self.tools)) != len(self.tools):
            raise Invalid("Name one or more tools, each once.", field="tools")
        low, high = IDLE_RANGE
        if not low <= self.idle_seconds <= high:
            raise Invalid(
                f"idle_seconds is {self.idle_seconds}; it must be between {low} and {high}.",
                field="idle_seconds",
            )
        self._check_rest()
        self._check_training()
        self._pairs((), "")
        self._grades((), "")
        _ = self.list_rules  # raises if invalid

    def _check_rest(self) -> None:
        low, high = REST_RANGE
        if self.rest_minutes is not None and not low <= self.rest_minutes <= high:
            raise Invalid(
                f"rest_minutes is {self.rest_minutes}; it must be between {low} and {high}.",
                field="rest_minutes",
            )

    def _check_training(self) -> None:
        if self.training_needed is not None and self.training_needed < 1:
            raise Invalid(
                f"training_needed is {self.training_needed}; it must be at least 1.",
                field="training_needed",
            )
        if not 1 <= self.training_tries <= MAX_TRIES:
            raise Invalid(
                f"training_tries is {self.training_tries}; it must be from 1 to {MAX_TRIES}.",
                field="training_tries",
            )
        if len(self.training_contact) > MAX_CONTACT:
            raise Invalid(
                f"training_contact has at most {MAX_CONTACT} characters.", field="training_contact"
            )

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
        """Return the settings that determine sessions.

        These are all settings except those of `_NEVER_FROZEN` and the descriptions of grades.
        """
        stored = self.as_json()
        for name in _NEVER_FROZEN:
            del stored[name]
        stored["grades"] = [grade.name for grade in self.grades]
        return stored

    def _pairs(self, order: Sequence[ItemId], seed: str) -> Plan:
        known = SORTERS.get(self.sorter)
        return Plan(
            order=tuple(order),
            k=self.k,
            sorter=self.sorter,
            sorter_version=known.version if known else 0,
            allow_ties=self.allow_ties,
            allow_bad=self.allow_bad,
            reuse_answers=self.reuse_answers,
            infer_transitive=self.infer_transitive,
            best_of=self.best_of,
            recheck=self.recheck,
            check_share=self.check_share,
            attention_every=self.attention_every,
            seed=seed,
            budget=self._budget(len(order)),
            stop_at=self.stop_at,
            pair_limit=self.pair_limit,
            goal=self.goal,
        )

    def _budget(self, n: int) -> int | None:
        """Return the number of questions for a sampled sorter, fixed when the plan is made."""
        if self.budget is None and n > 1 and self.sorter in SORTERS:
            sorter = SORTERS[self.sorter]
            return max(1, sorter.bound(n, self.k)) if sorter.sampled else None
        return self.budget

    def _grades(self, order: Sequence[ItemId], seed: str) -> GradePlan:
        names = tuple(grade.name for grade in self.grades)
        return GradePlan(order=tuple(order), grades=names, seed=seed)

    @property
    def list_rules(self) -> ListRules:
        """Rules for comparing lists."""
        if self.lists_pairs not in list(PairChoice):
            known = ", ".join(PairChoice)
            raise Invalid(
                f"lists_pairs is {self.lists_pairs!r}; it can be {known}.", field="lists_pairs"
            )
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


def stored_plan(
    settings: StudySettings, tool: Tool, documents: Sequence[ItemId], seed: str
) -> dict[str, Any]:
    """Return the plan of ``tool`` as JSON, stored with an assignment to replay its session."""
    if tool is Tool.GRADES:
        return settings.grade_plan(documents, seed).as_json()
    return settings.plan(documents, seed).as_json()
