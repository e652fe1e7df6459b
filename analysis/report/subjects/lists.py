"""Preferences between rankings: which systems win, what a grade is worth, how it predicts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log2

import numpy as np
from markupsafe import Markup

from topkapi.analysis.dcglearn import ANSWERS, Learned, ListPreferences, learn_gains
from topkapi.analysis.dcglearn.intervals import shares_of_best
from topkapi.analysis.dcglearn.validation import Shares, TieRow
from topkapi.analysis.errors import AnalysisError
from topkapi.analysis.lazy import stats
from topkapi.analysis.report.figures import (
    OPTIONAL,
    UNDEFINED,
    Explanation,
    Figure,
    Reason,
    figure,
    nested,
    number,
)
from topkapi.analysis.report.study import StudyName
from topkapi.analysis.report.subjects.leaderboard import won_lost_tied
from topkapi.analysis.report.svg import Curve, lines
from topkapi.analysis.resampling import draw_counts, percentiles
from topkapi.analysis.typing import FloatArray, IntArray

RESAMPLES = 1000
TAIL = 0.05  # on each side of an interval of 90 %
FOLDS = 5
MOST_DUELS = 12
ANSWER_NAMES = {
    "left_much": "Left much better",
    "left": "Left better",
    "same": "The same",
    "right": "Right better",
    "right_much": "Right much better",
}
DIFFERENCES = {"much": "Much better", "better": "Better", "same": "The same"}


@dataclass(frozen=True, slots=True)
class LeftPreference:
    """Preferences for the left list among the ``decided`` ones; ``p`` is None without any."""

    left: int
    decided: int
    p: float | None


@dataclass(frozen=True, slots=True)
class SystemRow:
    """Comparisons of one system; ``share`` counts a tie as half a win."""

    system: str
    share: Figure
    compared: int
    wins: int
    losses: int
    same: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListReport:
    """Which systems win, and the gains learned from preferences between their lists.

    ``duels[i][j]`` counts how often the system ``names[i]`` was preferred to ``names[j]``.
    ``why_not`` is the reason why ``learned`` is None, and is empty otherwise.
    """

    study: StudyName | None = field(default=None, metadata=OPTIONAL)
    format: str = "topkapi-lists"
    pairs: int
    queries: int
    counts: dict[str, int]
    left: LeftPreference
    systems: tuple[SystemRow, ...]
    names: tuple[str, ...]
    duels: tuple[tuple[int, ...], ...]
    learned: "Learned | None"
    why_not: str


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
    for at, name in enumerate(duels.systems):
        compared = counts[:, at].sum()
        share = figure(
            points[:, at].sum() / compared if compared else np.nan,
            reason=Reason.NOT_COMPARED,
            ends=(low[at], high[at]) if n > 1 else UNDEFINED,
            no_interval=Reason.ONE_QUERY,
        )
        wins = won_lost_tied(duels.left, duels.right, duels.answers, at)
        rows.append(SystemRow(name, share, int(compared), *wins))
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


@dataclass(frozen=True, slots=True)
class AccuracyRow:
    """Accuracy of one setting of gains on all, strong and weak preferences; None of none."""

    name: str
    shares: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class LearnedView:
    """What the page shows of learned gains; ``sizes`` is None where there are too few pairs."""

    learned: Learned
    accuracy: float
    usual_accuracy: float
    gains: Markup
    discounts: Markup
    rows: tuple[AccuracyRow, ...]
    sizes: Markup | None
    differences: tuple[tuple[str, float], ...]
    ties: tuple[TieRow, ...]
    ties_matter: bool


@dataclass(frozen=True, slots=True)
class ListsView:
    """Everything the page shows; ``duels`` is empty for too many or too few systems."""

    report: ListReport
    decided: int
    much: int
    answers: tuple[tuple[str, int], ...]
    duels: tuple[tuple[str, tuple[int, ...]], ...]
    learned: LearnedView | None


def lists_view(report: ListReport) -> ListsView:
    """Build the view of the page."""
    counts = report.counts
    shown = 2 < len(report.names) <= MOST_DUELS
    duels = zip(report.names, report.duels, strict=True) if shown else ()
    return ListsView(
        report=report,
        decided=report.pairs - counts["same"],
        much=counts["left_much"] + counts["right_much"],
        answers=tuple((name, counts[key]) for key, name in ANSWER_NAMES.items()),
        duels=tuple(duels),
        learned=None if report.learned is None else _learned_view(report.learned),
    )


def _learned_view(learned: Learned) -> LearnedView:
    validation = learned.validation
    usual = max(number(validation.exponential.all) or 0.0, number(validation.linear.all) or 0.0)
    settings = (
        ("Learned", validation.learned),
        ("Usual, 2^l − 1", validation.exponential),
        ("Usual, l", validation.linear),
    )
    names = DIFFERENCES.items()
    return LearnedView(
        learned=learned,
        accuracy=number(validation.learned.all) or 0.0,
        usual_accuracy=usual,
        gains=_gains(learned),
        discounts=_discounts(learned),
        rows=tuple(AccuracyRow(name, _shares(shares)) for name, shares in settings),
        sizes=_sizes(learned.sizes),
        differences=tuple(
            (name, validation.differences[key])
            for key, name in names
            if key in validation.differences
        ),
        ties=tuple(learned.ties),
        ties_matter=len({(row.accuracy, row.tie_difference) for row in learned.ties}) != 1,
    )


def _shares(shares: Shares) -> tuple[float | None, ...]:
    return tuple(number(share) for share in (shares.all, shares.strong, shares.weak))


def _gains(learned: Learned) -> Markup:
    shares = shares_of_best(learned.model.gains_).tolist()
    last = len(shares) - 1
    bounds = None if learned.intervals is None else learned.intervals.gains.tolist()
    curves = [
        Curve("learned", shares, bounds),
        Curve("2^l − 1", [(2**grade - 1) / (2**last - 1) for grade in range(last + 1)]),
        Curve("l", [grade / last for grade in range(last + 1)]),
    ]
    return lines(EXPLANATIONS["lists-gains"].title, list(range(last + 1)), curves, "grade")


def _discounts(learned: Learned) -> Markup:
    found = learned.model.gains_.discounts.tolist()
    positions = range(1, len(found) + 1)
    usual = [1 / log2(position + 1) for position in positions]
    usual = [each / sum(usual) for each in usual]
    bounds = None if learned.intervals is None else learned.intervals.discounts.tolist()
    curves = [Curve("learned", found, bounds), Curve("usual", usual)]
    return lines(
        EXPLANATIONS["lists-discounts"].title, list(range(1, len(found) + 1)), curves, "position"
    )


def _sizes(found: dict[int, float]) -> Markup | None:
    if len(found) < 2:
        return None
    sizes: Sequence[int] = sorted(found)
    curve = Curve("accuracy", [found[size] for size in sizes])
    return lines(EXPLANATIONS["lists-sizes"].title, sizes, [curve], "training pairs", least=0.5)


EXPLANATIONS = {
    "lists-systems": Explanation(
        "Which systems win",
        "Share of comparisons that the system won; an answer “the same” counts as half a win. The "
        "strength of a preference does not count. The interval (90 %) resamples whole queries.",
    ),
    "lists-answers": Explanation(
        "Answers",
        "Effective answers by the side shown on the screen. Sides are drawn at random, so the left "
        "list should win as often as the right one; p is of a binomial test.",
    ),
    "lists-gains": Explanation(
        "What a grade is worth",
        "The weight of each grade at each position is learned so that preferred lists are worth "
        "more (Zhou et al. 2013). Gains and discounts are the nearest weights of the form gain x "
        "discount.",
    ),
    "lists-discounts": Explanation(
        "What a position is worth",
        "The discounts of the same weights; both curves sum to 1. If both lists hold the same "
        "pages, a constant added to a grade at every position has no effect: read both curves "
        "together.",
    ),
    "lists-accuracy": Explanation(
        "Accuracy on held-out preferences",
        "Each preference is predicted by gains learned without its query (five folds, three "
        "splits; with fewer than five queries the pairs are split). Lists of equal worth count as "
        "half right. The usual settings learn nothing.",
    ),
    "lists-sizes": Explanation(
        "By the number of training pairs",
        "Accuracy on the remaining preferences after training on random ones; mean of 20 draws.",
    ),
    "lists-differences": Explanation(
        "Difference of worth by answer",
        "Mean absolute difference of worth of the two lists, under gains that were learned without "
        "the pair. It should fall from much better to the same.",
    ),
    "lists-ties": Explanation(
        "Weight of ties",
        "Held-out accuracy, and the mean difference of worth of pairs answered “the same”, for "
        "several weights of such pairs in learning.",
    ),
}
