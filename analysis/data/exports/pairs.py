"""``pairs.tsv``: every effective preference, one per line."""

from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from pathlib import Path

from topkapi.analysis.data.exports.cells import read_tsv, tsv_line
from topkapi.analysis.errors import BadData

HEADER = ("query", "a", "b", "preference", "assessor")
PREFERENCES = ("a", "b", "tie")


@dataclass(frozen=True, slots=True)
class PairAnswer:
    """An answer about ``a`` on the left and ``b`` on the right; ``preference`` is a, b or tie."""

    query: str
    a: str
    b: str
    preference: str
    assessor: str


def pair_lines(records: Iterable[PairAnswer]) -> Iterator[str]:
    r"""Yield the lines of ``pairs.tsv``, the header first.

    >>> list(pair_lines([PairAnswer("q1", "d3", "d7", "b", "ansa@lehto.example")]))[1]
    'q1\td3\td7\tb\tansa@lehto.example\n'
    """
    yield tsv_line(HEADER)
    for record in records:
        yield tsv_line(astuple(record))


def read_pairs(path: str | Path) -> list[PairAnswer]:
    r"""Read ``pairs.tsv``, plain or gzip.

    Parameters
    ----------
    path
        The file that ``topkapi export STUDY pairs.tsv`` writes.

    Returns
    -------
    list[PairAnswer]
        Answers in the order of the file; ``pandas.DataFrame(answers)`` makes a table of them.

    Raises
    ------
    BadData
        If a line cannot be used; the message names file and line.

    Examples
    --------
    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile("w+") as file:
    ...     _ = file.write("query\ta\tb\tpreference\tassessor\nq1\td3\td7\tb\tansa\n")
    ...     file.flush()
    ...     read_pairs(file.name)
    [PairAnswer(query='q1', a='d3', b='d7', preference='b', assessor='ansa')]
    """
    found = []
    for location, cells in read_tsv(path, HEADER):
        if cells[3] not in PREFERENCES:
            raise BadData(f"{location}: the preference {cells[3]!r} is not a, b or tie")
        found.append(PairAnswer(*cells))
    return found
