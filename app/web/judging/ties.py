"""Ties on the page of a finished query: which ranks a page is tied with, in words."""

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations


def tied_pages(
    groups: Iterable[Sequence[int]], pairs: Iterable[tuple[int, int]]
) -> dict[int, set[int]]:
    """Return the pages that each page is tied with: in its tie group, or by an answer."""
    tied: dict[int, set[int]] = {}
    grouped = (pair for group in groups for pair in combinations(group, 2))
    for one, other in (*grouped, *pairs):
        tied.setdefault(one, set()).add(other)
        tied.setdefault(other, set()).add(one)
    return tied


def tie_text(tied: Collection[int], ranking: Sequence[int]) -> str:
    """Return what is shown beside a page that is tied with the pages ``tied``.

    >>> tie_text({30, 20, 40}, [10, 20, 30, 50])
    'tied with ranks 2 and 3, and 1 page outside the list'
    """
    ranks = [rank for rank, page in enumerate(ranking, 1) if page in tied]
    outside = len(tied) - len(ranks)
    parts = []
    if ranks:
        parts.append(f"{'rank' if len(ranks) == 1 else 'ranks'} {_enumerated(ranks)}")
    if outside:
        parts.append(f"{outside} {'page' if outside == 1 else 'pages'} outside the list")
    return f"tied with {', and '.join(parts)}" if parts else ""


def _enumerated(ranks: Sequence[int]) -> str:
    """Return ranks in words, runs of three or more as ranges.

    >>> _enumerated([1, 2, 3, 4, 6])
    '1 to 4 and 6'
    """
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and rank == runs[-1][-1] + 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    words = [
        word
        for run in runs
        for word in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else [str(each) for each in run])
    ]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
