"""``pref`` and ``crowdkit.csv``: one line per preference with its winner. Ties have none.

``pref`` is the format of Clarke's preference tools (query, two documents, the better one);
``crowdkit.csv`` has the columns of crowd-kit's pairwise aggregation, and the query.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from topkapi.analysis.data.exports.cells import csv_line, read_csv
from topkapi.analysis.data.exports.files import numbered_lines, word
from topkapi.analysis.data.exports.pairs import PairAnswer
from topkapi.analysis.errors import BadData

HEADER = ("worker", "left", "right", "label", "query")


def pref_lines(records: Iterable[PairAnswer]) -> Iterator[str]:
    r"""Yield the lines of ``pref``: query, two documents, the better one.

    >>> list(pref_lines([PairAnswer("q1", "d3", "d7", "b", "ansa")]))
    ['q1 d3 d7 d7\n']
    """
    for each, winner in _won(records):
        yield f"{word(each.query)} {word(each.a)} {word(each.b)} {winner}\n"


def read_pref(path: str | Path) -> list[PairAnswer]:
    """Read ``pref``, plain or gzip; it does not say who answered."""
    found = []
    for location, line in numbered_lines(path):
        words = line.split()
        if len(words) != 4:
            raise BadData(
                f"{location}: {len(words)} columns, expected query, two documents, the better one"
            )
        found.append(_answer(location, *words, assessor=""))
    return found


def crowdkit_lines(records: Iterable[PairAnswer]) -> Iterator[str]:
    r"""Yield the lines of ``crowdkit.csv``, the header first.

    >>> list(crowdkit_lines([PairAnswer("q1", "d3", "d7", "b", "ansa")]))[1]
    'ansa,d3,d7,d7,q1\n'
    """
    yield csv_line(HEADER)
    for each, winner in _won(records):
        yield csv_line((each.assessor, each.a, each.b, winner, each.query))


def read_crowdkit(path: str | Path) -> list[PairAnswer]:
    """Read ``crowdkit.csv``, plain or gzip."""
    return [
        _answer(location, query, left, right, label, assessor=worker)
        for location, (worker, left, right, label, query) in read_csv(path, HEADER)
    ]


def _won(records: Iterable[PairAnswer]) -> Iterator[tuple[PairAnswer, str]]:
    for each in records:
        if each.preference != "tie":
            yield each, each.a if each.preference == "a" else each.b


def _answer(
    location: str, query: str, left: str, right: str, winner: str, *, assessor: str
) -> PairAnswer:
    if winner not in (left, right):
        raise BadData(f"{location}: {winner!r} is neither {left!r} nor {right!r}")
    return PairAnswer(query, left, right, "a" if winner == left else "b", assessor)
