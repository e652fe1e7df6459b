"""What people's preferences between rankings say: which systems win, and what a grade is worth."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

from analysis.dcglearn import ANSWERS, Preferences, learn_gains
from analysis.errors import AnalysisError
from analysis.report.figures import Json, figure
from analysis.typing import FloatArray, IntArray

RESAMPLES = 1000
FOLDS = 5


@dataclass(frozen=True, eq=False)
class Duels:
    """n answers about two systems: numbers of query, left and right system, and the answer, (n,).

    ``answers`` are 2, 1, 0, -1, -2 from "left much better" to "right much better".
    """

    systems: tuple[str, ...]
    queries: IntArray
    left: IntArray
    right: IntArray
    answers: IntArray


def list_report(duels: Duels, graded: Preferences | None, why_not: str = "") -> Json:
    """The figures of the page; ``graded`` are the same answers where grades are known.

    Without grades, or where they teach nothing, ``learned`` is null and ``why_not`` says why.
    """
    learned, reason = _learned(graded, duels.queries, why_not)
    return {
        "format": "topkapi-lists",
        "pairs": int(duels.answers.size),
        "queries": int(np.unique(duels.queries).size),
        "counts": {name: int((duels.answers == value).sum()) for name, value in ANSWERS.items()},
        "left": _left_bias(duels.answers),
        "systems": system_table(duels),
        "names": list(duels.systems),
        "duels": _duels(duels),
        "learned": learned,
        "why_not": reason,
    }


def _learned(
    graded: Preferences | None, queries: IntArray, why_not: str
) -> tuple[Json | None, str]:
    if graded is None:
        return None, why_not
    several = np.unique(queries).size >= FOLDS
    try:
        found = learn_gains(graded, groups=queries if several else None, n_folds=FOLDS)
    except AnalysisError as error:
        return None, f"{error}."
    return found.as_json(), ""


def system_table(duels: Duels, seed: int = 0) -> list[Json]:
    """For each system its share of won comparisons, a tie as half a win, best first.

    The interval (90 %) is over resampled queries.

    >>> one = np.array([0, 1])
    >>> found = system_table(Duels(("a", "b"), one, one * 0, one * 0 + 1, np.array([2, 0])))
    >>> [(row["system"], row["share"]["value"], row["wins"], row["same"]) for row in found]
    [('a', 0.75, 1, 1), ('b', 0.25, 0, 1)]
    """
    points, counts = _by_query(duels)
    draws = np.random.default_rng(seed)
    n = points.shape[0]
    weights = draws.multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
    with np.errstate(invalid="ignore"):
        shares = (weights @ points) / (weights @ counts)
    low, high = np.nanquantile(shares, (0.05, 0.95), axis=0)
    rows = []
    for number, name in enumerate(duels.systems):
        compared = counts[:, number].sum()
        ends = (low[number], high[number]) if n > 1 else (np.nan, np.nan)
        rows.append(
            {
                "system": name,
                "share": figure(
                    points[:, number].sum() / compared if compared else np.nan,
                    reason="it was not compared",
                    ends=ends,
                    no_interval="one query: nothing to resample",
                ),
                "compared": int(compared),
                **_wins(duels, number),
            }
        )
    return sorted(rows, key=lambda row: (-(row["share"]["value"] or 0), row["system"]))


def _by_query(duels: Duels) -> tuple[FloatArray, FloatArray]:
    """Points and comparisons of each system in each query, (queries, systems)."""
    place = np.unique(duels.queries, return_inverse=True)[1]
    shape = (int(place.max(initial=-1)) + 1, len(duels.systems))
    points, counts = np.zeros(shape), np.zeros(shape)
    signs = np.sign(duels.answers)
    for side, sign in ((duels.left, 1), (duels.right, -1)):
        np.add.at(points, (place, side), (1 + sign * signs) / 2)
        np.add.at(counts, (place, side), 1)
    return points, counts


def _wins(duels: Duels, number: int) -> dict[str, int]:
    signs = np.where(duels.left == number, 1, -1) * np.sign(duels.answers)
    mine = (duels.left == number) | (duels.right == number)
    names = {"wins": 1, "losses": -1, "same": 0}
    return {name: int((signs[mine] == sign).sum()) for name, sign in names.items()}


def _duels(duels: Duels) -> list[list[int]]:
    """How often the system of the row was preferred to that of the column."""
    table = np.zeros((len(duels.systems), len(duels.systems)), dtype=np.int64)
    np.add.at(table, (duels.left, duels.right), duels.answers > 0)
    np.add.at(table, (duels.right, duels.left), duels.answers < 0)
    return [[int(cell) for cell in row] for row in table]


def _left_bias(answers: IntArray) -> Json:
    """How often the left list was preferred, and how likely that is if sides do not matter."""
    left, decided = int((answers > 0).sum()), int((answers != 0).sum())
    p = float(binomtest(left, decided).pvalue) if decided else None
    return {"left": left, "decided": decided, "p": p}
