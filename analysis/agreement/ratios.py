"""Division that gives NaN instead of failing."""

import numpy as np
from numpy.typing import ArrayLike

from topkapi.analysis.typing import FloatArray


def ratio(part: ArrayLike, whole: ArrayLike, *, least: float = 0.0) -> FloatArray:
    """Divide ``part`` by ``whole`` elementwise, with broadcasting.

    NaN where ``whole`` is not above ``least``.

    >>> ratio([1, 2], [4, 0]).tolist()
    [0.25, nan]
    """
    above, below = np.broadcast_arrays(np.asarray(part, float), np.asarray(whole, float))
    result: FloatArray = np.full(above.shape, np.nan)
    np.divide(above, below, out=result, where=below > least)
    return result
