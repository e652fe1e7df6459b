"""Steps of a study's rotations: which queries were split into folds together, and for whom."""

from collections import Counter
from collections.abc import Iterable, Sequence

from topkapi.app.db.models import Assignment, Study
from topkapi.app.db.queries.assignments.assignments import WorkRow
from topkapi.app.domain.assignment.growth import Existing, GrowthStep
from topkapi.app.domain.assignment.rotation import AssignmentSpec
from topkapi.app.domain.enums import Tool
from topkapi.app.services.promise import LISTS_ROTATION, RULED_ROTATION

_LISTED = 200  # assignments named in the audit log per action
Spec = AssignmentSpec[int, int]  # by the ids of user and query


def spec_of(row: Assignment | WorkRow) -> Spec:
    """Return who judges which query with which tool in which round."""
    return AssignmentSpec(row.user_id, row.query_id, row.tool, row.round)


def described(work: Sequence[tuple[str, Tool, int, str]]) -> dict[str, object]:
    """Return what the audit log says about assignments: query, tool, round and assessor of each."""
    loads = Counter(email for *_, email in work)
    lines = [
        f"{query} {tool.value} round {number + 1}: {email}" for query, tool, number, email in work
    ]
    more = [f"and {len(lines) - _LISTED} more"] if len(lines) > _LISTED else []
    return {
        "assignments": len(work),
        "assessors": [f"{email} {count}" for email, count in loads.items()],
        "work": lines[:_LISTED] + more,
    }


def existing_work(rows: Iterable[WorkRow], tools: Sequence[Tool]) -> Existing[int, int]:
    """Return the assignments of ``tools``, and everyone who was ever assigned each query."""
    mine = [row for row in rows if row.tool in tools]
    met: dict[int, set[int]] = {}
    for row in mine:
        met.setdefault(row.query_id, set()).add(row.user_id)
    return Existing({spec_of(row) for row in mine if row.withdrawn_at is None}, met)


def kind_of(lists: bool) -> str:
    """Return the key of a rotation in `Study.rotations`."""
    return LISTS_ROTATION if lists else RULED_ROTATION


def steps_of(study: Study, *, lists: bool, known: Sequence[int]) -> list[GrowthStep[int, int]]:
    """Return the steps of the study's rotations.

    A rotation of an earlier version stored no steps: all assigned queries, ``known``, are its own.
    """
    latest = (study.rotations or {}).get(kind_of(lists))
    if latest is None:
        return []
    stored = latest.get("steps") or [{**latest, "queries": list(known)}]
    return [GrowthStep(each["people"], each["queries"], each["seed"]) for each in stored]


def remember(
    study: Study,
    *,
    people: Sequence[int],
    seed: str,
    rounds: int,
    lists: bool,
    steps: Sequence[GrowthStep[int, int]],
) -> None:
    """Store people, seed and rounds of the latest rotation and all steps, to be continued.

    The rounds are a promise: progress is measured against them.
    """
    stored = [
        {"people": list(step.people), "seed": step.seed, "queries": list(step.queries)}
        for step in steps
    ]
    latest = {"people": list(people), "seed": seed, "rounds": rounds, "steps": stored}
    study.rotations = {**(study.rotations or {}), kind_of(lists): latest}
