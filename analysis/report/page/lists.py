"""The page about preferences between lists: systems, learned gains, and their accuracy."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, log2

from markupsafe import Markup

from topkapi.analysis.dcglearn.intervals import shares_of_best
from topkapi.analysis.dcglearn.learned import Learned
from topkapi.analysis.dcglearn.validation import Shares, TieRow
from topkapi.analysis.report.page.environment import environment
from topkapi.analysis.report.page.explanations import EXPLANATIONS
from topkapi.analysis.report.page.svg import Curve, lines
from topkapi.analysis.report.schema import ListReport
from topkapi.analysis.typing import FloatArray

MOST_DUELS = 12
ANSWERS = {
    "left_much": "Left much better",
    "left": "Left better",
    "same": "The same",
    "right": "Right better",
    "right_much": "Right much better",
}
DIFFERENCES = {"much": "Much better", "better": "Better", "same": "The same"}


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


def render_lists(report: ListReport) -> str:
    """Render what is below the head of the page; every name in it is escaped."""
    return environment().get_template("lists.html").render(view=lists_view(report))


def lists_view(report: ListReport) -> ListsView:
    """Build the view of the page."""
    counts = report.counts
    shown = 2 < len(report.names) <= MOST_DUELS
    duels = zip(report.names, report.duels, strict=True) if shown else ()
    return ListsView(
        report=report,
        decided=report.pairs - counts["same"],
        much=counts["left_much"] + counts["right_much"],
        answers=tuple((name, counts[key]) for key, name in ANSWERS.items()),
        duels=tuple(duels),
        learned=None if report.learned is None else _learned(report.learned),
    )


def _learned(learned: Learned) -> LearnedView:
    found = learned.validation
    usual = max(_known(found.exponential.all) or 0.0, _known(found.linear.all) or 0.0)
    settings = (
        ("Learned", found.learned),
        ("Usual, 2^l − 1", found.exponential),
        ("Usual, l", found.linear),
    )
    names = DIFFERENCES.items()
    return LearnedView(
        learned=learned,
        accuracy=_known(found.learned.all) or 0.0,
        usual_accuracy=usual,
        gains=_gains(learned),
        discounts=_discounts(learned),
        rows=tuple(AccuracyRow(name, _shares(shares)) for name, shares in settings),
        sizes=_sizes(learned.sizes),
        differences=tuple(
            (name, found.differences[key]) for key, name in names if key in found.differences
        ),
        ties=tuple(learned.ties),
        ties_matter=len({(row.accuracy, row.tie_difference) for row in learned.ties}) != 1,
    )


def _known(value: float) -> float | None:
    return value if isfinite(value) else None


def _shares(shares: Shares) -> tuple[float | None, ...]:
    return tuple(_known(share) for share in (shares.all, shares.strong, shares.weak))


def _bounds(ends: FloatArray) -> list[tuple[float, float]]:
    """Return pairs of low and high from an array (2, n)."""
    return [(float(low), float(high)) for low, high in ends.T]


def _gains(learned: Learned) -> Markup:
    shares = shares_of_best(learned.model.gains_).tolist()
    last = len(shares) - 1
    bounds = None if learned.intervals is None else _bounds(learned.intervals.gains)
    curves = [
        Curve("learned", shares, bounds),
        Curve("2^l − 1", [(2**grade - 1) / (2**last - 1) for grade in range(last + 1)]),
        Curve("l", [grade / last for grade in range(last + 1)]),
    ]
    return lines(_title("lists-gains"), list(range(last + 1)), curves, "grade")


def _discounts(learned: Learned) -> Markup:
    found = learned.model.gains_.discounts.tolist()
    usual = [1 / log2(position + 1) for position in range(1, len(found) + 1)]
    usual = [each / sum(usual) for each in usual]
    bounds = None if learned.intervals is None else _bounds(learned.intervals.discounts)
    curves = [Curve("learned", found, bounds), Curve("usual", usual)]
    return lines(_title("lists-discounts"), list(range(1, len(found) + 1)), curves, "position")


def _sizes(found: dict[int, float]) -> Markup | None:
    if len(found) < 2:
        return None
    sizes: Sequence[int] = sorted(found)
    curve = Curve("accuracy", [found[size] for size in sizes])
    return lines(_title("lists-sizes"), sizes, [curve], "training pairs", least=0.5)


def _title(key: str) -> str:
    return EXPLANATIONS[key].title
