"""Settings of a report."""

from dataclasses import dataclass

DRAWN_CELLS = 20_000_000  # resamples x queries at most, so that memory stays bounded
LEAST_DRAWS = 200


@dataclass(frozen=True, slots=True)
class Options:
    """How many resamples and exchanges of queries, from which seed, and the intervals' level.

    ``persistence`` is the p of rank-biased overlap; ``depth`` its depth where the study has no k.
    """

    draws: int = 2000
    exchanges: int = 9999
    seed: int = 0
    level: float = 0.95
    persistence: float = 0.9
    depth: int = 10

    def draws_for(self, queries: int) -> int:
        """Resamples for so many queries."""
        return max(LEAST_DRAWS, min(self.draws, DRAWN_CELLS // max(queries, 1)))
