"""Average number of questions of a sorter, from reproducible simulated runs."""

from collections.abc import Callable, Generator, Sequence
from functools import lru_cache
from typing import Any

from topkapi.app.domain.draws import shuffled
from topkapi.app.domain.pairs.answers import ItemId, Pair, Preference

Sort = Callable[[Sequence[ItemId], int], Generator[Pair, Preference, Any]]

_FEWEST_RUNS, _MOST_RUNS = 4, 64
_PAGES = 3_200  # pages sorted in all runs together, so that the time does not grow with n


@lru_cache(maxsize=256)
def mean_questions(sort: Sort, n: int, k: int) -> int:
    """Return the mean number of distinct pairs that ``sort`` asks, with error-free answers."""
    runs = max(_FEWEST_RUNS, min(_MOST_RUNS, _PAGES // max(1, n)))
    return round(sum(_asked(sort, n, k, run) for run in range(runs)) / runs)


def _asked(sort: Sort, n: int, k: int, run: int) -> int:
    """Return the number of distinct pairs asked in one run; items are their own worths."""
    sorter = sort(shuffled(range(n), "budget", n, run), k)
    pairs: set[frozenset[int]] = set()
    try:
        pair = next(sorter)
        while True:
            pairs.add(frozenset(pair))
            pair = sorter.send(Preference.FIRST if pair[0] > pair[1] else Preference.SECOND)
    except StopIteration:
        return len(pairs)
