"""The consensus of a study's top-k lists: Supervised Kemeny of whoever has finished."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from analysis.data.exports import ConsensusList, consensus_lines
from app.domain.words import Tool
from app.services.exports.source import StudySource

if TYPE_CHECKING:
    from analysis.agreement import Scores
    from analysis.report import StudyData


def consensus_lists(source: StudySource) -> Iterator[ConsensusList]:
    """One list for each query that somebody has finished with pairs, in the study's order.

    Votes weigh as much as their assessors agree with the others over the whole study, so all lists
    are read before the first is handed out; they are kept as numbers, a few kilobytes a query.
    """
    # Loaded here: a server starts without the numerical libraries.
    from analysis.aggregation import consensus_lists as lists_of
    from analysis.agreement import pair_tables
    from analysis.report.sections.consensus import consensus
    from app.services.exports.gathering import gather

    study = gather(source, tools=(Tool.PAIRS,), logs=False)
    votes = study.preferences(study.tools[0])
    found = lists_of(
        consensus(study, votes, pair_tables(votes)),
        k=study.k or 1,
        queries=study.queries,
        documents=study.documents,
        assessors=study.assessors,
    )
    asked = {study.queries[scores.query]: _asked(study, scores) for scores in study.tools[0].scores}
    for each in found:
        rest = tuple(page for page in each.rest if page in asked[each.query])
        yield replace(each, rest=rest, study=source.study.slug)


def consensus(source: StudySource) -> Iterator[str]:
    """The lines of `consensus.jsonl`."""
    return consensus_lines(consensus_lists(source))


def _asked(study: "StudyData", scores: "Scores") -> set[str]:
    """The pages that anybody was asked about: others were added to the study later."""
    known = (scores.values == scores.values).any(axis=0)  # NaN is not itself
    pages = study.documents[scores.query]
    return {page for page, is_known in zip(pages, known.tolist(), strict=True) if is_known}
