"""``lists.jsonl``: every effective preference between two rankings, as read by ``dcg learn``."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from topkapi.analysis.data.exports.codec import Names, json_lines, read_json_lines
from topkapi.analysis.data.exports.rounds import InRound


@dataclass(frozen=True, slots=True)
class ListJudgment(InRound):
    """Two rankings as shown on the screen, best page first, and the answer.

    ``answer`` is left_much, left, same, right or right_much; the systems made the rankings.
    """

    query: str
    left: Names
    right: Names
    answer: str
    left_system: str
    right_system: str
    assessor: str
    round: int
    active_ms: int


def list_lines(records: Iterable[ListJudgment]) -> Iterator[str]:
    """Yield the lines of ``lists.jsonl``.

    >>> answer = ListJudgment("q1", ("d1",), ("d2",), "left", "bm25", "lm", "ansa@b.c", 0, 9)
    >>> next(list_lines([answer]))[:62]
    '{"query": "q1", "left": ["d1"], "right": ["d2"], "answer": "le'
    """
    return json_lines(records)


def read_list_answers(path: str | Path) -> list[ListJudgment]:
    """Read ``lists.jsonl``, plain or gzip."""
    return read_json_lines(path, ListJudgment)
