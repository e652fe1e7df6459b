"""Confidence in the lists of a study: rows for its report, and their means by assessor."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from topkapi.analysis.report.schema import ConfidenceSection, ListConfidence, MeanConfidence
from topkapi.app.services.results.exports import StudySource
from topkapi.app.services.results.exports.confidence import confidence_records


def confidence_section(source: StudySource, people: Mapping[int, str] | None) -> ConfidenceSection:
    """Return every finished list with its expected quality and estimated error rate.

    For sorters other than `robust` the posterior is computed here: a third of a second per session
    of 140 answers.
    """
    lists = tuple(
        ListConfidence(
            assessor=(people or {}).get(work.assignment.user_id, record.assessor),
            query=record.query,
            round=record.round,
            sorter=record.sorter,
            answers=record.answers,
            expected_quality=record.expected_kappa_ndcg[0],
            quality_low=record.expected_kappa_ndcg[1],
            quality_high=record.expected_kappa_ndcg[2],
            overlap=record.expected_overlap[0],
            overlap_low=record.expected_overlap[1],
            overlap_high=record.expected_overlap[2],
            probable_quality=record.probable_quality,
            error_rate=record.error_rate,
        )
        for work, record in confidence_records(source)
    )
    names = sorted({row.assessor for row in lists})
    return ConfidenceSection(lists, tuple(_mean(name, lists) for name in names))


def _mean(name: str, lists: Sequence[ListConfidence]) -> MeanConfidence:
    mine = [row for row in lists if row.assessor == name]
    return MeanConfidence(
        assessor=name,
        lists=len(mine),
        expected_quality=round(fmean(row.expected_quality for row in mine), 4),
        overlap=round(fmean(row.overlap for row in mine), 4),
        probable_quality=round(fmean(row.probable_quality for row in mine), 4),
        error_rate=round(fmean(row.error_rate for row in mine), 4),
    )
