"""View of the section about confidence in the lists."""

from dataclasses import dataclass

from topkapi.analysis.report.schema import ConfidenceRow, MeanConfidence, MemberErrors, Report

MOST_LISTS = 200


@dataclass(frozen=True, slots=True)
class ConfidenceView:
    """Confidence by assessor and by list, least confident first; ``count`` is of all lists.

    ``members`` are the people who judged in teams.
    """

    people: tuple[MeanConfidence, ...]
    lists: tuple[ConfidenceRow, ...]
    count: int
    members: tuple[MemberErrors, ...] = ()


def confidence_view(report: Report) -> ConfidenceView | None:
    """Build the view of the section; None where the report has none."""
    if report.confidence is None:
        return None
    rows = sorted(report.confidence.lists, key=lambda row: row.expected_quality)
    members = report.confidence.members or ()
    return ConfidenceView(report.confidence.people, tuple(rows[:MOST_LISTS]), len(rows), members)
