"""Agreement of one tool, pooled over assessors: matrix, shares, coefficients, list similarity."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topkapi.analysis.agreement import (
    ListSimilarity,
    PairTables,
    RatingSums,
    Resamples,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
)
from topkapi.analysis.agreement.tables import mean_of
from topkapi.analysis.report.figures import (
    COHEN_KAPPA,
    OVERALL,
    WITHOUT_TIES,
    Explanation,
    Figure,
    Matrix,
    Measure,
    Reason,
    matrix,
    mean_sums,
    measured,
    supported_tau,
)
from topkapi.analysis.report.numbers import Form
from topkapi.analysis.report.subjects.consensus import MOST_QUERIES
from topkapi.analysis.report.subjects.queries import QueryAgreement

FLEISS_KAPPA = Measure(lambda sums: fleiss_kappa(RatingSums(sums)), Reason.ONE_CATEGORY)
ALPHA = Measure(lambda sums: krippendorff_alpha(RatingSums(sums)), Reason.ONE_CATEGORY)
GWET_AC1 = Measure(lambda sums: gwet_ac1(RatingSums(sums)), Reason.ONE_CATEGORY)
BEHIND = 6  # queries named for a cell of a matrix
NAMES = ("A", "tie", "B")
MEASURES: dict[str, Form] = {
    "overall": "percent",
    "without_ties": "percent",
    "cohen_kappa": "number",
    "fleiss_kappa": "number",
    "krippendorff_alpha": "number",
    "gwet_ac1": "number",
    "tau_b": "number",
    "rbo": "number",
}  # fields of Agreement in the order of the page's table, each with its explanation below


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement over all pairs of assessors who share queries."""

    matrix: Matrix
    matrix_both_orders: Matrix
    votes: int
    queries: int
    assessor_pairs: int
    overall: Figure
    without_ties: Figure
    cohen_kappa: Figure
    fleiss_kappa: Figure
    krippendorff_alpha: Figure
    gwet_ac1: Figure
    tau_b: Figure
    rbo: Figure


def pooled(
    tables: PairTables, ratings: RatingSums, lists: ListSimilarity | None, drawn: Resamples
) -> Agreement:
    """Sum agreement over all pairs of assessors who share queries."""
    counts = tables.in_both_orders()
    by_query = counts.reshape(-1, 9).astype(float)
    table = tables.pooled(symmetric=True)
    tau, rbo = _similarity(tables, lists, drawn)
    return Agreement(
        matrix=matrix(counts.sum(axis=0)),
        matrix_both_orders=matrix(table + table[::-1, ::-1]),
        votes=int(tables.counts.sum()),
        queries=int(np.unique(tables.query).size),
        assessor_pairs=int(tables.pairs()[0].size),
        overall=measured(OVERALL, by_query, drawn),
        without_ties=measured(WITHOUT_TIES, by_query, drawn),
        cohen_kappa=measured(COHEN_KAPPA, by_query, drawn),
        fleiss_kappa=measured(FLEISS_KAPPA, ratings.values, drawn),
        krippendorff_alpha=measured(ALPHA, ratings.values, drawn),
        gwet_ac1=measured(GWET_AC1, ratings.values, drawn),
        tau_b=tau,
        rbo=rbo,
    )


def _similarity(
    tables: PairTables, lists: ListSimilarity | None, drawn: Resamples
) -> tuple[Figure, Figure]:
    """Return mean tau-b and rank-biased overlap over queries and pairs of assessors."""
    sums = mean_sums(tables.query, supported_tau(tables), tables.n_queries)
    tau = measured(Measure(mean_of, Reason.ALL_TIED), sums, drawn)
    if lists is None:
        return tau, Figure(None, Reason.NO_LISTS if drawn.n_used else Reason.NOTHING_SHARED)
    overlaps = mean_sums(lists.query, lists.rbo, tables.n_queries)
    return tau, measured(Measure(mean_of, Reason.NOTHING_SHARED), overlaps, drawn)


@dataclass(frozen=True, slots=True)
class MeasureFigures:
    """A row of the table of measures: its explanation, its form, a figure per tool."""

    key: str
    form: Form
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class UndefinedMeasures:
    """Titles of the measures of a tool that are undefined for one reason."""

    tool: str
    titles: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class QueryLink:
    """A query behind a cell; ``row`` is its row in the table of queries, None if not shown."""

    query: str
    text: str
    votes: int
    row: int | None


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A cell of a matrix of votes, and the queries with the most votes in it."""

    anchor: str
    first: str
    second: str
    count: int
    share: float | None
    links: tuple[QueryLink, ...]
    more: int


@dataclass(frozen=True, slots=True)
class MatrixView:
    """The matrix of one tool; ``decided`` votes have a preference of both assessors."""

    title: str
    agreement: Agreement
    cells: tuple[tuple[MatrixCell, ...], ...]
    same: int
    strict: int
    decided: int


@dataclass(frozen=True, slots=True)
class AgreementView:
    """Everything the section shows."""

    matrices: tuple[MatrixView, ...]
    measures: tuple[MeasureFigures, ...]
    undefined: tuple[UndefinedMeasures, ...]


def matrix_view(
    tool: str, title: str, agreement: Agreement, queries: Sequence[QueryAgreement]
) -> MatrixView:
    """Build the view of the matrix of a tool, with the queries behind its cells."""
    counts = agreement.matrix.counts
    times = sum(map(sum, counts)) // max(agreement.votes, 1) or 1  # that each vote is counted
    strict = counts[0][0] + counts[2][2]
    return MatrixView(
        title=title,
        agreement=agreement,
        cells=tuple(
            tuple(_cell(tool, agreement.matrix, queries, i, j) for j in range(3)) for i in range(3)
        ),
        same=(strict + counts[1][1]) // times,
        strict=strict // times,
        decided=(strict + counts[0][2] + counts[2][0]) // times,
    )


def _cell(
    tool: str, matrix: Matrix, queries: Sequence[QueryAgreement], i: int, j: int
) -> MatrixCell:
    rows = [
        QueryLink(row.query, row.text, row.counts[i][j], at if at < MOST_QUERIES else None)
        for at, row in enumerate(queries)
        if row.counts[i][j]
    ]
    rows.sort(key=lambda row: -row.votes)
    return MatrixCell(
        anchor=f"behind-{tool}-{i}{j}",
        first=NAMES[i],
        second=NAMES[j],
        count=matrix.counts[i][j],
        share=matrix.shares[i][j],
        links=tuple(rows[:BEHIND]),
        more=max(len(rows) - BEHIND, 0),
    )


def measure_rows(found: Sequence[Agreement]) -> tuple[MeasureFigures, ...]:
    """Return the rows of the table of measures, a column per tool."""
    return tuple(
        MeasureFigures(name, form, tuple(getattr(each, name) for each in found))
        for name, form in MEASURES.items()
    )


def undefined_measures(
    titles: Sequence[str], measures: Sequence[MeasureFigures]
) -> tuple[UndefinedMeasures, ...]:
    """Group the undefined measures of each tool by reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for number, tool in enumerate(titles):
        for measure in measures:
            figure = measure.figures[number]
            if figure.value is None and figure.reason is not None:
                group = found.setdefault((tool, figure.reason), [])
                group.append(EXPLANATIONS[measure.key].title)
    return tuple(
        UndefinedMeasures(tool, tuple(names), reason) for (tool, reason), names in found.items()
    )


EXPLANATIONS = {
    "overall": Explanation(
        "Agreement",
        "Every unordered pair of pages of a query counts once per two assessors who both judged "
        "it. They agree if both answered A better, both tie, or both B better.",
    ),
    "without_ties": Explanation(
        "Agreement without ties",
        "Share of pairs on which both assessors preferred the same page, among the pairs on which "
        "both expressed a preference.",
    ),
    "cohen_kappa": Explanation(
        "Cohen's kappa",
        "Agreement beyond what the two assessors' own shares of A better, tie and B better would "
        "give by chance, from the pooled matrix.",
    ),
    "fleiss_kappa": Explanation(
        "Fleiss' kappa",
        "Like Cohen's kappa, for any number of assessors: chance comes from the shares of all "
        "votes. Pairs may have different numbers of votes (Gwet 2014).",
    ),
    "krippendorff_alpha": Explanation(
        "Krippendorff's alpha",
        "One minus observed over expected disagreement, nominal, corrected for few votes. Pairs "
        "with fewer than two votes do not count.",
    ),
    "gwet_ac1": Explanation(
        "Gwet's AC1",
        "Agreement beyond chance, where chance is small if one answer is much more common than "
        "the others. More stable than kappa when most pairs are ties.",
    ),
    "tau_b": Explanation(
        "Kendall's tau-b",
        "Concordant minus discordant pairs, divided by the geometric mean of the pairs that each "
        "assessor did not tie. Mean over queries and pairs of assessors. Pages outside a list are "
        "tied at its end.",
    ),
    "rbo": Explanation(
        "Rank-biased overlap",
        "Expected overlap of the two lists from the top, persistence 0.9, extrapolated, averaged "
        "over all ways to break ties. Mean over queries and pairs of assessors.",
    ),
}
