"""The report of a study, built section by section."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from topkapi.analysis.aggregation import Method
from topkapi.analysis.agreement import (
    ErrorRates,
    ListSimilarity,
    PairTables,
    Preferences,
    errors_of_answers,
    errors_of_lists,
    list_similarity,
    pair_tables,
    rating_sums,
)
from topkapi.analysis.report.figures import Reason
from topkapi.analysis.report.record import Report, StudySummary, ToolReport
from topkapi.analysis.report.study import Options, StudyData, ToolData
from topkapi.analysis.report.subjects.agreement import pooled
from topkapi.analysis.report.subjects.comparison import Comparison, NoComparison, comparison
from topkapi.analysis.report.subjects.consensus import consensus, consensus_section
from topkapi.analysis.report.subjects.effort import effort_of
from topkapi.analysis.report.subjects.pairs import pair_rows
from topkapi.analysis.report.subjects.people import people
from topkapi.analysis.report.subjects.queries import query_rows
from topkapi.analysis.report.subjects.sides import answer_quality, answers_of
from topkapi.analysis.typing import IntArray

FORMAT = "topkapi-report"
VERSION = 1


@dataclass(frozen=True, slots=True)
class _Compared:
    """Counted votes of one tool."""

    preferences: Preferences
    tables: PairTables
    lists: ListSimilarity | None


def build_report(
    study: StudyData,
    options: Options | None = None,
    *,
    method: Method | None = None,
    note: Callable[[str], None] = lambda _: None,
) -> Report:
    """Compute every figure of a study.

    Parameters
    ----------
    study
        Labels, raw answers and times of each tool.
    options
        Number of resamples, seed and level of the intervals.
    method
        Method of the consensus; Bradley-Terry where there are raw answers if None.
    note
        Called with the name of each step before it, two per tool.

    Returns
    -------
    Report
        Undefined figures are None and have a reason.
    """
    chosen = options or Options()
    counted = [_count(study, tool, chosen, note) for tool in study.tools]
    tools = zip(study.tools, counted, strict=True)
    return Report(
        format=FORMAT,
        version=VERSION,
        study=_summary(study),
        settings=chosen,
        tools=tuple(_tool(study, tool, found, chosen, method, note) for tool, found in tools),
        comparison=_comparison(study, counted, chosen),
    )


def _summary(study: StudyData) -> StudySummary:
    return StudySummary(
        name=study.name,
        k=study.k,
        assessors=len(study.assessors),
        queries=len(study.queries),
        documents=sum(len(documents) for documents in study.documents),
    )


def _count(
    study: StudyData, tool: ToolData, options: Options, note: Callable[[str], None]
) -> _Compared:
    note(f"{tool.title}: counting votes")
    preferences = study.preferences(tool)
    lists = None
    if tool.scores:
        depth = study.k or options.depth
        lists = list_similarity(tool.scores, depth=depth, persistence=options.persistence)
    return _Compared(preferences, pair_tables(preferences), lists)


def _tool(
    study: StudyData,
    tool: ToolData,
    compared: _Compared,
    options: Options,
    method: Method | None,
    note: Callable[[str], None],
) -> ToolReport:
    note(f"{tool.title}: agreement, effort and consensus")
    tables = compared.tables
    drawn = options.resamples(
        np.bincount(tables.query, minlength=len(study.queries)), tables.strata()
    )
    quality = answer_quality(tool)
    active = _active(compared.preferences, tool)
    rates = _error_rates(tool, compared, options)
    orders = consensus(study, tool, compared.preferences, tables, method)
    return ToolReport(
        tool=tool.name,
        title=tool.title,
        assessors=len(active),
        queries=len(compared.preferences.blocks),
        agreement=pooled(tables, rating_sums(compared.preferences), compared.lists, drawn),
        pairs=pair_rows(tables, compared.lists, drawn, study.assessors),
        answers=answers_of(quality, len(study.queries), options),
        people=people(tables, rates, quality, study.assessors, drawn, active),
        queries_by_disagreement=query_rows(study, compared.preferences, tables, compared.lists),
        effort=effort_of(study, tool, options),
        consensus=consensus_section(study, orders),
    )


def _error_rates(tool: ToolData, found: _Compared, options: Options) -> ErrorRates:
    """Estimate error rates from labels, or else from raw answers."""
    if tool.scores:
        return errors_of_lists(tool.scores, found.tables, seed=options.seed, level=options.level)
    return errors_of_answers(found.preferences, seed=options.seed, level=options.level)


def _active(preferences: Preferences, tool: ToolData) -> IntArray:
    """Return the assessors who used the tool."""
    found = [block.assessors for block in preferences.blocks]
    found += [tool.judgments.assessor] if tool.judgments is not None else []
    found += [tool.sessions.assessor] if tool.sessions is not None else []
    return np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)


def _comparison(
    study: StudyData, counted: list[_Compared], options: Options
) -> Comparison | NoComparison:
    shared = [i for i, found in enumerate(counted) if found.tables.query.size]
    if len(shared) < 2:
        return NoComparison(Reason.ONE_TOOL)
    first, second = shared[:2]
    names = (study.tools[first].name, study.tools[second].name)
    return comparison(names, counted[first].tables, counted[second].tables, options)
