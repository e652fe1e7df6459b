"""Corners of the hull of rankings, seen as points (Delta, h) with h = 1 + lead.

Those with the largest h + lambda Delta for some lambda are its corners. For every lambda > 0 and
every ranking with h > 0

    Delta h <= (h + lambda Delta)^2 / (4 lambda),

so the largest h + lambda Delta bounds all products Delta h. The bound is least at the edge, or the
corner, that the hyperbola of equal products touches.
"""

from dataclasses import dataclass

import numpy as np

from topkapi.analysis.models.oracles.top_lists import LEAST_LOSS, TopLists, loss_augmented
from topkapi.analysis.typing import BoolArray, FloatArray, IntArray

MOST_ROUNDS = 40


@dataclass(frozen=True)
class Corner:
    """One ranking of each query: positions (b, n), Delta and h (b,)."""

    rankings: IntArray
    loss: FloatArray
    height: FloatArray

    @property
    def products(self) -> FloatArray:
        """Delta h of wrong rankings, -inf of right ones."""
        return np.where(self.loss > LEAST_LOSS, self.loss * self.height, -np.inf)

    def of(self, which: IntArray | BoolArray) -> "Corner":
        """Select the corners of some queries."""
        return Corner(self.rankings[which], self.loss[which], self.height[which])

    def put(self, which: IntArray, other: "Corner") -> None:
        """Replace those of some queries."""
        self.rankings[which] = other.rankings
        self.loss[which], self.height[which] = other.loss, other.height


@dataclass(frozen=True)
class Corners:
    """The best corner of each query and its product; the weight lambda of the least bound.

    ``top`` (b,) is the largest h + lambda Delta at that weight, or more.
    """

    rankings: IntArray
    products: FloatArray
    weight: FloatArray
    top: FloatArray

    @property
    def bound(self) -> FloatArray:
        """Upper bound of the products, (b,)."""
        return self.top**2 / (4.0 * self.weight)

    def meet(self, which: IntArray, found: Corner) -> None:
        """Keep the better of what is known and a corner of some queries."""
        better = found.products > self.products[which]
        self.rankings[which[better]] = found.rankings[better]
        self.products[which[better]] = found.products[better]

    def lower(self, which: IntArray, weight: FloatArray, top: FloatArray) -> None:
        """Keep the weights of some queries where their bound is less."""
        less = top**2 / weight < self.top[which] ** 2 / self.weight[which]
        self.weight[which[less]], self.top[which[less]] = weight[less], top[less]


def best_corners(lists: TopLists, scores: FloatArray) -> Corners:
    """Walk along the hull to the edge at which the bound is least.

    The ends are the best ranking by score and the best of those with the largest loss. The weight
    at which both ends are equal either shows a corner between them, which replaces one of them,
    or shows that they share an edge.
    """
    low, high = _ends(lists, scores)
    known = Corners(  # no ranking is above the height of one end and the loss of the other
        high.rankings.copy(), high.products, low.height / high.loss, 2.0 * low.height
    )
    walking: IntArray = np.arange(scores.shape[0])
    known.meet(walking, low)
    for _ in range(MOST_ROUNDS):
        apart = high.loss[walking] - low.loss[walking] > LEAST_LOSS
        walking = walking[apart & (low.height[walking] > high.height[walking])]
        if not walking.size:
            break
        walking = _step(lists, scores, walking, low, high, known)
    return known


def _step(
    lists: TopLists,
    scores: FloatArray,
    walking: IntArray,
    low: Corner,
    high: Corner,
    known: Corners,
) -> IntArray:
    """Try the weight between the ends of each query, and return the queries that go on."""
    one, two = low.of(walking), high.of(walking)
    tried = (one.height - two.height) / (two.loss - one.loss)
    corner = _corner(lists.of(walking), scores[walking], tried)
    value = corner.height + tried * corner.loss
    known.meet(walking, corner)
    known.lower(walking, tried, value)
    edge = value <= (one.height + tried * one.loss) * (1.0 + 1e-13)
    for end, side in ((one, 1.0), (two, -1.0)):
        # the corner at an end of the edge is the best of all if its own bound is beyond the edge
        own = end.height / np.maximum(end.loss, LEAST_LOSS)
        best = edge & (end.loss > LEAST_LOSS) & (end.height > 0) & (side * own < side * tried)
        known.lower(walking[best], own[best], 2.0 * end.height[best])
    forward = corner.height > tried * corner.loss
    low.put(walking[~edge & forward], corner.of(~edge & forward))
    high.put(walking[~edge & ~forward], corner.of(~edge & ~forward))
    return walking[~edge]


def _corner(lists: TopLists, scores: FloatArray, weight: FloatArray) -> Corner:
    chosen, loss, lead = loss_augmented(lists, scores, weight)
    return Corner(chosen, loss, 1.0 + lead)


def _ends(lists: TopLists, scores: FloatArray) -> tuple[Corner, Corner]:
    """Return the best ranking by score, and the best by score of those with the largest loss."""
    low = _corner(lists, scores, np.zeros(scores.shape[0]))
    gains = np.where(lists.filled, lists.gains, np.inf)
    worst = np.lexsort((-scores, gains), axis=1)[:, : lists.discounts.size]
    loss, lead = lists.loss_and_lead(scores, worst)
    return low, Corner(worst, loss, 1.0 + lead)
