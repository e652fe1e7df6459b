"""Draw docs/figures/active-lists.svg: judgments of lists until learned gains are right.

python -m bench.list_experiment

Queries have graded documents; systems rank them by grade plus noise of their own. A simulated
assessor with known gains judges pairs of systems on the same query, picked at random or actively.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from topkapi.analysis.dcglearn.active import fit_labels, label_actively
from topkapi.analysis.dcglearn.learner import DCGLearn
from topkapi.analysis.dcglearn.replication.curves import Curves
from topkapi.analysis.dcglearn.replication.figures import curves, mean_lines, share_right
from topkapi.analysis.dcglearn.replication.simulated import Pool, judged, true_gains
from topkapi.analysis.typing import FloatArray, IntArray

GRADE_SHARES = (0.35, 0.25, 0.18, 0.13, 0.09)
"""How common grades are among the candidates of a query, worst first."""


@dataclass(frozen=True)
class ListExperiment:
    """Sizes of the simulation, and how its assessor answers.

    A difference of worth under ``same_below`` (as a quantile of all differences) is called the
    same; ``error`` of the other answers are reversed.
    """

    queries: int = 60
    documents: int = 20
    systems: int = 8
    k: int = 10
    same_below: float = 0.0
    error: float = 0.0

    def rankings(self, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Return the grades of both lists of every pair of systems per query, (n, K) each."""
        grades = rng.choice(len(GRADE_SHARES), (self.queries, self.documents), p=GRADE_SHARES)
        noise = np.linspace(0.8, 2.5, self.systems)[None, :, None]
        shape = (self.queries, self.systems, self.documents)
        scores = grades[:, None, :] + noise * rng.standard_normal(shape)
        order = np.argsort(-scores, axis=2, kind="stable")[:, :, : self.k]
        lists = np.take_along_axis(grades[:, None, :], order, axis=2)
        one, other = np.triu_indices(self.systems, k=1)
        return lists[:, one].reshape(-1, self.k), lists[:, other].reshape(-1, self.k)

    def pool(self, truth: FloatArray, rng: np.random.Generator) -> Pool:
        """Return all pairs of systems per query that differ in worth."""
        return judged(*self.rankings(rng), truth)

    def answers(self, pool: Pool, rng: np.random.Generator) -> IntArray:
        """Simulate the answer to each pair: 1, -1, or 0 for the same, (n,)."""
        wrong = rng.random(pool.gaps.size) < self.error
        signs = np.where(wrong, -pool.signs, pool.signs)
        size = np.abs(pool.gaps)
        return np.where(size < np.quantile(size, self.same_below), 0, signs)


def accuracy_by_judgments(
    experiment: ListExperiment,
    data: int = 2,
    *,
    runs: int = 10,
    seed: int = 1,
    sizes: Sequence[int] = tuple(range(20, 401, 20)),
    c: float = 5.0,
) -> Curves:
    """Compute accuracy on other pairs after each number of judgments, active and random."""
    truth = true_gains(data, len(GRADE_SHARES), experiment.k).table

    def one_run(rng: np.random.Generator) -> list[float]:
        pool, test = experiment.pool(truth, rng), experiment.pool(truth, rng)
        answers = experiment.answers(pool, rng)
        judge = int(rng.integers(2**31))
        orders = (
            label_actively(
                _model(c),
                pool.differences,
                answers,
                shape=pool.shape,
                n_labels=max(sizes),
                seed=judge,
            ),
            np.random.default_rng(judge).permutation(pool.gaps.size),
        )
        return [_after(pool, answers, order[:n], test, c) for order in orders for n in sizes]

    lines = mean_lines(("active", "random"), one_run, runs, seed)
    return curves("T3", "Accuracy by judgments of lists", "judgments", sizes, lines)


def judgments_needed(curve: Curves, line: str, target: float = 0.95) -> float:
    """Find where a line first reaches ``target``, between the points.

    Infinity if it never does.
    """
    values = np.array(curve.lines[line])
    reached = np.flatnonzero(values >= target)
    if reached.size == 0:
        return float("inf")
    position = int(reached[0])
    if position == 0:
        return curve.x[0]
    low, high = values[position - 1], values[position]
    share = float((target - low) / (high - low))
    return curve.x[position - 1] + share * (curve.x[position] - curve.x[position - 1])


def _model(c: float) -> DCGLearn:
    return DCGLearn(c=c, c_ties=c)


def _after(pool: Pool, answers: IntArray, chosen: IntArray, test: Pool, c: float) -> float:
    part = pool.take(chosen)
    everything = np.arange(chosen.size)
    model = fit_labels(_model(c), part.differences, answers[chosen], everything, shape=pool.shape)
    return share_right(model, test)


def main(runs: int = 10) -> None:
    lines: dict[str, tuple[float, ...]] = {}
    x: tuple[float, ...] = ()
    for data, name in ((1, "gains l"), (2, "gains 2^l - 1")):
        curve = accuracy_by_judgments(
            ListExperiment(), data, runs=runs, seed=1, sizes=range(20, 481, 20)
        )
        needed = {line: judgments_needed(curve, line) for line in ("active", "random")}
        share = needed["active"] / needed["random"]
        print(f"{name}: 95 % after {needed} judgments, {share:.0%}")
        x = curve.x
        lines |= {f"{line}, {name}": values for line, values in curve.lines.items()}
    out = Path(__file__).parents[1] / "docs/figures"
    out.mkdir(parents=True, exist_ok=True)
    title = "Accuracy by judgments of lists"
    Curves("T3", title, "judgments", x, lines).draw(out / "active-lists.svg")


if __name__ == "__main__":
    main()
