"""The fold of undo and redo in the library equals that of the labeling engine."""

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from topkapi.analysis.efficiency.logs import timed_answers
from topkapi.app.domain.log import Entry, EntryKind, stacks


@dataclass(frozen=True)
class Line:
    """A line of a log, numbered by its position."""

    number: int
    entry: str
    active_ms: int
    wall_ms: int


@st.composite
def logs(draw: st.DrawFn) -> list[Line]:
    """Draw a log in which every undo and redo has an answer to act on."""
    kinds = st.sampled_from([kind.value for kind in EntryKind])
    times = st.tuples(kinds, st.integers(0, 9), st.integers(0, 9))
    done, undone = 0, 0
    log: list[Line] = []
    for kind, active, wall in draw(st.lists(times, max_size=30)):
        if (kind == "undo" and not done) or (kind == "redo" and not undone):
            continue
        log.append(Line(len(log), kind, active, wall))
        done += -1 if kind == "undo" else 1
        undone = 0 if kind == "answer" else undone + (1 if kind == "undo" else -1)
    return log


def by_the_engine(log: Sequence[Line]) -> list[int]:
    """Return the numbers of the answers that the engine calls effective."""
    entries = (
        Entry(EntryKind(line.entry), line.number if line.entry == "answer" else None)
        for line in log
    )
    return stacks(entries)[0]


@given(logs())
def test_the_library_and_the_engine_agree_on_effective_answers(log: list[Line]) -> None:
    answers = timed_answers(log)
    assert [each.row.number for each in answers if each.effective] == by_the_engine(log)
    assert [each.row.number for each in answers] == [
        line.number for line in log if line.entry == "answer"
    ]


@given(logs())
def test_no_time_of_a_log_is_lost(log: list[Line]) -> None:
    answers = timed_answers(log)
    assert sum(each.active_ms for each in answers) == sum(line.active_ms for line in log)
    assert sum(each.wall_ms for each in answers) == sum(line.wall_ms for line in log)
