r"""kappa-NDCG of lists of known true ranks: [NGLC12]_, equations (1) and (2).

Document at true rank r (1 = best) has label k + 1 - r inside the top k and 0 outside; the gain is
2^label - 1, the discount 1 / log2(1 + j). Gains are scaled by 2^-k, which cancels in the quotient
and keeps k over 1,024 from overflowing.
"""

import numpy as np

from topkapi.analysis.typing import FloatArray, IntArray


def topk_gains(ranks: IntArray, k: int) -> FloatArray:
    """Return gains (2^label - 1) / 2^k of true ranks (0 = best).

    They are 0 from rank k on and for negative ranks.

    Parameters
    ----------
    ranks
        True ranks, 0 = best; negative for an empty position.
    k
        Length of the top-k ground truth.

    Returns
    -------
    FloatArray
        Gains of the same shape.

    Examples
    --------
    >>> topk_gains(np.array([0, 1, 2, -1]), 2)
    array([0.75, 0.25, 0.  , 0.  ])
    """
    inside = (ranks >= 0) & (ranks < k)
    return np.where(inside, np.exp2(-np.where(inside, ranks, 0.0)) - 2.0**-k, 0.0)


def kappa_ndcg_of_lists(ranks: IntArray, k: int, *, n_items: int | None = None) -> FloatArray:
    """Compute kappa-NDCG@k of many lists at once, ``ranks`` (runs, length) -> (runs,).

    Parameters
    ----------
    ranks
        ``ranks[i, j]`` is the true rank (0 = best) of the item at position j + 1 of list i,
        negative if there is none. Positions after k do not count.
    k
        Number of positions that count.
    n_items
        Number of items that exist; needed where it may be below k, so that the ideal list is no
        longer than that.

    Returns
    -------
    FloatArray
        kappa-NDCG@k of each list, (runs,).

    Examples
    --------
    >>> kappa_ndcg_of_lists(np.array([[0, 1, 2], [2, 1, 0], [7, 8, 9]]), 3)
    array([1.        , 0.681..., 0.        ])
    """
    if ranks.ndim != 2:
        raise ValueError(f"ranks must be a (runs, length) array, not {ranks.ndim}-dimensional")
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    top = ranks[:, :k]
    best = topk_gains(np.arange(k if n_items is None else min(k, n_items)), k)
    discounts = 1.0 / np.log2(np.arange(2, k + 2))
    ideal = float(best @ discounts[: best.size])
    found: FloatArray = topk_gains(top, k) @ discounts[: top.shape[1]]
    return found / ideal if ideal > 0 else found
