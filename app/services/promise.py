"""What a study promises: each query is judged so many times with each tool.

Progress is measured against the promise, so that work that was voided, withdrawn or never assigned
does not disappear from it.
"""

from collections import Counter
from collections.abc import Mapping

from sqlalchemy import ColumnElement, case, func, literal, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, Query, Study
from topkapi.app.db.queries.assignments import assignments as queries
from topkapi.app.db.queries.crowds import links_of_study
from topkapi.app.db.queries.machines import by_people
from topkapi.app.domain.assignment.growth import drawn
from topkapi.app.domain.assignment.rotation import ruled_tools
from topkapi.app.domain.enums import Tool

RULED_ROTATION, LISTS_ROTATION = "ruled", "lists"  # keys of `Study.rotations`
Missing = Mapping[Tool, Mapping[int, int]]  # assignments that nobody has, by tool and query


def tools_under_rule(study: Study) -> tuple[Tool, ...]:
    """Return the study's tools of which nobody may judge a query with two."""
    settings = study.settings
    return ruled_tools(settings.tools, lists_in_rotation=settings.lists_in_rotation)


def tool_groups(study: Study) -> list[tuple[Tool, ...]]:
    """Return the tools that exclude each other, and the tool outside the rule, if any."""
    ruled = tools_under_rule(study)
    settings = study.settings
    outside = tuple(tool for tool in settings.tools if tool not in ruled)
    return [group for group in (ruled, outside) if group]


def promised_queries(session: Session, study: Study) -> list[int]:
    """Return the ids of the queries that people judge: all, or as many drawn as a setting says."""
    rows = {query.external_id: query.id for query in queries.queries_of_study(session, study.id)}
    chosen = set(drawn(rows, study.settings.people_queries, study.slug))
    return [number for name, number in rows.items() if name in chosen]


def promised_rounds(session: Session, study: Study) -> dict[Tool, int | None]:
    """Return how many times each query is to be judged with each tool that was assigned.

    This is what the latest rotation or an entry link says; None where work was assigned by hand:
    then a query is to be judged as often as it was ever assigned, and once at least.
    """
    used = _rounds_by_tool(session, study.id)
    entry = max((link.rounds for link in links_of_study(session, study.id)), default=0)
    rotations, groups = study.rotations or {}, tool_groups(study)
    found: dict[Tool, int | None] = {}
    for kind, group in zip((RULED_ROTATION, LISTS_ROTATION), groups, strict=False):
        kinds = (RULED_ROTATION, LISTS_ROTATION) if len(groups) == 1 else (kind,)
        rounds = entry if group is groups[0] else 0
        for latest in (rotations[each] for each in kinds if each in rotations):
            highest = max(used.get(tool, 0) for tool in group)
            rounds = max(rounds, latest.get("rounds") or highest)  # earlier versions stored none
        found |= {tool: rounds or None for tool in group if rounds or tool in used}
    return found


def missing_work(session: Session, study: Study) -> Missing:
    """Return how many promised assignments nobody has, per tool and query."""
    promised = promised_rounds(session, study)
    by_tool: dict[Tool, dict[int, int]] = {
        tool: _missing_by_query(session, study.id, tool, rounds)
        for tool, rounds in promised.items()
    }
    if study.settings.people_queries is None or not any(by_tool.values()):
        return by_tool
    chosen = set(promised_queries(session, study))
    return {
        tool: {query: count for query, count in missing.items() if query in chosen}
        for tool, missing in by_tool.items()
    }


def missing_by_query(missing: Missing) -> Counter[int]:
    """Return how many promised assignments nobody has, per query that lacks any."""
    found = Counter[int]()
    for each in missing.values():
        found.update(each)
    return found


def count_missing(session: Session, study: Study) -> int:
    """Return how many promised assignments nobody has."""
    return missing_by_query(missing_work(session, study)).total()


def _rounds_by_tool(session: Session, study_id: int) -> dict[Tool, int]:
    """Return how many rounds of each tool people were ever assigned."""
    statement = select(Assignment.tool, func.max(Assignment.round) + 1).join(
        Query, Query.id == Assignment.query_id
    )
    mine = statement.where(Query.study_id == study_id, Assignment.round >= 0, by_people())
    return {row[0]: row[1] for row in session.execute(mine.group_by(Assignment.tool))}


def _missing_by_query(
    session: Session, study_id: int, tool: Tool, rounds: int | None
) -> dict[int, int]:
    """Return, per query, how many assignments are missing to be judged in so many ``rounds``.

    If None, a query is to be judged in each round in which it was ever assigned, and once at least.
    """
    number = Assignment.round
    is_held = number.is_not(None) & Assignment.withdrawn_at.is_(None)  # nobody: the row is empty
    wanted: ColumnElement[int]
    if rounds is None:
        wanted = func.count(number.distinct()) + case((func.min(number) == 0, 0), else_=1)
    else:
        wanted, is_held = literal(rounds), is_held & (number < rounds)
    held = func.count(case((is_held, 1)))
    mine = (Assignment.query_id == Query.id) & (Assignment.tool == tool) & (number >= 0)
    statement = (
        select(Query.id, wanted - held)
        .outerjoin(Assignment, mine & by_people())
        .where(Query.study_id == study_id)
        .group_by(Query.id)
        .having(wanted > held)
    )
    return {row[0]: row[1] for row in session.execute(statement)}


def word_of(study: Study, promised: int, begun: int, finished: int) -> str:
    """Return the state of the study as a label."""
    if study.archived_at is not None:
        return "archived"
    if promised == 0:
        return "nothing assigned"
    if finished == promised:
        return "finished"
    return "running" if begun else "not begun"
