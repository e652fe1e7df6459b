"""Gains of grades and discounts of positions: the usual ones, and learned ones from a file."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from topkapi.analysis.errors import BadData
from topkapi.analysis.json_text import json_text
from topkapi.analysis.typing import FloatArray

FORMAT = 1


@dataclass(frozen=True, eq=False)
class Gains:
    """Gains of grades and discounts of positions.

    Attributes
    ----------
    gains
        Gains (L,) by grade, worst first.
    discounts
        Discounts (K,) by position.

    Examples
    --------
    >>> Gains(np.array([0.0, 1.0, 3.0]), np.array([1.0, 0.5])).table
    array([[0. , 1. , 3. ],
           [0. , 0.5, 1.5]])
    """

    gains: FloatArray
    discounts: FloatArray

    def __post_init__(self) -> None:
        """Refuse what is no gain or no discount."""
        for name in ("gains", "discounts"):
            values = np.asarray(getattr(self, name), dtype=np.float64)
            if values.ndim != 1 or values.size < 1 or not np.isfinite(values).all():
                raise BadData(f"{name} must be a list of finite numbers")
            object.__setattr__(self, name, values)
        if (np.diff(self.gains) < 0).any():
            raise BadData("gains must not fall from a grade to the next better one")
        if (self.discounts < 0).any():
            raise BadData("a discount is negative")

    @property
    def table(self) -> FloatArray:
        """The weight of each grade at each position, (K, L)."""
        return np.outer(self.discounts, self.gains)

    def of_labels(self, labels: FloatArray) -> FloatArray:
        """Return the gain of each label above the worst grade's, same shape.

        >>> usual_gains(3, 1).of_labels(np.array([2.0, 0.0]))
        array([3., 0.])
        """
        grades = labels.astype(np.int64)
        if (grades != labels).any():
            raise BadData("learned gains need whole labels 0, 1, 2, ...")
        if labels.size and labels.max() >= self.gains.size:
            raise BadData(
                f"the gains cover grades 0 to {self.gains.size - 1}, "
                f"the data have a label {labels.max():g}"
            )
        found: FloatArray = (self.gains - self.gains[0])[grades]
        return found

    def cut(self, k: int | None) -> FloatArray:
        """Return the discounts of the first k positions, or all that are known without k."""
        if k is not None and k > self.discounts.size:
            raise BadData(
                f"the discounts reach position {self.discounts.size}: k = {k} is beyond them"
            )
        return self.discounts[:k]

    def discounts_only(self, n_grades: int) -> "Gains":
        """Return the same discounts with gains 2^l - 1 scaled by 2^-n_grades.

        The labels l are 0 .. n_grades - 1.

        For labels that no study graded, such as those of a top-k ground truth.
        """
        gains = np.exp2(np.arange(n_grades) - float(n_grades)) - np.exp2(-float(n_grades))
        return Gains(gains, self.discounts)

    def save(self, path: str | Path) -> None:
        """Write gains and discounts as JSON, every digit kept."""
        document = {"format": FORMAT, **self.as_json()}
        Path(path).write_text(json_text(document), encoding="utf-8")

    def as_json(self) -> dict[str, list[float]]:
        """Return gains and discounts as plain lists."""
        return {"gains": self.gains.tolist(), "discounts": self.discounts.tolist()}


def usual_gains(n_grades: int, k: int, *, linear: bool = False) -> Gains:
    """Return gains 2^l - 1, or l if ``linear``, with discounts 1 / log2(1 + i).

    Parameters
    ----------
    n_grades
        Number of grades.
    k
        Number of positions.
    linear
        Whether gains are l instead of 2^l - 1.

    Examples
    --------
    >>> usual_gains(4, 1, linear=True).gains
    array([0., 1., 2., 3.])
    """
    grades = np.arange(n_grades, dtype=np.float64)
    discounts = 1.0 / np.log2(np.arange(2, k + 2))
    return Gains(grades if linear else np.exp2(grades) - 1.0, discounts)


def load_gains(path: str | Path) -> Gains:
    """Read gains and discounts from a file of :meth:`Gains.save` or of ``DCGLearn.save``.

    Parameters
    ----------
    path
        JSON file.

    Raises
    ------
    BadData
        If the file holds no gains and discounts of this format.
    """
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise BadData(f"{path}: not JSON: {error}") from None
    if not isinstance(document, dict) or not {"gains", "discounts"} <= document.keys():
        raise BadData(f'{path}: needs "gains" and "discounts", as topkapi dcg learn writes them')
    if document.get("format", FORMAT) != FORMAT:
        raise BadData(f"{path}: format {document['format']} is not known, only {FORMAT}")
    try:
        return Gains(np.array(document["gains"], float), np.array(document["discounts"], float))
    except (TypeError, ValueError) as error:
        raise BadData(f"{path}: {error}") from None
