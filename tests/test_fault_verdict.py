"""The verdict of `bench.faults` on logs with known errors."""

from dataclasses import replace

from bench.browser_client import Entry, Question
from bench.faults.records import Record, logged
from bench.faults.verdict import Row, Verdict, judge_log

QUESTIONS = [
    Question(n, {"left": f"a{n}", "right": f"b{n}"}, finished=False, can_undo=False, can_redo=False)
    for n in range(3)
]
ENTRIES = [Entry(q.position, "answer", q.shown, "left", f"note {q.position}") for q in QUESTIONS]
ROWS = [Row(entry.position, logged(entry), entry.note) for entry in ENTRIES]


def violations(rows: list[Row]) -> set[str]:
    record, verdict = Record(1), Verdict()
    for question, entry in zip(QUESTIONS, ENTRIES, strict=True):
        record.show(question)
        record.send(entry)
        record.acknowledge(entry)
    judge_log(record, rows, verdict)
    return set(verdict.violations())


def test_a_log_as_it_was_sent_passes() -> None:
    assert violations(ROWS) == set()


def test_a_missing_entry_is_lost() -> None:
    assert violations(ROWS[:2]) == {"lost"}
    assert violations([ROWS[0], ROWS[2]]) == {"lost"}


def test_another_answer_is_changed_and_invented() -> None:
    kind, pages, _ = ROWS[1].what
    changed = replace(ROWS[1], what=(kind, pages, "right"))
    assert violations([ROWS[0], changed, ROWS[2]]) == {"changed", "invented"}


def test_another_note_is_changed() -> None:
    assert violations([ROWS[0], ROWS[1], replace(ROWS[2], note="other")]) == {"changed"}


def test_an_entry_of_nobody_is_invented() -> None:
    undo = Row(3, ("undo", (), None), None)
    assert violations([*ROWS, undo]) == {"invented"}


def test_an_entry_twice_is_doubled() -> None:
    again = replace(ROWS[2], position=3)
    assert violations([*ROWS, again]) == {"doubled", "invented", "not_shown"}
