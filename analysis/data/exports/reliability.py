"""``reliability.jsonl``: how the members of teams err."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from topkapi.analysis.data.exports.codec import Numbers, json_lines, read_json_lines


@dataclass(frozen=True, slots=True)
class MemberReliability:
    """How one assessor errs, as the teams of a study show it.

    ``lapse`` (the share of answers that have nothing to do with the pages), ``width`` (how far
    apart pages must be, in standard deviations of their scores, before they are rarely confused),
    ``tie_width`` (how close they are when called equal) and ``side`` (the share of lapses for the
    left page) are each the mean and the ends of the central 90 % interval. ``error_rate`` is the
    mean error over random pairs; ``random`` says that the person seems to answer at random.
    """

    study: str
    assessor: str
    answers: int
    error_rate: float
    random: bool
    lapse: Numbers
    width: Numbers
    tie_width: Numbers
    side: Numbers


def reliability_lines(records: Iterable[MemberReliability]) -> Iterator[str]:
    """Yield the lines of ``reliability.jsonl``."""
    return json_lines(records)


def read_reliability(path: str | Path) -> list[MemberReliability]:
    """Read ``reliability.jsonl``, plain or gzip."""
    return read_json_lines(path, MemberReliability)
