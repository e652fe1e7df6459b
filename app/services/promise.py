"""What a study promises: each query is judged so many times with each tool.

Progress is measured against the promise, so that work that was voided, withdrawn or never assigned
does not disappear from it.
"""

from collections import Counter
from collections.abc import Mapping

from sqlalchemy.orm import Session

from topkapi.app.db.models import Study
from topkapi.app.db.queries.assignments import assignments as queries
from topkapi.app.db.queries.crowds import links_of_study
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
    used = queries.rounds_by_tool(session, study.id)
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
    found: dict[Tool, dict[int, int]] = {
        tool: queries.missing_by_query(session, study.id, tool, rounds)
        for tool, rounds in promised.items()
    }
    if study.settings.people_queries is None or not any(found.values()):
        return found
    chosen = set(promised_queries(session, study))
    return {
        tool: {query: count for query, count in missing.items() if query in chosen}
        for tool, missing in found.items()
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
