"""Who needs help: people who are idle, slow, fast, inaccurate, inconsistent or prefer one side."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from math import sqrt

from topkapi.app.domain.pairs.known import ACCURATE
from topkapi.app.domain.pairs.reliability import Reliability
from topkapi.app.services.progress.study_progress import (
    IDLE,
    Line,
    Overview,
    is_very_fast,
)

_SLOW, _MIN_ANSWERS = 3.0, 20  # multiple of the study's time per answer; minimum number of answers
_CONSISTENT, _MIN_CHECKS = 0.7, 8
_BIAS, _MIN_SIDES = 0.15, 40
_DEVIATIONS = 3.0


class Sign(StrEnum):
    """Why a study or somebody needs attention, most pressing first; the last two: nobody."""

    UNINVITED = "nobody invited"
    UNASSIGNED = "nothing assigned"
    GAPS = "missing work"
    DISABLED = "disabled"
    RANDOM = "at random"
    BIASED = "one side"
    INACCURATE = "inaccurate"
    INCONSISTENT = "inconsistent"
    FAST = "very fast"
    UNTRAINED = "training failed"
    IDLE = "idle"
    SLOW = "slow"
    DISPUTED = "lists disagree"
    RUNNING = "running"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class Concern:
    """A person of a study, and the reason in words."""

    user_id: int
    sign: Sign
    reason: str


def concerns(
    seen: Overview,
    sides: Mapping[int, tuple[int, int]],
    members: Mapping[int, Reliability] = {},
    *,
    begun_at: datetime,
    at: datetime,
) -> list[Concern]:
    """Return the reasons why people need attention, most pressing first for each person.

    ``sides`` are the answers for the left and the right page per person, ``members`` how those who
    judge in teams err; ``begun_at`` is the study's beginning.
    """
    return [
        each
        for user_id, line in seen.people.items()
        for each in (
            *_randomness(user_id, members.get(user_id)),
            *_concerns(user_id, line, seen, sides.get(user_id, (0, 0)), at - begun_at, at),
        )
    ]


def _randomness(user_id: int, member: Reliability | None) -> list[Concern]:
    if member is None or not member.is_random:
        return []
    why = (
        f"seems to answer at random: about {member.error_rate:.0%} of {member.answers} answers "
        "contradict their teams"
    )
    return [Concern(user_id, Sign.RANDOM, why)]


def most_pressing(found: Iterable[Concern]) -> list[Concern]:
    """Return the first reason of each person."""
    first: dict[int, Concern] = {}
    for each in found:
        first.setdefault(each.user_id, each)
    return list(first.values())


def _concerns(
    user_id: int,
    line: Line,
    seen: Overview,
    sides: tuple[int, int],
    age: timedelta,
    at: datetime,
) -> list[Concern]:
    reasons = {
        Sign.BIASED: _bias(*sides),
        Sign.INACCURATE: _inaccuracy(line),
        Sign.INCONSISTENT: _inconsistency(line),
        Sign.FAST: _pace(line, seen) if is_very_fast(line, seen) else "",
        Sign.IDLE: _idleness(line, age, at),
        Sign.SLOW: _slowness(line, seen),
    }
    return [Concern(user_id, sign, why) for sign, why in reasons.items() if why]


def _bias(left: int, right: int) -> str:
    total = left + right
    if total < _MIN_SIDES:
        return ""
    share = left / total
    if abs(share - 0.5) <= max(_BIAS, _DEVIATIONS * 0.5 / sqrt(total)):
        return ""
    side, part = ("left", share) if share > 0.5 else ("right", 1 - share)
    return f"chose the {side} page in {part:.0%} of {total} answers"


def is_inaccurate(line: Line) -> bool:
    """Return whether the whole interval of the accuracy is below `ACCURATE`."""
    ends = line.accuracy_interval
    return ends is not None and ends[1] < ACCURATE


def _inaccuracy(line: Line) -> str:
    sums = line.sums
    if not is_inaccurate(line):
        return ""
    return f"{sums.known_right} of {sums.known_answers} answers on known pairs are right"


def _inconsistency(line: Line) -> str:
    sums = line.sums
    if line.consistency is None or sums.checks < _MIN_CHECKS or line.consistency >= _CONSISTENT:
        return ""
    return f"repeated {sums.checks_agreed} of {sums.checks} answers when asked again"


def _slowness(line: Line, seen: Overview) -> str:
    own, usual = line.ms_per_answer, seen.all.ms_per_answer
    if own is None or usual is None or line.sums.answered < _MIN_ANSWERS or own < _SLOW * usual:
        return ""
    return _pace(line, seen)


def _pace(line: Line, seen: Overview) -> str:
    own, usual = (line.ms_per_answer or 0) / 1000, (seen.all.ms_per_answer or 0) / 1000
    return f"{own:.1f} s per answer; the study as a whole takes {usual:.1f} s"


def unfinished_work(line: Line) -> str:
    """Return the number of unfinished assignments in words; empty if there are none."""
    left = line.sums.assigned - line.sums.finished
    return f"{left} unfinished assignment{'s' * (left != 1)}" if left else ""


def _idleness(line: Line, age: timedelta, at: datetime) -> str:
    what = unfinished_work(line)
    if not what:
        return ""
    last = line.sums.last_entry_at
    if last is None:
        return f"has not begun; {what}" if age > IDLE else ""
    return f"no answer for {(at - last).days} days; {what}" if at - last > IDLE else ""
