"""Preferences between rankings: which systems win, and what a grade is worth."""

from dataclasses import dataclass

import numpy as np

from topkapi.analysis.dcglearn import ANSWERS, Learned, ListPreferences, learn_gains
from topkapi.analysis.errors import AnalysisError
from topkapi.analysis.lazy import stats
from topkapi.analysis.report.schema import LeftPreference, ListReport, Reason, SystemRow
from topkapi.analysis.report.sections.figures import UNDEFINED, figure
from topkapi.analysis.report.sections.pooled import nested
from topkapi.analysis.resampling import draw_counts, percentiles
from topkapi.analysis.typing import FloatArray, IntArray

RESAMPLES = 1000
TAIL = 0.05  # on each side of an interval of 90 %
FOLDS = 5


@dataclass(frozen=True, eq=False)
class Duels:
    """Answers about two systems: indices of query, left and right system, and the answer, (n,).

    ``answers`` are 2, 1, 0, -1, -2 from "left much better" to "right much better".
    """

    systems: tuple[str, ...]
    queries: IntArray
    left: IntArray
    right: IntArray
    answers: IntArray


def list_report(duels: Duels, graded: ListPreferences | None, why_not: str = "") -> ListReport:
    """Compute the figures of the page about lists.

    Parameters
    ----------
    duels
        Answers about two systems each.
    graded
        The same answers with the grades of both lists; None where no grades are known.
    why_not
        Why there are no grades.
    """
    learned, reason = _learned(graded, duels.queries, why_not)
    return ListReport(
        pairs=int(duels.answers.size),
        queries=int(np.unique(duels.queries).size),
        counts={name: int((duels.answers == value).sum()) for name, value in ANSWERS.items()},
        left=_left_preference(duels.answers),
        systems=system_table(duels),
        names=tuple(duels.systems),
        duels=_duels(duels),
        learned=learned,
        why_not=reason,
    )


def _learned(
    graded: ListPreferences | None, queries: IntArray, why_not: str
) -> tuple[Learned | None, str]:
    if graded is None:
        return None, why_not
    several = np.unique(queries).size >= FOLDS
    try:
        found = learn_gains(graded, groups=queries if several else None, n_folds=FOLDS)
    except AnalysisError as error:
        return None, f"{error}."
    return found, ""


def system_table(duels: Duels, seed: int = 0) -> tuple[SystemRow, ...]:
    """Return each system with its share of won comparisons, a tie as half a win, best first.

    The interval (90 %) is over resampled queries.

    >>> one = np.array([0, 1])
    >>> found = system_table(Duels(("a", "b"), one, one * 0, one * 0 + 1, np.array([2, 0])))
    >>> [(row.system, row.share.value, row.wins, row.same) for row in found]
    [('a', 0.75, 1, 1), ('b', 0.25, 0, 1)]
    """
    points, counts = _by_query(duels)
    n = points.shape[0]
    weights = draw_counts(np.random.default_rng(seed), n, RESAMPLES)
    with np.errstate(invalid="ignore"):
        shares = (weights @ points) / (weights @ counts)
    low, high = percentiles(shares, TAIL)
    rows = []
    for number, name in enumerate(duels.systems):
        compared = counts[:, number].sum()
        share = figure(
            points[:, number].sum() / compared if compared else np.nan,
            reason=Reason.NOT_COMPARED,
            ends=(low[number], high[number]) if n > 1 else UNDEFINED,
            no_interval=Reason.ONE_QUERY,
        )
        rows.append(SystemRow(name, share, int(compared), *_wins(duels, number)))
    return tuple(sorted(rows, key=lambda row: (-(row.share.value or 0), row.system)))


def _by_query(duels: Duels) -> tuple[FloatArray, FloatArray]:
    """Return points and comparisons of each system in each query, (queries, systems)."""
    position = np.unique(duels.queries, return_inverse=True)[1]
    shape = (int(position.max(initial=-1)) + 1, len(duels.systems))
    points, counts = np.zeros(shape), np.zeros(shape)
    signs = np.sign(duels.answers)
    for side, sign in ((duels.left, 1), (duels.right, -1)):
        np.add.at(points, (position, side), (1 + sign * signs) / 2)
        np.add.at(counts, (position, side), 1)
    return points, counts


def _wins(duels: Duels, number: int) -> tuple[int, int, int]:
    """Return how often a system won, lost and tied."""
    signs = np.where(duels.left == number, 1, -1) * np.sign(duels.answers)
    mine = (duels.left == number) | (duels.right == number)
    won, lost, same = (int((signs[mine] == sign).sum()) for sign in (1, -1, 0))
    return won, lost, same


def _duels(duels: Duels) -> tuple[tuple[int, ...], ...]:
    """Return how often the system of the row was preferred to that of the column."""
    table = np.zeros((len(duels.systems), len(duels.systems)), dtype=np.int64)
    np.add.at(table, (duels.left, duels.right), duels.answers > 0)
    np.add.at(table, (duels.right, duels.left), duels.answers < 0)
    return nested(table)


def _left_preference(answers: IntArray) -> LeftPreference:
    """Count preferences for the left list, and test them against one half."""
    left, decided = int((answers > 0).sum()), int((answers != 0).sum())
    p = float(stats.binomtest(left, decided).pvalue) if decided else None
    return LeftPreference(left, decided, p)
