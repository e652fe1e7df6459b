"""Scores of systems' runs on people's labels, with intervals over queries and paired tests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from typing import TypeVar

import numpy as np

from topkapi.analysis.agreement import Resamples, resamples
from topkapi.analysis.data.runs import Run, data_of_judgments, run_scores
from topkapi.analysis.errors import BadData
from topkapi.analysis.machines import PoweredSystem, powered_systems
from topkapi.analysis.machines.powered import NOT_DRAWN, QueryValues
from topkapi.analysis.metrics import LOSSES, evaluate, usual_names
from topkapi.analysis.report.figures import OPTIONAL, Figure, Reason, figure, number, why_none
from topkapi.analysis.report.study import StudyName
from topkapi.analysis.report.subjects.leaderboard import Leaderboard
from topkapi.analysis.resampling import IN_TAIL
from topkapi.analysis.significance import holm, randomisation_tests
from topkapi.analysis.typing import FloatArray

LEVEL = 0.05
T = TypeVar("T")
_OTHERS = {  # measures for the other ground truth; kappa-ndcg is ndcg of top-k labels
    "topk": ("ndcg", "letor4-ndcg", "err"),
    "graded": ("kappa-ndcg", "kappa-err"),
}
_FIRST = {"topk": "kappa-ndcg", "graded": "ndcg"}
_NO_QUERY = Figure(None, Reason.NO_JUDGED_QUERY)


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean difference from the baseline, with the p of a paired randomisation test.

    ``p_holm`` is corrected for the number of systems; ``verdict`` is ``better``, ``worse`` or
    ``not significant`` at the level .05, with a loss turned around.
    """

    figure: Figure
    p: float
    p_holm: float
    verdict: str


@dataclass(frozen=True, slots=True)
class SystemScore:
    """Mean of a measure over the judged queries; ``difference`` is None for the baseline."""

    measure: str
    mean: Figure
    difference: Difference | None


@dataclass(frozen=True, slots=True)
class ScoredSystem:
    """A system: judged queries it answered, unjudged share of its first k, and its scores."""

    system: str
    queries: int
    unjudged: float | None
    scores: tuple[SystemScore, ...]

    def score(self, measure: str) -> SystemScore:
        """Return the score by a measure."""
        return next(each for each in self.scores if each.measure == measure)


@dataclass(frozen=True, slots=True)
class SystemScores:
    """Scores of all systems on one ground truth, best first by the first measure.

    ``truth`` is ``topk`` or ``graded``; ``k`` is the depth of measures that are cut; less is better
    in the measures of ``losses``.
    """

    truth: str
    k: int
    queries: int
    baseline: str | None
    measures: tuple[str, ...]
    losses: tuple[str, ...]
    systems: tuple[ScoredSystem, ...]


@dataclass(frozen=True, slots=True)
class PoweredScores:
    """Scores from few queries of people and many of a machine; ``reason`` is why there are none."""

    machine: str
    measure: str
    systems: tuple[PoweredSystem, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemReport:
    """Everything about the systems of a study; None where there is nothing to report.

    ``truths`` are the ground truths on which systems can be scored.
    """

    study: StudyName | None = field(default=None, metadata=OPTIONAL)
    format: str = "topkapi-systems"
    truths: tuple[str, ...]
    scores: SystemScores | None
    leaderboard: Leaderboard | None
    powered: tuple[PoweredScores, ...] | None = field(default=None, metadata=OPTIONAL)


Labels = Mapping[str, Mapping[str, float]]  # query -> document -> label


@dataclass(frozen=True, eq=False)
class RunValues:
    """Values of one run: (n_queries, n_measures), in the order of labels and measures.

    ``values`` is None if the run has none of the judged queries; ``unjudged`` of the ``shown``
    documents among the first k have no label.
    """

    values: FloatArray | None
    queries: int
    unjudged: int
    shown: int


def measures_of(truth: str, k: int) -> tuple[str, ...]:
    """Return the measures for ``topk`` or ``graded`` labels, the main one first.

    >>> measures_of("topk", 5)[:3]
    ('kappa-ndcg@5', 'p@5', 'recall@5')
    """
    names = [name for name in usual_names(k) if _base(name) not in _OTHERS[truth]]
    return tuple(sorted(names, key=lambda name: _base(name) != _FIRST[truth]))


def run_values(labels: Labels, run: Run, measures: Sequence[str], k: int) -> RunValues:
    """Score a run on every judged query, one that it lacks as retrieving nothing.

    Parameters
    ----------
    labels
        Labels of the judged documents of every judged query.
    run
        Scores of the retrieved documents; equal ones are ordered as trec_eval does.
    measures
        Names of measures.
    k
        Depth to which unjudged documents are counted.

    Examples
    --------
    >>> found = run_values({"q": {"a": 1, "b": 0}}, {"q": {"c": 2.0, "a": 1.0}}, ["p@2"], 2)
    >>> found.values.tolist(), found.unjudged, found.shown
    ([[0.5]], 1, 2)
    """
    answered = [query for query in labels if query in run]
    tops = {query: first_documents(run[query], k) for query in answered}
    unjudged = sum(name not in labels[query] for query, top in tops.items() for name in top)
    shown = sum(map(len, tops.values()))
    if not answered:
        return RunValues(None, 0, 0, 0)
    data = data_of_judgments(labels, run)
    found = evaluate(data, run_scores(data, run), measures, per_query=True)
    values = np.stack([found[name] for name in measures], axis=1)
    return RunValues(values, len(answered), unjudged, shown)


def powered_scores(
    machine: str,
    measure: str,
    people: Mapping[str, T],
    judged: Mapping[str, T],
    values: Callable[[Mapping[str, T]], QueryValues],
    *,
    drawn: Sequence[str] | None,
    baseline: str | None = None,
) -> PoweredScores:
    """Score systems from the queries that people judged and those of a machine.

    Parameters
    ----------
    machine
        Name of the machine.
    measure
        Name of the measure.
    people, judged
        What people, and what the machine said about each query.
    values
        Function from this to values by system and query, such as ``score_runs``.
    drawn
        The queries that were drawn at random for people; None if none were.
    baseline
        System to compare the others with.
    """
    try:
        if drawn is None:
            raise BadData(NOT_DRAWN)
        few = {query: people[query] for query in drawn if query in people}
        both = few.keys() & judged.keys()
        if len(both) < len(drawn):
            raise BadData(
                f"people and the machine have judged {len(both)} of the {len(drawn)} queries that "
                "were drawn for people; all of them are needed"
            )
        both_values = values(few), values(judged)
        known = baseline if baseline in both_values[0] else None
        found = powered_systems(*both_values, drawn_at_random=True, baseline=known)
    except BadData as error:
        return PoweredScores(machine, measure, (), str(error))
    return PoweredScores(machine, measure, found)


def score_runs(labels: Labels, runs: Mapping[str, Run], measure: str) -> QueryValues:
    """Return the values of runs by system and query."""
    return {system: _by_query(labels, run, measure) for system, run in runs.items()}


def _by_query(labels: Labels, run: Run, measure: str) -> dict[str, float]:
    values = run_values(labels, run, [measure], 1).values
    if values is None:
        return dict.fromkeys(labels, 0.0)  # nothing retrieved
    return dict(zip(labels, values[:, 0].tolist(), strict=True))


def first_documents(scores: Mapping[str, float], k: int) -> list[str]:
    """Return the first k documents, equal scores in descending order of ids.

    >>> first_documents({"a": 1.0, "b": 1.0, "c": 2.0}, 2)
    ['c', 'b']
    """
    return nlargest(k, scores, key=lambda name: (scores[name], name.encode()))


def system_scores(
    runs: Mapping[str, RunValues],
    *,
    truth: str,
    k: int,
    queries: int,
    baseline: str | None = None,
    draws: int = 2000,
) -> SystemScores:
    """Compare systems with each other, and with a baseline.

    Intervals (95 %) are over resampled queries, tests are paired over queries, and p values of a
    measure are corrected for the number of systems by Holm's rule.

    Parameters
    ----------
    runs
        Values of each system by :func:`run_values`, with the measures of :func:`measures_of`.
    truth
        ``topk`` or ``graded``.
    k
        Depth of the measures.
    queries
        Number of judged queries.
    baseline
        System that the others are compared with.
    draws
        Number of resamples.
    """
    measures = measures_of(truth, k)
    drawn = resamples(np.ones(queries), draws=draws, in_tail=IN_TAIL)
    found = {name: each.values for name, each in runs.items() if each.values is not None}
    means = {name: _means(values, drawn) for name, values in found.items()}
    against = _differences(found, measures, baseline, drawn)
    systems = [
        ScoredSystem(
            name,
            each.queries,
            each.unjudged / each.shown if each.shown else None,
            tuple(
                SystemScore(
                    measure,
                    means[name][index] if name in means else _NO_QUERY,
                    against[name][index] if name in against else None,
                )
                for index, measure in enumerate(measures)
            ),
        )
        for name, each in runs.items()
    ]
    systems.sort(key=lambda each: (-_known(each.scores[0].mean), each.system))
    losses = tuple(name for name in measures if _base(name) in LOSSES)
    return SystemScores(truth, k, queries, baseline, measures, losses, tuple(systems))


def _known(mean: Figure) -> float:
    return -np.inf if mean.value is None else mean.value


def _base(name: str) -> str:
    return name.partition("@")[0].partition(":")[0]


def _means(values: FloatArray, drawn: Resamples) -> list[Figure]:
    """Return the mean of each column (n_queries, m) with its interval."""
    low, high = drawn.interval(values, lambda sums: sums / values.shape[0])
    ends = zip(values.mean(axis=0), low, high, strict=True)
    reason = why_none(drawn)
    return [figure(mean, ends=(one, two), no_interval=reason) for mean, one, two in ends]


def _differences(
    values: Mapping[str, FloatArray],
    measures: Sequence[str],
    baseline: str | None,
    drawn: Resamples,
) -> dict[str, list[Difference]]:
    """Return the differences of every other system from the baseline, by measure."""
    others = [name for name in values if name != baseline]
    if baseline is None or baseline not in values or not others:
        return {}
    gaps: list[FloatArray] = [np.subtract(values[name], values[baseline]) for name in others]
    chances = randomisation_tests(np.concatenate(gaps, axis=1)).reshape(len(others), -1)
    corrected = np.array([holm(column.tolist()) for column in chances.T]).T
    result = {}
    for row, name in enumerate(others):
        means = _means(gaps[row], drawn)
        result[name] = [
            Difference(mean, float(p), float(p_holm), _verdict(measure, mean, float(p_holm)))
            for measure, mean, p, p_holm in zip(
                measures, means, chances[row], corrected[row], strict=True
            )
        ]
    return result


def _verdict(measure: str, mean: Figure, p: float) -> str:
    if p >= LEVEL or not mean.value:
        return "not significant"
    return "better" if (mean.value > 0) != (_base(measure) in LOSSES) else "worse"


def table_rows(scores: SystemScores) -> list[list[object]]:
    """Return the scores as rows of a table with a head, one row per system and measure."""
    head: list[object] = [
        *("system", "measure", "mean", "low", "high", "baseline", "difference"),
        *("difference_low", "difference_high", "p", "p_holm", "verdict", "queries", "unjudged"),
    ]
    return [head, *(_row(scores, each, one) for each in scores.systems for one in each.scores)]


def _row(scores: SystemScores, system: ScoredSystem, one: SystemScore) -> list[object]:
    gap = one.difference
    tested: list[object] = [None] * 7
    if gap is not None:
        tested = [scores.baseline, *_ends(gap.figure), gap.p, gap.p_holm, gap.verdict]
    share = None if system.unjudged is None else number(system.unjudged)
    return [system.system, one.measure, *_ends(one.mean), *tested, system.queries, share]


def _ends(found: Figure) -> list[object]:
    low, high = found.interval or (None, None)
    return [found.value, low, high]
