"""``topk.jsonl``: the top-k ground truth of every assessor and query."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from topkapi.analysis.data.exports.codec import Groups, Names, json_lines, read_json_lines
from topkapi.analysis.data.exports.rounds import InRound


@dataclass(frozen=True, slots=True)
class TopK(InRound):
    """The top-k list of one assessor for one query.

    ``ranking`` is T, best first; ``groups`` are its ties (the last may reach beyond it); ``rest``,
    ``bad`` and ``unjudgeable`` together are F. While ``complete`` is false there is no ranking yet
    and every page that is still open is in ``rest``. ``answered`` counts the effective answers,
    ``entries`` everything in the log; the times include undone answers.
    """

    study: str
    query: str
    assessor: str
    round: int
    complete: bool
    k: int
    ranking: Names
    groups: Groups
    rest: Names
    bad: Names
    unjudgeable: Names
    sorter: str
    sorter_version: int
    seed: str
    options: Mapping[str, Any]
    answered: int
    entries: int
    active_ms: int
    wall_ms: int
    begun_at: datetime | None
    finished_at: datetime | None

    def labels(self) -> dict[str, int]:
        """Return label k + 1 - rank of pages in T, 0 of those in F ([NGLC12]_, section 3.2.1)."""
        found = dict.fromkeys((*self.ranking, *self.rest, *self.bad, *self.unjudgeable), 0)
        for rank, document in enumerate(self.ranking, start=1):
            found[document] = self.k + 1 - rank
        return found


def topk_lines(records: Iterable[TopK]) -> Iterator[str]:
    """Yield the lines of ``topk.jsonl``."""
    return json_lines(records)


def read_topk(path: str | Path, *, complete_only: bool = False) -> list[TopK]:
    """Read ``topk.jsonl``, plain or gzip.

    Parameters
    ----------
    path
        Plain or gzip file.
    complete_only
        Whether to leave out unfinished sessions.
    """
    found = read_json_lines(path, TopK)
    return [each for each in found if each.complete] if complete_only else found
