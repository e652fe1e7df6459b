"""Confidence in the lists of a study: rows for its report, and their means by assessor."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from topkapi.analysis.data.exports import ConfidenceList
from topkapi.analysis.report.subjects.confidence import (
    ConfidenceRow,
    ConfidenceSection,
    MeanConfidence,
    MemberErrors,
)
from topkapi.app.services.results.exports import StudySource
from topkapi.app.services.results.exports.confidence import confidence_records, reliability_records
from topkapi.app.services.results.exports.source import TEAM
from topkapi.app.services.results.reports.notes import StoredResult


def confidence_section(source: StudySource, people: Mapping[int, str] | None) -> ConfidenceSection:
    """Return every finished list with its expected quality and estimated error rate.

    For sorters other than `robust` the posterior is computed here: a third of a second per session
    of 140 answers.
    """
    lists = [
        list_confidence(record, _named(source, people, work.user_ids))
        for work, record in confidence_records(source)
    ]
    return _section(lists, _members(source, people))


def stored_section(
    source: StudySource, people: Mapping[int, str] | None, stored: StoredResult
) -> ConfidenceSection:
    """Return the section with stored rows, as `confidence_section` would name and order them."""
    known = {each.pseudonym: each.user_id for each in source.assessors.people}
    found = [(row["assessor"].split(TEAM), ConfidenceRow(**row)) for row in stored.content]
    rows = [
        ([known[name] for name in names], row) for names, row in found if known.keys() >= {*names}
    ]
    queries = {name: at for at, name in enumerate(dict.fromkeys(row.query for _, row in rows))}
    positions = source.assessors.position
    rows.sort(key=lambda each: (queries[each[1].query], positions(each[0][0]), each[1].round))
    lists = [replace(row, assessor=_named(source, people, ids)) for ids, row in rows]
    return _section(lists, _members(source, people))


def _named(source: StudySource, people: Mapping[int, str] | None, ids: Sequence[int]) -> str:
    """Return the name of an assessor, or the names of a team."""
    return TEAM.join((people or {}).get(id, source.assessors.name(id)) for id in ids)


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


def _members(
    source: StudySource, people: Mapping[int, str] | None
) -> tuple[MemberErrors, ...] | None:
    """Return how the members of teams err; None in a study without teams."""
    members = [
        MemberErrors(
            assessor=_named(source, people, [user_id]),
            answers=record.answers,
            error_rate=record.error_rate,
            random=record.random,
            lapse=record.lapse,
            width=record.width,
            tie_width=record.tie_width,
        )
        for user_id, record in reliability_records(source)
    ]
    return tuple(members) or None


def _section(
    lists: Sequence[ConfidenceRow], members: tuple[MemberErrors, ...] | None
) -> ConfidenceSection:
    names = sorted({row.assessor for row in lists})
    return ConfidenceSection(tuple(lists), tuple(_mean(name, lists) for name in names), members)


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
