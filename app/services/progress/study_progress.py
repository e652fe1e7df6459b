"""Progress of a study in total, by person and by query: what is left, and at what pace."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Self

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Query, Study, User
from topkapi.app.db.queries import progress as queries
from topkapi.app.db.queries.progress import Ordered, Sums
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.pairs.known import wilson_interval
from topkapi.app.services.heads import PersonHead as PersonHead
from topkapi.app.services.progress.snapshots import Snapshot, Snapshots
from topkapi.app.services.promise import Missing, missing_by_query

IDLE = timedelta(days=2)
_LATEST = 6
_FAST, _MIN_ANSWERS = 0.4, 20  # fraction of the study's time per answer; minimum number of answers


@dataclass(frozen=True, slots=True)
class QueryName:
    """A query in the tables of progress; ``name`` is its id as imported."""

    id: int
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """Sums of assignments and derived figures; ``left`` is None while it is unknown.

    ``missing`` counts promised assignments that nobody has. ``ms_left`` is that of the total.
    """

    sums: Sums
    missing: int
    left: int | None
    ms_left: float | None = None

    @property
    def ms_per_answer(self) -> float | None:
        """Milliseconds per effective answer."""
        return self.sums.active_ms / self.sums.answered if self.sums.answered else None

    @property
    def consistency(self) -> float | None:
        """Share of checks that were answered as before."""
        return self.sums.checks_agreed / self.sums.checks if self.sums.checks else None

    @property
    def promised(self) -> int:
        """Assignments there are to be: those that somebody has, and the missing ones."""
        return self.sums.assigned + self.missing

    @property
    def share(self) -> float:
        """Finished share of what was promised."""
        return self.sums.finished / self.promised if self.promised else 0.0

    @property
    def accuracy(self) -> float | None:
        """Share of right answers on known pairs."""
        sums = self.sums
        return sums.known_right / sums.known_answers if sums.known_answers else None

    @property
    def accuracy_interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the accuracy."""
        sums = self.sums
        return wilson_interval(sums.known_right, sums.known_answers) if sums.known_answers else None

    @property
    def seconds(self) -> float | None:
        """Seconds per effective answer."""
        return None if self.ms_per_answer is None else self.ms_per_answer / 1000


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of a line in the API, on the command line and in tables; None if unknown.

    ``promised`` counts the assignments there are to be; some may have no assessor.
    """

    promised: int
    assigned: int
    begun: int
    finished: int
    answered: int
    expected_left: int | None
    active_ms: int
    ms_per_answer: float | None
    checks: int
    self_consistency: float | None
    last_entry_at: datetime | None
    known_answers: int
    known_right: int
    accuracy: float | None
    accuracy_low: float | None
    accuracy_high: float | None

    @classmethod
    def of(cls, line: Line, **more: Any) -> Self:
        """Return the figures of ``line``; ``more`` are the fields that a subclass adds."""
        sums, (low, high) = line.sums, line.accuracy_interval or (None, None)
        names = {each.name for each in fields(Figures)} - {"expected_left"}
        return cls(
            **{name: value for name, value in sums._asdict().items() if name in names},
            promised=line.promised,
            expected_left=line.left,
            ms_per_answer=line.ms_per_answer,
            self_consistency=line.consistency,
            accuracy=line.accuracy,
            accuracy_low=low,
            accuracy_high=high,
            **more,
        )


@dataclass(frozen=True, slots=True)
class FinishedWork:
    """A finished assignment."""

    person: str
    query: str
    tool: Tool
    answered: int
    at: datetime


@dataclass(frozen=True)
class Overview:
    """The whole study, each of its tools, and the snapshot that they were computed from.

    ``missing`` are promised assignments that nobody has, per tool and query, and ``typical`` the
    expected answers per assignment and tool.
    """

    all: Line
    tools: Mapping[Tool, Line]
    missing: Missing
    typical: Mapping[Tool, float]
    work: Snapshot

    @cached_property
    def people(self) -> Mapping[int, Line]:
        """The progress of everyone with work in the study, by id."""
        parts: dict[int, dict[Tool, Sums]] = {}
        for user_id, tool, sums in self.work.people:
            parts.setdefault(user_id, {})[tool] = sums
        return {user_id: _line(tools, self.typical) for user_id, tools in parts.items()}


def overview(session: Session, study: Study, snapshots: Snapshots | None = None) -> Overview:
    """Return the progress of a study; with ``snapshots`` a large one may be some seconds old."""
    work = (snapshots or Snapshots()).of(session, study.id)
    missing = work.missing(session, study)
    tools = {
        tool: _added(sums for _, used, sums in work.people if used is tool)
        for tool in Tool
        if missing.get(tool) or any(used is tool for _, used, _ in work.people)
    }
    typical = _typical(tools)
    lacking = {tool: sum(missing.get(tool, {}).values()) for tool in tools}
    lines = {
        tool: _line({tool: sums}, typical, {tool: lacking[tool]}) for tool, sums in tools.items()
    }
    total = _line(tools, typical, lacking)
    times = [(line.ms_per_answer, line.left) for line in lines.values() if line.left]
    ms_left = sum(pace * left for pace, left in times if pace is not None and left is not None)
    known = all(pace is not None for pace, _ in times)
    return Overview(
        replace(total, ms_left=ms_left if known else None), lines, missing, typical, work
    )


def people(
    session: Session, wanted: Ordered, seen: Overview
) -> tuple[list[tuple[PersonHead, Line]], int]:
    """Return a page of the people with their progress, and the number of matching people."""
    matching = _matching_people(session, seen.people, wanted.search)
    users = {user.id: PersonHead(user.id, user.name, user.email) for user in matching}
    order = _in_order(list(users), seen.people, wanted)
    page = order[wanted.offset : wanted.offset + wanted.limit]
    return [(users[each], seen.people[each]) for each in page], len(order)


def by_query(
    session: Session, study: Study, wanted: Ordered, seen: Overview
) -> tuple[list[tuple[QueryName, Line]], int]:
    """Return a page of the queries with their progress, and the number of matching queries.

    Unless the order depends on the sums, they are computed only for the queries of the page.
    """
    ids = list(_matching_queries(session, study.id, wanted.search))
    ordered_by_sums = wanted.sort != "query"
    lines = _lines_of_queries(seen, seen.work.queries(session), ids) if ordered_by_sums else {}
    order = _in_order(ids, lines, wanted)
    page = order[wanted.offset : wanted.offset + wanted.limit]
    if not ordered_by_sums:
        lines = _lines_of_queries(seen, queries.by_query(session, study.id, page), page)
    asked = _queries_of(session, page)
    heads = {each.id: QueryName(each.id, each.external_id, each.text) for each in asked.values()}
    return [(heads[each], lines[each]) for each in page], len(order)


def _lines_of_queries(
    seen: Overview, sums: Mapping[int, Mapping[Tool, Sums]], ids: Iterable[int]
) -> dict[int, Line]:
    def missing(query: int) -> dict[Tool, int]:
        return {tool: lacking.get(query, 0) for tool, lacking in seen.missing.items()}

    return {each: _line(sums.get(each, {}), seen.typical, missing(each)) for each in ids}


def _in_order(ids: list[int], lines: Mapping[int, Line], wanted: Ordered) -> list[int]:
    """Sort ``ids``, which comes in the order of names; ids without a value go last."""
    value = _VALUES.get(wanted.sort)
    if value is None:
        return ids[::-1] if wanted.descending else ids
    values = {each: value(lines[each]) for each in ids}
    known = [each for each in sorted(ids) if values.get(each) is not None]
    known.sort(key=lambda each: values[each], reverse=wanted.descending)
    return known + [each for each in sorted(ids) if values.get(each) is None]


_VALUES: Mapping[str, Callable[[Line], Any]] = {
    "finished": lambda line: line.sums.finished,
    "answered": lambda line: line.sums.answered,
    "expected_left": lambda line: line.left,
    "pace": lambda line: line.ms_per_answer,
    "consistency": lambda line: line.consistency,
    "accuracy": lambda line: line.accuracy,
    "last": lambda line: line.sums.last_entry_at,
}
PEOPLE_SORTS, QUERY_SORTS = ("name", *_VALUES), ("query", *_VALUES)


def why_missing(session: Session, seen: Overview) -> str:
    """Return what is missing of the promised work, in words; empty if nothing is."""
    lacking = missing_by_query(seen.missing)
    if not lacking:
        return ""
    held, count = seen.work.queries(session), len(lacking)
    none = sum(query not in held for query in lacking)
    where = f"on {count} {'query' if count == 1 else 'queries'}"
    rest = f", {none} of them without any assessor" if none else ""
    are = "is" if seen.all.missing == 1 else "are"
    return f"{seen.all.missing} of {seen.all.promised} assignments {are} missing, {where}{rest}"


def latest(session: Session, seen: Overview) -> list[FinishedWork]:
    """Return the latest finished assignments."""
    return [FinishedWork(*row) for row in seen.work.latest(session, _LATEST)]


def is_very_fast(line: Line, seen: Overview) -> bool:
    """Return whether someone answers suspiciously faster than the study as a whole."""
    own, usual = line.ms_per_answer, seen.all.ms_per_answer
    if own is None or usual is None or line.sums.answered < _MIN_ANSWERS:
        return False
    return own < _FAST * usual


def _line(
    tools: Mapping[Tool, Sums], typical: Mapping[Tool, float], missing: Mapping[Tool, int] = {}
) -> Line:
    """Derive the figures of a line from the sums of each tool."""
    every = list(tools.values())
    sums = every[0] if len(every) == 1 else _added(every)
    return Line(sums, sum(missing.values()), _left(tools, typical, missing))


def _left(
    tools: Mapping[Tool, Sums], typical: Mapping[Tool, float], missing: Mapping[Tool, int]
) -> int | None:
    """Return the expected answers; None if work waits with a tool with which nobody has begun.

    ``typical`` is the number of answers per assignment, used where the number is unknown.
    """
    left = 0
    for tool in {**tools, **missing}:
        sums = tools.get(tool)
        waiting = missing.get(tool, 0) + (sums.waiting if sums else 0)
        if waiting and tool not in typical:
            return None
        left += sums.expected_left if sums else 0
        left += round(waiting * typical[tool]) if waiting else 0
    return left


def _typical(tools: Mapping[Tool, Sums]) -> dict[Tool, float]:
    """Return the expected answers per assignment of a whole query that was begun, by tool."""
    return {tool: sums.asked / sums.wholes for tool, sums in tools.items() if sums.wholes}


def _added(parts: Iterable[Sums]) -> Sums:
    every = list(parts)
    last = max((each.last_entry_at for each in every if each.last_entry_at), default=None)
    numbers = [sum(column) for column in zip(*(each[:-1] for each in every), strict=True)]
    return Sums._make([*(numbers or [0] * (len(Sums._fields) - 1)), last])


def _matching_people(session: Session, user_ids: Collection[int], search: str) -> Sequence[User]:
    """Return those people whose name or e-mail contains ``search``, by name."""
    statement = select(User).where(User.id.in_(user_ids)).order_by(User.name, User.id)
    if search:
        statement = statement.where(
            User.name.icontains(search, autoescape=True)
            | User.email.icontains(search, autoescape=True)
        )
    return session.scalars(statement).all()


def _matching_queries(session: Session, study_id: int, search: str) -> Sequence[int]:
    """Return ids of the study's queries that contain ``search``, in the study's order."""
    statement = select(Query.id).where(Query.study_id == study_id)
    if search:
        found = Query.text.icontains(search, autoescape=True) | (Query.external_id == search)
        statement = statement.where(found)
    return session.scalars(statement.order_by(Query.position, Query.id)).all()


def _queries_of(session: Session, query_ids: Sequence[int]) -> dict[int, Query]:
    """Return queries by id."""
    statement = select(Query).where(Query.id.in_(query_ids))
    return {query.id: query for query in session.scalars(statement)}
