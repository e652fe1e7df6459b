"""View data of a finished comparison of models: tables, curves, differences by query."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from topkapi.app.db.base import Json
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.jobs.comparison_result import (
    ComparedCurve,
    ComparisonResult,
)
from topkapi.app.services.jobs.records import TRUTHS

MOST_ROWS = 50  # of queries and of features
_SHOWN = {"k": (1, 5, 10), "beta": (0, 0.5, 1)}  # labels along the curves


@dataclass(frozen=True, slots=True)
class ScoreCell:
    """A figure of a table; ``worse`` if the best of its column is significantly better."""

    value: float | None
    best: bool
    worse: bool


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model of a comparison; ``p`` tests its difference to the best one."""

    model: str
    title: str
    cells: Sequence[ScoreCell]
    p: float | None
    settings: str
    failed: str | None
    has_document: bool
    has_run: bool


@dataclass(frozen=True, slots=True)
class NumberedQuery:
    """A query of the study: the number in its address, and its text."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class NamedValues:
    """A query with one value per model, or a feature with one weight per model."""

    name: str
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Differences:
    """Values of the baseline by query, and how far each other model is from it.

    A row has the baseline's value, then one difference per model of ``others``, whose ``counts``
    are the queries on which it is better, equal and worse.
    """

    baseline: str
    choices: Sequence[tuple[str, str]]
    others: Sequence[str]
    counts: Sequence[tuple[int, int, int]]
    rows: Sequence[NamedValues]
    query_count: int

    @property
    def title(self) -> str:
        """The baseline's title."""
        return dict(self.choices)[self.baseline]


@dataclass(frozen=True, slots=True)
class Panel:
    """A small plot and the model it is of."""

    title: str
    plot: Markup


@dataclass(frozen=True, slots=True)
class CurvesView:
    """The curves of one measure: a panel and a column per model."""

    over: str
    measure: str
    panels: Sequence[Panel]
    columns: Sequence[str]
    rows: Sequence[tuple[float, Sequence[float]]]


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """The result of a comparison: table, curves, differences by query, weights by size."""

    truth: str
    k: int
    folds: int
    features: int
    from_text: bool
    skipped: Sequence[str]
    columns: Sequence[str]
    measure: str
    note: str
    rows: Sequence[ModelRow]
    query_count: int
    curves: Sequence[CurvesView]
    best: str
    differences: Differences | None
    linear: Sequence[str]
    weights: Sequence[NamedValues]
    links: Mapping[str, NumberedQuery]


def comparison_view(
    result: ComparisonResult, links: Mapping[str, NumberedQuery], baseline: str = ""
) -> ComparisonView:
    """Return the view of a stored result; ``links`` are the study's queries by id.

    ``baseline`` is the model that others are compared with by query, the best one if empty.
    """
    titles = {row.model: row.title for row in result.rows}
    best = next((row.model for row in result.rows if row.p is None and row.failed is None), "")
    weights = result.weights
    return ComparisonView(
        truth=TRUTHS[result.truth],
        k=result.k,
        folds=result.folds,
        features=len(result.features),
        from_text=result.from_text,
        skipped=result.skipped,
        columns=result.columns,
        measure=result.measure,
        note=result.note,
        rows=_rows(result),
        query_count=len(result.queries),
        curves=[_curves(curve, titles, best) for curve in result.curves],
        best=titles.get(best, ""),
        differences=_differences(result, titles, baseline or best),
        linear=[titles[name] for name in weights],
        weights=_named(result.features, weights, lambda each: max(map(abs, each)))[:MOST_ROWS],
        links=links,
    )


def _differences(
    result: ComparisonResult, titles: Mapping[str, str], baseline: str
) -> Differences | None:
    values: Mapping[str, Sequence[float]] = result.per_query
    if len(values) < 2:
        return None
    if baseline not in values:
        raise Invalid(f"The comparison has no model {baseline!r}.", field="baseline")
    of = values[baseline]
    others = {
        name: [value - at for value, at in zip(each, of, strict=True)]
        for name, each in values.items()
        if name != baseline
    }
    rows = _named(result.queries, {baseline: of, **others}, lambda each: max(map(abs, each[1:])))
    return Differences(
        baseline=baseline,
        choices=[(name, titles[name]) for name in values],
        others=[titles[name] for name in others],
        counts=[_counts(each) for each in others.values()],
        rows=rows[:MOST_ROWS],
        query_count=len(rows),
    )


def _counts(differences: Sequence[float]) -> tuple[int, int, int]:
    better = sum(each > 0 for each in differences)
    worse = sum(each < 0 for each in differences)
    return better, len(differences) - better - worse, worse


def _curves(curve: ComparedCurve, titles: Mapping[str, str], best: str) -> CurvesView:
    from topkapi.analysis.report.svg import Curve, panel, steps_around  # loads NumPy

    values: Mapping[str, Sequence[float]] = curve.values
    over, positions = curve.over, curve.positions
    every = [value for each in values.values() for value in each]
    marks = steps_around(min(every), max(every))
    named = {name: Curve(f"{titles[name]}, {curve.measure}", values[name]) for name in values}
    return CurvesView(
        over=over,
        measure=curve.measure,
        panels=[
            Panel(
                titles[name],
                panel(
                    each,
                    positions,
                    marks,
                    shown=_SHOWN[over],
                    beside=named.get(best) if over == "k" and name != best else None,
                    best=over == "beta",
                ),
            )
            for name, each in named.items()
        ],
        columns=[titles[name] for name in values],
        rows=[(at, [each[i] for each in values.values()]) for i, at in enumerate(positions)],
    )


def _rows(result: ComparisonResult) -> list[ModelRow]:
    columns = list(zip(*(row.means for row in result.rows), strict=True))
    best = [max((mean for mean in column if mean is not None), default=None) for column in columns]
    return [
        ModelRow(
            model=row.model,
            title=row.title,
            cells=[
                ScoreCell(mean, mean is not None and mean == top, worse)
                for mean, top, worse in zip(row.means, best, row.worse, strict=True)
            ],
            p=row.p,
            settings=_settings(row.settings or {}),
            failed=row.failed,
            has_document=row.model in result.documents,
            has_run=row.model in result.run.scores,
        )
        for row in result.rows
    ]


def _settings(settings: Json) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items() if name != "measure")


def _named(
    names: Sequence[str],
    columns: Mapping[str, Sequence[float]],
    size: Callable[[Sequence[float]], float],
) -> list[NamedValues]:
    rows = zip(*columns.values(), strict=True)
    found = (
        [NamedValues(name, row) for name, row in zip(names, rows, strict=True)] if columns else []
    )
    return sorted(found, key=lambda each: -size(each.values))
