"""Each assessor: agreement with the rest, estimated error rate, quality of raw answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from markupsafe import Markup

from topkapi.analysis.agreement import (
    ErrorRates,
    PairTables,
    Resamples,
    rest_counts,
)
from topkapi.analysis.report.figures import (
    COHEN_KAPPA,
    OVERALL,
    WITHOUT_TIES,
    Explanation,
    Figure,
    Reason,
    figure,
    group_figures,
    key,
)
from topkapi.analysis.report.subjects.pairs import (
    MOST_IN_GRID,
    PairGrid,
    PairRow,
    least_agreeing,
    pair_grid,
)
from topkapi.analysis.report.subjects.sides import (
    AnswerQuality,
    IntransitiveTriads,
    LeftShare,
    SelfConsistency,
    left_shares,
    self_consistencies,
    triads_by_assessor,
)
from topkapi.analysis.report.svg import forest, histogram
from topkapi.analysis.resampling import LEAST_QUERIES
from topkapi.analysis.typing import IntArray

PAGE = 100  # assessors in one part of the table; further parts open on demand


@dataclass(frozen=True, slots=True)
class Person:
    """One assessor: agreement with the rest, estimated error rate, quality of raw answers."""

    assessor: str
    shared_queries: int
    overall: Figure
    without_ties: Figure
    cohen_kappa: Figure
    error_rate: Figure
    self_consistency: SelfConsistency
    left: LeftShare
    triads: IntransitiveTriads = field(metadata=key("circles"))


def people(
    tables: PairTables,
    rates: ErrorRates,
    quality: AnswerQuality,
    names: tuple[str, ...],
    drawn: Resamples,
    active: IntArray,
) -> tuple[Person, ...]:
    """Return one row for each assessor in ``active``.

    Parameters
    ----------
    tables
        Votes of every two assessors.
    rates
        Estimated error rates of all assessors.
    quality
        Raw answers, their repeats and triads.
    names
        Names of all assessors.
    drawn
        Resamples of queries with shared votes; its level is that of the intervals.
    active
        Indices of the assessors to report.
    """
    query, who, counts = rest_counts(tables)
    votes = counts.astype(float)
    of = (query, who, votes, len(names), drawn)
    overall, without_ties, kappa = (
        group_figures(measure, *of) for measure in (OVERALL, WITHOUT_TIES, COHEN_KAPPA)
    )
    pairs = np.unique(who * tables.n_queries + query) // max(tables.n_queries, 1)
    shared = np.bincount(pairs, minlength=len(names))
    consistency = self_consistencies(quality, len(names), drawn)
    left = left_shares(quality, len(names))
    triads = triads_by_assessor(quality, len(names), drawn)
    return tuple(
        Person(
            assessor=names[a],
            shared_queries=int(shared[a]),
            overall=overall[a],
            without_ties=without_ties[a],
            cohen_kappa=kappa[a],
            error_rate=_error_rate(rates, a),
            self_consistency=consistency[a],
            left=left[a],
            triads=triads[a],
        )
        for a in active.tolist()
    )


def _error_rate(rates: ErrorRates, assessor: int) -> Figure:
    ends = rates.low[assessor], rates.high[assessor]
    return figure(rates.value[assessor], reason=Reason.NOT_IDENTIFIED, ends=ends)


@dataclass(frozen=True, slots=True)
class AssessorView:
    """An assessor, and the share of preferences that the consensus reverses, if any."""

    person: Person
    departure: Figure | None


@dataclass(frozen=True, slots=True)
class PeoplePart:
    """Some rows of the table of assessors: ranks from ``start`` to ``end``."""

    start: int
    end: int
    people: tuple[AssessorView, ...]


@dataclass(frozen=True, slots=True)
class ToolPeople:
    """Assessors of one tool, in ``parts`` of the table; ``histograms`` where there are several.

    At most one of ``grid`` and ``least`` is filled; ``pairs`` is the number of all pairs.
    """

    tool: str
    title: str
    answers_given: bool
    parts: tuple[PeoplePart, ...]
    count: int
    histograms: tuple[Markup, ...]
    plot: Markup | None
    grid: PairGrid | None
    least: tuple[PairRow, ...]
    crowded: bool
    pairs: int
    support: int


def people_view(
    tool: str,
    title: str,
    rows: tuple[Person, ...],
    pairs: tuple[PairRow, ...],
    *,
    departures: Mapping[str, Figure],
    answers_given: bool,
    assessor_pairs: int,
) -> ToolPeople:
    """Build the view of the assessors of one tool, and of their pairs.

    Parameters
    ----------
    tool, title
        Name and title of the tool.
    rows, pairs
        Assessors and pairs of them.
    departures
        Mean departure from the consensus by assessor.
    answers_given
        Whether the tool has raw answers.
    assessor_pairs
        Number of all pairs of assessors who share queries.
    """
    ordered = sorted(rows, key=_by_error_rate)
    estimated = [
        (row.assessor, row.error_rate) for row in ordered if row.error_rate.value is not None
    ]
    names = tuple(sorted({name for row in pairs for name in (row.first, row.second)}))
    fits = len(names) <= MOST_IN_GRID
    views = [AssessorView(row, departures.get(row.assessor)) for row in ordered]
    return ToolPeople(
        tool=tool,
        title=title,
        answers_given=answers_given,
        parts=_parts(views),
        count=len(views),
        histograms=_histograms(ordered) if len(ordered) > PAGE else (),
        plot=forest(estimated[:MOST_IN_GRID]) if estimated and len(ordered) <= PAGE else None,
        grid=pair_grid(names, pairs) if fits and len(names) > 2 else None,
        least=() if fits else least_agreeing(pairs),
        crowded=not fits,
        pairs=assessor_pairs,
        support=LEAST_QUERIES,
    )


def _parts(people: list[AssessorView]) -> tuple[PeoplePart, ...]:
    starts = range(0, len(people), PAGE)
    return tuple(
        PeoplePart(start + 1, min(start + PAGE, len(people)), tuple(people[start : start + PAGE]))
        for start in starts
    )


def _histograms(people: list[Person]) -> tuple[Markup, ...]:
    """Draw how agreement with the rest and error rates are distributed."""
    columns = (
        ("Agreement with the rest", [row.overall.value for row in people]),
        ("Estimated error rate", [row.error_rate.value for row in people]),
    )
    return tuple(
        histogram(title, [value for value in values if value is not None])
        for title, values in columns
        if any(value is not None for value in values)
    )


def _by_error_rate(row: Person) -> tuple[bool, float, float]:
    rate, agreement = row.error_rate.value, row.overall.value
    return rate is None, rate or 0.0, -(agreement or 0.0)


EXPLANATIONS = {
    "error": Explanation(
        "Estimated error rate",
        "Share of page pairs that an assessor reverses, estimated without ground truth. From lists "
        "and grades it is the share of all pairs; from raw answers, of the pairs asked, which is "
        "higher where a sorter asks about close pages. Assessors come from a common distribution, "
        "so that one with few votes is drawn to the others; pairs may be hard or easy. The "
        "interval is of the posterior. Unlike agreement with the rest, it does not depend on who "
        "the others are. Nothing is shown where the shared judgments cannot tell assessors apart, "
        "as with two of them.",
    ),
}
