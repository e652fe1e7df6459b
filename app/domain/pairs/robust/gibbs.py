"""Gibbs sampling: exact draws of one document's score given all others, in every chain at once.

Between two neighbouring scores of documents that it was compared with, the weight of a score is
constant: rising past an opponent multiplies it by odds^(wins - losses). So the density is a step
function. A step is drawn with probability proportional to weight times width, then a uniform point
on it.
"""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]

TIE_WIDTH = 0.06  # largest score difference of two documents that is consistent with a tie


class Opponents:
    """The documents that one document was compared with, and the outcomes."""

    def __init__(self) -> None:
        self._net: dict[int, int] = {}
        self._ties: dict[int, int] = {}
        self._arrays: tuple[NDArray[np.intp], FloatArray, NDArray[np.intp], FloatArray] | None
        self._arrays = None

    def fork(self) -> "Opponents":
        """Return an independent copy."""
        twin = Opponents()
        twin._net, twin._ties, twin._arrays = dict(self._net), dict(self._ties), self._arrays
        return twin

    @property
    def indices(self) -> set[int]:
        """Indices of all documents that it was compared with."""
        return self._net.keys() | self._ties.keys()

    def beaten(self, other: int) -> None:
        """Count a win."""
        self._net[other] = self._net.get(other, 0) + 1
        self._arrays = None

    def lost_to(self, other: int) -> None:
        """Count a loss."""
        self._net[other] = self._net.get(other, 0) - 1
        self._arrays = None

    def tied(self, other: int) -> None:
        """Count a tie."""
        self._ties[other] = self._ties.get(other, 0) + 1
        self._arrays = None

    def forget(self, other: int) -> None:
        """Drop all comparisons with ``other``."""
        self._net.pop(other, None)
        self._ties.pop(other, None)
        self._arrays = None

    def arrays(self) -> tuple[NDArray[np.intp], FloatArray, NDArray[np.intp], FloatArray]:
        """Return indices with net wins, the net wins, indices with ties, the ties."""
        if self._arrays is None:
            net = {index: wins for index, wins in self._net.items() if wins}
            self._arrays = (
                np.array(list(net), dtype=np.intp),
                np.array(list(net.values()), dtype=np.float32),
                np.array(list(self._ties), dtype=np.intp),
                np.array(list(self._ties.values()), dtype=np.float32),
            )
        return self._arrays


def draw_scores(
    scores: FloatArray,
    index: int,
    opponents: Opponents,
    log_odds: FloatArray,
    rng: np.random.Generator,
) -> None:
    """Replace row ``index`` of ``scores`` (documents, chains) by draws from its conditional."""
    edges, rises = _stairs(scores, opponents, log_odds)
    chains, steps = edges.shape
    uniform = rng.random((2, chains), dtype=np.float32)
    if not steps:
        scores[index] = uniform[0]
        return
    order = edges.argsort(axis=1)
    order += np.arange(0, chains * steps, steps)[:, None]
    bounds = np.empty((chains, steps + 2), dtype=np.float32)
    bounds[:, 0] = 0.0
    bounds[:, 1:-1] = edges.ravel()[order]
    bounds[:, -1] = 1.0
    weights = np.zeros((chains, steps + 1), dtype=np.float32)
    np.cumsum(rises.ravel()[order], axis=1, out=weights[:, 1:])
    weights -= weights.max(axis=1, keepdims=True)
    np.exp(weights, out=weights)
    weights *= bounds[:, 1:] - bounds[:, :-1]
    np.cumsum(weights, axis=1, out=weights)
    step = (weights < (uniform[0] * weights[:, -1])[:, None]).sum(axis=1)
    step += np.arange(0, chains * (steps + 2), steps + 2)
    flat = bounds.ravel()
    low = flat[step]
    scores[index] = low + (flat[step + 1] - low) * uniform[1]


def _stairs(
    scores: FloatArray, opponents: Opponents, log_odds: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return where the log weight changes, and by how much: two (chains, changes) arrays."""
    compared, wins, tied, ties = opponents.arrays()
    edges = np.ascontiguousarray(scores[compared].T)
    rises = log_odds[:, None] * wins
    if tied.size:
        near = scores[tied].T
        rise = 0.5 * log_odds[:, None] * ties
        low, high = np.clip(near - TIE_WIDTH, 0.0, 1.0), np.clip(near + TIE_WIDTH, 0.0, 1.0)
        edges = np.concatenate([edges, low, high], axis=1)
        rises = np.concatenate([rises, rise, -rise], axis=1)
    return edges, rises
