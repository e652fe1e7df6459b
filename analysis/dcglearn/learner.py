"""DCGLearn: the weights of grades at positions that agree best with people's preferences."""

import json
from pathlib import Path
from typing import Any, Self

import numpy as np

from topkapi.analysis.dcglearn.gains import FORMAT, Gains, rank_one, utilities
from topkapi.analysis.dcglearn.preferences import ListPreferences
from topkapi.analysis.dcglearn.solver import GainProblem, Penalty, penalty_matrix, solve
from topkapi.analysis.errors import BadData, NotFittedError
from topkapi.analysis.json_text import json_text
from topkapi.analysis.typing import FloatArray, IntArray


class DCGLearn:
    """Learn a linear utility of graded rankings from preferences: [ZZCX13]_, section 4.

    Parameters
    ----------
    c
        Weight of a preference.
    c_ties
        Weight of a tie.
    penalty
        ``steps`` between neighbouring grades (better from few pairs), or ``weights`` as printed.

    Attributes
    ----------
    steps_
        Learned steps, (K (L-1),).
    weights_
        Learned weights (K, L), worst grade first.

    Examples
    --------
    >>> left, right = np.array([[2, 0], [1, 0], [2, 1]]), np.array([[0, 2], [0, 1], [1, 2]])
    >>> model = DCGLearn(c=100.0).fit(ListPreferences(left, right, np.array([1, 1, 1]), 3))
    >>> model.predict(ListPreferences(np.array([[0, 1]]), np.array([[2, 0]]), np.array([0]), 3))
    array([-1])
    """

    steps_: FloatArray
    weights_: FloatArray

    def __init__(self, *, c: float = 5.0, c_ties: float = 0.0, penalty: Penalty = "steps") -> None:
        if not (np.isfinite(c) and c > 0):
            raise BadData(f"C must be above 0, not {c}")
        if not (np.isfinite(c_ties) and c_ties >= 0):
            raise BadData(f"C of ties must not be negative, not {c_ties}")
        self.c, self.c_ties, self.penalty = c, c_ties, penalty

    def fit(self, preferences: ListPreferences) -> Self:
        """Learn from ``preferences``; at least one has to distinguish two different lists."""
        if not preferences.preferred.any():
            raise BadData("no pair of different lists has a preference: there is nothing to learn")
        self.fit_differences(
            preferences.preferred,
            preferences.differences[preferences.tied],
            k=preferences.k,
            n_grades=preferences.n_grades,
        )
        if not self.steps_.any():
            raise BadData("the preferences contradict the grades: worse grades were preferred")
        return self

    def fit_differences(
        self,
        preferred: FloatArray,
        tied: FloatArray,
        *,
        k: int,
        n_grades: int,
        start: FloatArray | None = None,
    ) -> Self:
        """Learn from better minus worse (n, K (L-1)) and ties (t, K (L-1)); ``start`` warms up."""
        gram = penalty_matrix(k, n_grades, self.penalty)
        problem = GainProblem(preferred, tied, gram, self.c, self.c_ties)
        self.steps_ = solve(problem, start)
        table = np.zeros((k, n_grades))
        np.cumsum(self.steps_.reshape(k, n_grades - 1), axis=1, out=table[:, 1:])
        self.weights_ = table - table.mean(axis=1, keepdims=True)
        return self

    @property
    def table_(self) -> FloatArray:
        """T(w), equation (4): weights above the worst grade's, (K, L)."""
        self._require_fitted()
        return self.weights_ - self.weights_[:, :1]

    @property
    def gains_(self) -> Gains:
        """Gains and discounts that do not depend on each other: the rank-1 form of T(w)."""
        return rank_one(self.table_)[0]

    @property
    def rank_one_share_(self) -> float:
        """Share of T(w) that the gains and discounts explain, 0 to 1."""
        return rank_one(self.table_)[1]

    def utility(self, grades: IntArray) -> FloatArray:
        """Compute the learned worth of rankings (n, K): (n,).

        The margin of a preference is 1.
        """
        self._require_fitted()
        if grades.ndim != 2 or grades.shape[1] != self.weights_.shape[0]:
            raise BadData(f"rankings must be (n, {self.weights_.shape[0]}), not {grades.shape}")
        return utilities(self.table_, grades)

    def margins(self, preferences: ListPreferences) -> FloatArray:
        """Compute the learned worth of the left list less that of the right one, (n,)."""
        return self.utility(preferences.left) - self.utility(preferences.right)

    def predict(self, preferences: ListPreferences) -> IntArray:
        """Predict 1 where the left list is worth more, -1 where the right one is, else 0: (n,)."""
        margins = self.margins(preferences)
        return np.where(np.abs(margins) > 1e-12, np.sign(margins), 0).astype(np.int64)

    def save(self, path: str | Path) -> None:
        """Write settings, weights, gains and discounts as JSON, every digit kept."""
        Path(path).write_text(json_text(self.as_json()), encoding="utf-8")

    def as_json(self) -> dict[str, Any]:
        """Return settings and everything learned as JSON values."""
        gains, share = rank_one(self.table_)
        return {
            "format": FORMAT,
            "model": "dcglearn",
            "settings": {"c": self.c, "c_ties": self.c_ties, "penalty": self.penalty},
            **gains.as_json(),
            "rank_one_share": share,
            "steps": self.steps_.tolist(),
            "weights": self.weights_.tolist(),
        }

    @classmethod
    def load(cls, path: str | Path) -> "DCGLearn":
        """Read a model that :meth:`save` wrote."""
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
            model = cls(**document["settings"])
            model.steps_ = np.array(document["steps"], dtype=np.float64)
            model.weights_ = np.array(document["weights"], dtype=np.float64)
        except (UnicodeDecodeError, ValueError, KeyError, TypeError) as error:
            raise BadData(f"{path}: not a model of DCGLearn: {error}") from None
        k, n_grades = model.weights_.shape if model.weights_.ndim == 2 else (0, 0)
        if document.get("format") != FORMAT or model.steps_.shape != (k * (n_grades - 1),):
            raise BadData(f"{path}: not a model of DCGLearn that this version knows")
        return model

    def _require_fitted(self) -> None:
        if not hasattr(self, "weights_"):
            raise NotFittedError("DCGLearn is not fitted: call fit first")
