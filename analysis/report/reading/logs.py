"""Exported logs (``judgments.jsonl``) and grades (``grades.qrels``) as parts of a study."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from topkapi.analysis.agreement import Scores
from topkapi.analysis.data.exports import Label, LoggedEntry
from topkapi.analysis.efficiency import Sessions, Timings
from topkapi.analysis.efficiency.logs import TimedAnswer, timed_answers
from topkapi.analysis.errors import BadData
from topkapi.analysis.report.reading.indices import Indices, scores_of
from topkapi.analysis.typing import FloatArray

ANSWER_CODES = {"left": 1, "tie": 0, "right": -1}
Key = tuple[str, str, str, int]  # tool, query, assessor, round
Log = Mapping[Key, list[TimedAnswer[LoggedEntry]]]


def read_log(entries: Sequence[LoggedEntry], source: str | Path = "") -> Log:
    """Return the answers of every session that counts, each with its time.

    Withdrawn work does not, and adjudications count for a consensus only.

    The file does not hold when a clock first started, so the wall time of the first answer, which
    begins at the assignment, is replaced by its active time.
    """
    kept = sorted((each for each in entries if not each.withdrawn and each.round >= 0), key=_place)
    answers: dict[Key, list[TimedAnswer[LoggedEntry]]] = {}
    for key, log in groupby(kept, key=_key):
        try:
            answers[key] = timed_answers(log)
        except IndexError:
            raise BadData(
                f"{source}: the log of {key[2]} for query {key[1]} is incomplete"
            ) from None
        first = answers[key][0]
        first.wall_ms += first.row.active_ms - first.row.wall_ms
    return answers


def _key(entry: LoggedEntry) -> Key:
    return entry.tool, entry.query, entry.assessor, entry.round


def _place(entry: LoggedEntry) -> tuple[Key, int]:
    return _key(entry), entry.position


def stated(log: Log) -> Iterator[tuple[str, str, str, int, str]]:
    """Yield every effective preference between two pages, but not those that test attention.

    Query, left, right, answer and assessor.
    """
    for (tool, query, assessor, _), answers in log.items():
        for each in answers if tool == "pairs" else ():
            code = ANSWER_CODES.get(each.row.answer or "")
            if each.effective and code is not None and each.row.kind != "attention":
                yield query, str(each.row.left), str(each.row.right), code, assessor


def effort_of_log(
    log: Log,
    tool: str,
    finished: Mapping[Key, int],
    indices: Indices,
) -> tuple[Sessions, Timings] | None:
    """Return the sessions of a tool and their times.

    ``finished`` maps finished sessions to their k.
    """
    mine = {key: answers for key, answers in log.items() if key[0] == tool}
    if not mine:
        return None
    timed = [
        (number, at, each) for number, a in enumerate(mine.values()) for at, each in enumerate(a)
    ]
    query = [indices.queries[key[1]] for key in mine]
    sessions = Sessions.of(
        assessor=[indices.assessors[key[2]] for key in mine],
        query=query,
        n=[len(indices.documents[each]) for each in query],
        k=[finished.get(key, 0) for key in mine],
        finished=[key in finished for key in mine],
    )
    timings = Timings.of(
        session=[number for number, _, _ in timed],
        position=[at for _, at, _ in timed],
        active=[each.active_ms / 1000 for _, _, each in timed],
        wall=[each.wall_ms / 1000 for _, _, each in timed],
        effective=[each.effective for _, _, each in timed],
    )
    return sessions, timings


def graded_pages(log: Log) -> dict[Key, set[str]]:
    """Return the pages with an effective grade in every session with grades."""
    return {
        key: {str(each.row.document) for each in answers if each.effective}
        for key, answers in log.items()
        if key[0] == "grades"
    }


def grade_scores(grades: Mapping[str, Sequence[Label]], indices: Indices) -> tuple[Scores, ...]:
    """Return the grades of files, one per assessor, as arrays.

    NaN where a page has none.
    """
    rows: dict[int, dict[int, FloatArray]] = {}
    for name, labels in grades.items():
        for label in labels:
            query = indices.queries[label.query]
            index, mine = indices.documents[query], rows.setdefault(query, {})
            row = mine.setdefault(indices.assessors[name], np.full(len(index), np.nan))
            row[index[label.document]] = label.label
    return scores_of(rows)
