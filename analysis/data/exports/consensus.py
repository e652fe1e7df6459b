"""``consensus.jsonl``: one list per query from the lists of several assessors."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from topkapi.analysis.data.exports.codec import Names, Numbers, Shares, json_lines, read_json_lines


@dataclass(frozen=True, slots=True)
class ConsensusList:
    """The consensus of a query.

    ``documents`` is T, best first, at most ``k``; ``rest`` is F. ``weights`` and ``departures``
    belong to ``assessors``: how much a vote counted, and the share of the assessor's preferences
    that the list reverses (None for one who only tied).
    """

    query: str
    k: int
    documents: Names
    rest: Names
    assessors: Names
    weights: Numbers
    departures: Shares
    method: str
    study: str = ""

    def labels(self) -> dict[str, int]:
        """Return label k + 1 - rank of the pages in T, 0 of those in F ([NGLC12]_, section 3.2.1).

        >>> ConsensusList("q", 3, ("d", "a"), ("b",), (), (), (), "supervised-kemeny").labels()
        {'d': 3, 'a': 2, 'b': 0}
        """
        found = {document: self.k - rank for rank, document in enumerate(self.documents)}
        return found | dict.fromkeys(self.rest, 0)


def consensus_lines(records: Iterable[ConsensusList]) -> Iterator[str]:
    """Yield the lines of ``consensus.jsonl``."""
    return json_lines(records)


def read_consensus(path: str | Path) -> list[ConsensusList]:
    """Read ``consensus.jsonl``, plain or gzip; also the lists that ``topkapi report`` writes."""
    return read_json_lines(path, ConsensusList)
