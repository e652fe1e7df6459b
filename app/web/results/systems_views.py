"""View data of the systems page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self
from urllib.parse import urlencode

from topkapi.app.domain.errors import Invalid
from topkapi.app.services.results.systems.runs import MOST_BYTES, StoredRun
from topkapi.app.web.access.bodies import upload
from topkapi.app.web.jobs.views import Computed
from topkapi.app.web.studies.visit import StudyHead

if TYPE_CHECKING:  # slow to import
    from topkapi.analysis.machines import SystemStrength
    from topkapi.analysis.report.figures import Figure
    from topkapi.analysis.report.subjects.leaderboard import Leaderboard, LeaderRow
    from topkapi.analysis.report.subjects.systems import (
        PoweredScores,
        ScoredSystem,
        SystemReport,
        SystemScores,
    )

RUNS = upload(MOST_BYTES, seconds=600.0)
COMPATIBILITY = "compatibility:.95"
MANY_UNJUDGED = 0.2  # share of the first k from which a score is marked


@dataclass(frozen=True, slots=True)
class FigureCell:
    """A figure as text; ``reason`` says why the value or its interval is missing."""

    value: str
    interval: str
    reason: str

    @classmethod
    def of(cls, found: "Figure") -> Self:
        """Return the cell of a figure."""
        if found.value is None:
            return cls("", "", str(found.reason))
        if found.interval is None:
            return cls(decimals(found.value), "", str(found.no_interval or ""))
        low, high = map(decimals, found.interval)
        return cls(decimals(found.value), f"{low} to {high}", "")


def decimals(value: float, digits: int = 3) -> str:
    """Format a number with a true minus sign."""
    return f"{value:.{digits}f}".replace("-", "−")


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """A system under the chosen measure; ``difference`` is None for the baseline."""

    system: str
    mean: FigureCell
    difference: FigureCell | None
    p: str
    verdict: str
    compatibility: FigureCell
    unjudged: float | None
    queries: int

    @property
    def many_unjudged(self) -> bool:
        """Whether so many pages are unjudged that the score may be far too low."""
        return (self.unjudged or 0.0) >= MANY_UNJUDGED

    @classmethod
    def of(cls, scored: "ScoredSystem", measure: str) -> Self:
        """Return the row of a system."""
        score = scored.score(measure)
        gap = score.difference
        return cls(
            system=scored.system,
            mean=FigureCell.of(score.mean),
            difference=None if gap is None else FigureCell.of(gap.figure),
            p="" if gap is None else decimals(gap.p_holm, 4),
            verdict="" if gap is None else gap.verdict,
            compatibility=FigureCell.of(scored.score(COMPATIBILITY).mean),
            unjudged=scored.unjudged,
            queries=scored.queries,
        )


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """A measure: the mean of every system, and ``better``, ``worse`` or ``not significant``."""

    name: str
    less_is_better: bool
    cells: Sequence[tuple[FigureCell, str]]

    @classmethod
    def of(cls, found: "SystemScores", name: str) -> Self:
        """Return the row of a measure."""
        scores = [each.score(name) for each in found.systems]
        verdicts = ["" if each.difference is None else each.difference.verdict for each in scores]
        cells = [FigureCell.of(score.mean) for score in scores]
        return cls(name, name in found.losses, list(zip(cells, verdicts, strict=True)))


@dataclass(frozen=True, slots=True)
class ScoresView:
    """Scores by the chosen measure, best first, and by all measures."""

    truth: str
    measure: str
    baseline: str
    k: int
    queries: int
    systems: Sequence[str]
    rows: Sequence[ScoreRow]
    measures: Sequence[MeasureRow]
    plot: str
    shared: bool = False

    @property
    def chosen(self) -> str:
        """Ground truth, baseline and queries, as a query string."""
        found = {"truth": self.truth, "baseline": self.baseline}
        return "?" + urlencode(found | ({"shared": "true"} if self.shared else {}))


@dataclass(frozen=True, slots=True)
class BoardView:
    """The leaderboard, and the agreement of its assessors."""

    comparisons: int
    queries: int
    assessors: int
    lines: Sequence[tuple["LeaderRow", FigureCell]]
    shared_votes: int
    agreement: Sequence[tuple[str, FigureCell]]
    adjusted: Mapping[str, FigureCell]  # strengths at equal lengths
    doubling: str  # what a list gains by being twice as long
    queries_needed: int  # before any two systems can differ beyond chance

    @classmethod
    def of(cls, board: "Leaderboard") -> Self:
        """Return the view of a leaderboard."""
        from topkapi.analysis.report.subjects.leaderboard import queries_needed

        agreed = board.agreement
        figures = (
            ("Agreement of assessors", FigureCell.of(agreed.overall)),
            ("Without ties", FigureCell.of(agreed.without_ties)),
            ("Krippendorff’s alpha", FigureCell.of(agreed.krippendorff_alpha)),
        )
        lines = [(row, FigureCell.of(row.worth)) for row in board.rows]
        counts = (board.comparisons, board.queries, board.assessors)
        found = board.at_equal_lengths
        adjusted = {} if found is None else {row.system: _ends(row) for row in found.systems}
        doubling = "" if found is None else decimals(found.doubling)
        needed = queries_needed(len(board.rows))
        return cls(*counts, lines, agreed.votes, figures, adjusted, doubling, needed)


def _ends(row: "SystemStrength") -> FigureCell:
    ends = row.adjusted_ends
    interval = "" if ends is None else f"{decimals(ends[0])} to {decimals(ends[1])}"
    return FigureCell(decimals(row.adjusted), interval, "" if ends else "too few queries")


@dataclass(frozen=True, slots=True)
class SystemsView:
    """Runs, scores and leaderboard; ``most`` is the size of the largest upload.

    ``computed`` is the state of labels that a job computes.
    """

    head: StudyHead
    runs: Sequence[StoredRun]
    truths: Sequence[str]
    scores: ScoresView | None
    board: BoardView | None
    powered: Sequence["PoweredScores"]
    most: str
    problems: Sequence[str] = ()
    computed: Computed | None = None


def scores_view(scores: "SystemScores", measure: str) -> ScoresView:
    """Return the view of scores by ``measure``, or the main one; raise Invalid if unknown."""
    name = measure or scores.measures[0]
    if name not in scores.measures:
        known = ", ".join(scores.measures)
        raise Invalid(f"There is no measure {name!r}: use {known}.", field="measure")
    sign = 1 if name in scores.losses else -1

    def best_first(system: "ScoredSystem") -> tuple[bool, float, str]:
        mean = system.score(name).mean.value
        return mean is None, sign * (mean or 0.0), system.system

    from topkapi.analysis.report.svg import score_plot

    ordered = sorted(scores.systems, key=best_first)
    return ScoresView(
        truth=scores.truth,
        measure=name,
        baseline=scores.baseline or "",
        k=scores.k,
        queries=scores.queries,
        systems=[each.system for each in scores.systems],
        rows=[ScoreRow.of(each, name) for each in ordered],
        measures=[MeasureRow.of(scores, each) for each in scores.measures],
        plot=score_plot(name, [(each.system, each.score(name).mean) for each in ordered]),
    )


def systems_view(
    head: StudyHead,
    runs: Sequence[StoredRun],
    report: "SystemReport | None",
    measure: str,
    most: str,
    problems: Sequence[str] = (),
    *,
    computed: Computed | None = None,
    shared: bool = False,
) -> SystemsView:
    """Return the view of the page; raise Invalid for an unknown measure."""
    scores, board = (report.scores, report.leaderboard) if report else (None, None)
    return SystemsView(
        head=head,
        runs=runs,
        truths=report.truths if report else (),
        scores=None if scores is None else replace(scores_view(scores, measure), shared=shared),
        board=None if board is None else BoardView.of(board),
        powered=(report.powered or ()) if report else (),
        most=most,
        problems=problems,
        computed=computed,
    )
