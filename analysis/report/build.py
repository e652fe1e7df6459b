"""Assemble the report of a study."""

from dataclasses import asdict, dataclass

import numpy as np

from analysis.agreement import (
    ListSimilarity,
    PairTables,
    Preferences,
    list_similarity,
    pair_tables,
    rating_sums,
    same_assessors,
)
from analysis.report.comparison import ONE_TOOL, comparison
from analysis.report.consensus import consensus, consensus_section
from analysis.report.course import consistency_course
from analysis.report.effort import effort_of
from analysis.report.figures import Json
from analysis.report.options import Options
from analysis.report.pairs import pair_rows
from analysis.report.people import answers, conduct, people
from analysis.report.pooled import pooled
from analysis.report.queries import query_rows
from analysis.report.study import StudyData, ToolData
from analysis.typing import IntArray

VERSION = 1


@dataclass(frozen=True, slots=True)
class _Compared:
    """The votes of one tool, counted."""

    preferences: Preferences
    tables: PairTables
    lists: ListSimilarity | None


def build_report(study: StudyData, options: Options | None = None) -> Json:
    """Every figure of the study as JSON-ready records; undefined ones are None with a reason."""
    chosen = options or Options()
    counted = [_count(study, tool, chosen) for tool in study.tools]
    return {
        "format": "topkapi-report",
        "version": VERSION,
        "study": _about(study),
        "settings": asdict(chosen),
        "tools": [
            _tool(study, tool, found, chosen)
            for tool, found in zip(study.tools, counted, strict=True)
        ],
        "comparison": _comparison(study, counted, chosen),
    }


def _about(study: StudyData) -> Json:
    return {
        "name": study.name,
        "k": study.k,
        "assessors": len(study.assessors),
        "queries": len(study.queries),
        "documents": sum(len(documents) for documents in study.documents),
    }


def _count(study: StudyData, tool: ToolData, options: Options) -> _Compared:
    preferences = study.preferences(tool)
    lists = None
    if tool.scores:
        depth = study.k or options.depth
        lists = list_similarity(tool.scores, depth=depth, persistence=options.persistence)
    return _Compared(preferences, pair_tables(preferences), lists)


def _tool(study: StudyData, tool: ToolData, found: _Compared, options: Options) -> Json:
    tables = found.tables
    n = len(study.queries)
    drawn = options.resamples(np.bincount(tables.query, minlength=n), tables.strata())
    seen = conduct(tool)
    none = np.zeros(0, dtype=np.int64)
    query = none if seen.judgments is None else seen.judgments.query
    who = none if seen.judgments is None else seen.judgments.assessor
    asked = options.resamples(np.bincount(query, minlength=n), same_assessors(query, who, n))
    active = _active(found.preferences, tool)
    return {
        "tool": tool.name,
        "title": tool.title,
        "assessors": len(active),
        "queries": len(found.preferences.blocks),
        "agreement": pooled(tables, rating_sums(found.preferences), found.lists, drawn),
        "pairs": pair_rows(tables, found.lists, drawn, study.assessors),
        "answers": answers(seen, asked) | {"course": consistency_course(seen)},
        "people": people(tables, seen, study.assessors, drawn, asked, active),
        "queries_by_disagreement": query_rows(study, found.preferences, tables, found.lists),
        "effort": effort_of(study, tool, options),
        "consensus": consensus_section(study, consensus(study, found.preferences, tables)),
    }


def _active(preferences: Preferences, tool: ToolData) -> IntArray:
    """Assessors who did anything with the tool."""
    found = [block.assessors for block in preferences.blocks]
    found += [tool.judgments.assessor] if tool.judgments is not None else []
    found += [tool.sessions.assessor] if tool.sessions is not None else []
    return np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)


def _comparison(study: StudyData, counted: list[_Compared], options: Options) -> Json:
    shared = [i for i, found in enumerate(counted) if found.tables.query.size]
    if len(shared) < 2:
        return {"reason": ONE_TOOL}
    first, second = shared[:2]
    tools = [study.tools[first].name, study.tools[second].name]
    found = comparison(counted[first].tables, counted[second].tables, options)
    return {"tools": tools} | found
