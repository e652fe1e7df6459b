"""The consensus of a study: Bradley-Terry over answers, or Supervised Kemeny over lists."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from topkapi.analysis.data.exports import ConsensusList
from topkapi.app.domain.enums import Tool
from topkapi.app.services.results.exports.source import StudySource

if TYPE_CHECKING:
    from topkapi.analysis.agreement import Scores
    from topkapi.analysis.report import StudyData


def consensus_lists(source: StudySource) -> Iterator[ConsensusList]:
    """Yield one list per query that somebody has finished with pairs, in the study's order.

    Votes are weighted by how much their assessors agree with the others over the whole study, so
    all lists are read before the first is yielded; they are kept as numbers, a few kilobytes per
    query.
    """
    # Imported here, so that a server starts without the numerical libraries.
    from topkapi.analysis.aggregation import consensus_lists as lists_of
    from topkapi.analysis.agreement import pair_tables
    from topkapi.analysis.report.subjects.consensus import consensus
    from topkapi.app.services.results.exports.gathering import gather

    study = gather(source, tools=(Tool.PAIRS,), logs=source.consensus != "supervised-kemeny")
    votes = study.preferences(study.tools[0])
    found = lists_of(
        consensus(study, study.tools[0], votes, pair_tables(votes), source.consensus),
        k=study.k or 1,
        queries=study.queries,
        documents=study.documents,
        assessors=study.assessors,
    )
    asked = {study.queries[scores.query]: _asked(study, scores) for scores in study.tools[0].scores}
    for each in found:
        if each.query in asked:
            rest = tuple(page for page in each.rest if page in asked[each.query])
            yield replace(each, rest=rest, study=source.study.slug)


def _asked(study: "StudyData", scores: "Scores") -> set[str]:
    """Return the pages that were in anyone's plan; others were added to the study later."""
    known = (scores.values == scores.values).any(axis=0)  # NaN is not itself
    pages = study.documents[scores.query]
    return {page for page, is_known in zip(pages, known.tolist(), strict=True) if is_known}
