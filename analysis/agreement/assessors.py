"""Agreement of each assessor with the rest."""

import numpy as np

from topkapi.analysis.agreement.tables import PairTables
from topkapi.analysis.typing import IntArray


def rest_counts(tables: PairTables) -> tuple[IntArray, IntArray, IntArray]:
    """Return each row of ``tables`` once per assessor: query, assessor, counts (2r, 9).

    The assessor is always the row of the table, so the second one's tables are transposed.

    Parameters
    ----------
    tables
        Votes of every two assessors.
    """
    query = np.concatenate([tables.query, tables.query])
    assessor = np.concatenate([tables.first, tables.second])
    mirrored = tables.counts.transpose(0, 2, 1)
    return query, assessor, np.concatenate([tables.counts, mirrored]).reshape(-1, 9)
