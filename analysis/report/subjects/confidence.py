"""Confidence in every finished list, and the errors of team members."""

from dataclasses import dataclass, field

from topkapi.analysis.data.exports.codec import InRound
from topkapi.analysis.report.figures import OPTIONAL, Explanation, key

MOST_LISTS = 200


@dataclass(frozen=True, slots=True)
class ConfidenceRow(InRound):
    """Expected measures of one finished list, and the error rate estimated from its answers.

    ``expected_quality`` is the expected kappa-NDCG and ``overlap`` the expected overlap at k, each
    with the ends of its central 90 % interval.
    """

    assessor: str
    query: str
    round: int
    sorter: str
    answers: int
    expected_quality: float = field(metadata=key("quality"))
    quality_low: float
    quality_high: float
    overlap: float
    overlap_low: float
    overlap_high: float
    probable_quality: float
    error_rate: float


@dataclass(frozen=True, slots=True)
class MeanConfidence:
    """Means over the lists of one assessor."""

    assessor: str
    lists: int
    expected_quality: float = field(metadata=key("quality"))
    overlap: float
    probable_quality: float
    error_rate: float


@dataclass(frozen=True, slots=True)
class MemberErrors:
    """How a member of teams errs, with 90 % intervals, as in ``reliability.jsonl``."""

    assessor: str
    answers: int
    error_rate: float
    random: bool
    lapse: tuple[float, ...]
    width: tuple[float, ...]
    tie_width: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ConfidenceSection:
    """Confidence in every finished list, and its mean by assessor; the errors of team members."""

    lists: tuple[ConfidenceRow, ...]
    people: tuple[MeanConfidence, ...]
    members: tuple[MemberErrors, ...] | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class ConfidenceView:
    """Confidence by assessor and by list, least confident first; ``count`` is of all lists.

    ``members`` are the people who judged in teams.
    """

    people: tuple[MeanConfidence, ...]
    lists: tuple[ConfidenceRow, ...]
    count: int
    members: tuple[MemberErrors, ...] = ()


def confidence_view(found: ConfidenceSection) -> ConfidenceView:
    """Build the view of the section."""
    rows = sorted(found.lists, key=lambda row: row.expected_quality)
    return ConfidenceView(found.people, tuple(rows[:MOST_LISTS]), len(rows), found.members or ())


EXPLANATIONS = {
    "confidence": Explanation(
        "Confidence in the lists",
        "Each session is modelled as the answers of a person who makes some errors; the error rate "
        "is estimated together with the order (prior Beta(2, 18)). Expected quality is the mean "
        "kappa-NDCG of the assessor's list over the posterior; the next column has that of the "
        "most probable list.",
    ),
    "members": Explanation(
        "Members of teams",
        "Learned from the answers of all members together, with 90 % intervals: the share of "
        "answers that have nothing to do with the pages; how far apart pages must be, in standard "
        "deviations of their scores, before they are rarely confused; how close they are when "
        "called equal; and the share of lapses for the left page. Marked as random: an error rate "
        "of one third or more after 30 answers.",
    ),
}
