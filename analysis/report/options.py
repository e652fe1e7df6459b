"""Settings of a report."""

from dataclasses import dataclass

import numpy as np

from topkapi.analysis.agreement import Resamples, resamples
from topkapi.analysis.typing import FloatArray, IntArray

DRAWN_CELLS = 20_000_000  # resamples x queries at most, so that memory stays bounded
LEAST_DRAWS = 200


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of a report.

    Attributes
    ----------
    draws
        Number of resamples of queries.
    exchanges
        Number of random permutations of queries.
    seed
        Seed of both.
    level
        Level of the intervals.
    persistence
        The p of rank-biased overlap.
    depth
        Depth of rank-biased overlap where the study has no k.
    """

    draws: int = 2000
    exchanges: int = 9999
    seed: int = 0
    level: float = 0.95
    persistence: float = 0.9
    depth: int = 10

    def resamples(self, used: FloatArray | IntArray, strata: IntArray) -> Resamples:
        """Draw from the queries ``used`` within ``strata``; fewer times from very many queries."""
        most = DRAWN_CELLS // max(np.size(used), 1)
        draws = max(LEAST_DRAWS, min(self.draws, most))
        return resamples(used, strata=strata, draws=draws, seed=self.seed, level=self.level)
