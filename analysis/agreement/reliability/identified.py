"""Which assessors' errors the design can tell apart."""

import numpy as np

from topkapi.analysis.lazy import csgraph, sparse
from topkapi.analysis.typing import BoolArray, IntArray


def identified(item: IntArray, assessor: IntArray, n_assessors: int) -> BoolArray:
    """Tell which assessors are identified by products of two parts, (n_assessors,).

    What two assessors share informs the product of their reliabilities only, so a rate is known in
    a connected group with an odd cycle of shared items. The doubled graph, in which every shared
    item crosses sides, stays connected exactly if there is one; an item that three or more judged
    joins both sides of all of them.

    Parameters
    ----------
    item, assessor
        Who voted on what, (n,), each once.
    n_assessors
        Number of assessors.

    Examples
    --------
    >>> identified(np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 2, 0, 2]), 4).tolist()
    [True, True, True, False]
    """
    order = np.argsort(item, kind="stable")
    item, assessor = np.unique(item[order], return_inverse=True)[1], assessor[order]
    voters = np.bincount(item)
    starts = np.cumsum(voters) - voters
    two = starts[voters == 2]
    many = voters[item] > 2
    nodes = 2 * n_assessors + item[many]
    ends = [
        (assessor[two], n_assessors + assessor[two + 1]),
        (assessor[two + 1], n_assessors + assessor[two]),
        (assessor[many], nodes),
        (n_assessors + assessor[many], nodes),
    ]
    rows, columns = (np.concatenate(part) for part in zip(*ends, strict=True))
    size = 2 * n_assessors + voters.size
    graph = sparse.coo_array((np.ones(rows.size, dtype=bool), (rows, columns)), shape=(size, size))
    _, group = csgraph.connected_components(graph.tocsr(), directed=False)
    joined: BoolArray = group[:n_assessors] == group[n_assessors : 2 * n_assessors]
    return joined
