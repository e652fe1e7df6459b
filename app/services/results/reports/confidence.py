"""Confidence in the lists of a study: rows for its report, and their means by assessor."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from topkapi.analysis.data.exports import ConfidenceList
from topkapi.analysis.report.schema import ConfidenceRow, ConfidenceSection, MeanConfidence
from topkapi.app.services.results.exports import StudySource
from topkapi.app.services.results.exports.confidence import confidence_records
from topkapi.app.services.results.reports.stored import StoredConfidence


def confidence_section(source: StudySource, people: Mapping[int, str] | None) -> ConfidenceSection:
    """Return every finished list with its expected quality and estimated error rate.

    For sorters other than `robust` the posterior is computed here: a third of a second per session
    of 140 answers.
    """
    return _section(
        [
            list_confidence(record, (people or {}).get(work.assignment.user_id, record.assessor))
            for work, record in confidence_records(source)
        ]
    )


def stored_section(
    source: StudySource, people: Mapping[int, str] | None, stored: StoredConfidence
) -> ConfidenceSection:
    """Return the section with stored rows, as `confidence_section` would name and order them."""
    known = {each.pseudonym: each.user_id for each in source.assessors.people}
    rows = [ConfidenceRow(**row) for row in stored.lists if row["assessor"] in known]
    queries = {name: at for at, name in enumerate(dict.fromkeys(row.query for row in rows))}
    positions = {name: source.assessors.position(user_id) for name, user_id in known.items()}
    rows.sort(key=lambda row: (queries[row.query], positions[row.assessor], row.round))
    names = {
        pseudonym: (people or {}).get(user_id, source.assessors.name(user_id))
        for pseudonym, user_id in known.items()
    }
    return _section([replace(row, assessor=names[row.assessor]) for row in rows])


def list_confidence(record: ConfidenceList, assessor: str) -> ConfidenceRow:
    """Return the row of a list."""
    return ConfidenceRow(
        assessor=assessor,
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


def _section(lists: Sequence[ConfidenceRow]) -> ConfidenceSection:
    names = sorted({row.assessor for row in lists})
    return ConfidenceSection(tuple(lists), tuple(_mean(name, lists) for name in names))


def _mean(name: str, lists: Sequence[ConfidenceRow]) -> MeanConfidence:
    mine = [row for row in lists if row.assessor == name]
    return MeanConfidence(
        assessor=name,
        lists=len(mine),
        expected_quality=round(fmean(row.expected_quality for row in mine), 4),
        overlap=round(fmean(row.overlap for row in mine), 4),
        probable_quality=round(fmean(row.probable_quality for row in mine), 4),
        error_rate=round(fmean(row.error_rate for row in mine), 4),
    )
