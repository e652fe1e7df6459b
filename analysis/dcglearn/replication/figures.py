"""The simulations of [ZZCX13]_, section 5.2 and 5.5: Figures 2 to 10, 21 and 22."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from topkapi.analysis.dcglearn.active import fit_labels, label_actively
from topkapi.analysis.dcglearn.learner import DCGLearn
from topkapi.analysis.dcglearn.replication.curves import Curves
from topkapi.analysis.dcglearn.replication.simulated import (
    Pool,
    pairs_with_the_best,
    random_pairs,
    true_gains,
    with_noisy_grades,
)
from topkapi.analysis.dcglearn.similarity import accuracy, centred_similarity, t_similarity
from topkapi.analysis.dcglearn.solver import Penalty
from topkapi.analysis.typing import FloatArray, IntArray

SIZES = (20, 50, 100, 200, 400, 800)
GRID = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 5.0)
"""Values of C that noisy settings choose from, on validation pairs."""
N_TEST = 4000
N_POOL = 2000

Study = Callable[[np.random.Generator], Sequence[float]]


def learn(
    pool: Pool, signs: IntArray | None = None, *, c: float = 5.0, penalty: Penalty = "steps"
) -> DCGLearn:
    """Learn from a pool whose answers are ``signs`` (n,), the true ones if None."""
    answers = pool.signs if signs is None else signs
    model = DCGLearn(c=c, penalty=penalty)
    return fit_labels(model, pool.differences, answers, np.arange(answers.size), shape=pool.shape)


def share_right(model: DCGLearn, test: Pool) -> float:
    """Compute the share of the test pairs that the model decides as the truth does."""
    return accuracy(test.differences @ model.steps_, test.signs)


def chosen_c(pool: Pool, signs: IntArray, validation: Pool, grid: Sequence[float] = GRID) -> float:
    """Choose the C whose model is most often right on validation pairs, the smallest of equals."""
    return max(grid, key=lambda c: (share_right(learn(pool, signs, c=c), validation), -c))


def mean_lines(
    names: Sequence[str], experiment: Study, runs: int, seed: int
) -> dict[str, FloatArray]:
    """Return the mean over runs of an experiment that gives one row of values per name."""
    values = np.array([experiment(np.random.default_rng([seed, run])) for run in range(runs)])
    means = values.reshape(runs, len(names), -1).mean(axis=0)
    return dict(zip(names, means, strict=True))


def by_training_size(data: int, runs: int, seed: int, sizes: Sequence[int] = SIZES) -> Curves:
    """Draw Figures 2 and 3: accuracy by training pairs, beside the other data's true gains."""
    truth, other = true_gains(data).table, true_gains(3 - data).table

    def experiment(rng: np.random.Generator) -> list[float]:
        train, test = random_pairs(max(sizes), truth, rng), random_pairs(N_TEST, truth, rng)
        found = [share_right(learn(train.first(n)), test) for n in sizes]
        return found + [agreement(other, test)] * len(sizes)

    lines = mean_lines(("DCGLearn", "Other"), experiment, runs, seed)
    title = f"Accuracy by training pairs, Data {data}"
    return curves(str(data + 1), title, "training pairs", sizes, lines)


def by_difference(data: int, runs: int, seed: int) -> Curves:
    """Draw Figures 4 and 5: accuracy by the true difference of the lists, from 800 pairs."""
    truth, other = true_gains(data).table, true_gains(3 - data).table
    edges = np.linspace(0.0, 1.0, 11)
    sample = random_pairs(N_TEST, truth, np.random.default_rng([seed, 2**20]))
    scale = float(np.quantile(np.abs(sample.gaps), 0.9))

    def experiment(rng: np.random.Generator) -> list[float]:
        train, test = random_pairs(800, truth, rng), random_pairs(5 * N_TEST, truth, rng)
        where = np.digitize(np.abs(test.gaps) / scale, edges) - 1
        parts = [test.take(where == bin_) for bin_ in range(10)]
        model = learn(train)
        return [share_right(model, part) for part in parts] + [
            agreement(other, part) for part in parts
        ]

    lines = mean_lines(("DCGLearn", "Other"), experiment, runs, seed)
    middles = (scale * (edges[:-1] + edges[1:]) / 2).tolist()
    title = f"Accuracy by true difference, Data {data}"
    return curves(str(data + 3), title, "DCG difference", middles, lines)


def similarities(runs: int, seed: int, sizes: Sequence[int] = SIZES) -> Curves:
    """Draw Figure 6: both similarities to the true weights, by training pairs."""
    truths = [true_gains(data).table for data in (1, 2)]

    def experiment(rng: np.random.Generator) -> list[float]:
        values: list[float] = []
        for truth in truths:
            train = random_pairs(max(sizes), truth, rng)
            models = [learn(train.first(n)) for n in sizes]
            values += [t_similarity(model.weights_, truth) for model in models]
            values += [centred_similarity(model.weights_, truth) for model in models]
        return values

    names = ("T, Data 1", "centred, Data 1", "T, Data 2", "centred, Data 2")
    lines = mean_lines(names, experiment, runs, seed)
    return curves("6", "Similarity to the true weights", "training pairs", sizes, lines)


def with_noise(
    kind: str, runs: int, seed: int, amounts: Sequence[int] = (5, 25, 50, 100, 150, 200)
) -> Curves:
    """Draw Figures 7 (``pairs`` reversed) and 8 (``grades`` changed), of 800 training pairs."""
    truths = [true_gains(data).table for data in (1, 2)]

    def experiment(rng: np.random.Generator) -> list[float]:
        return [_noisy_accuracy(kind, truth, amount, rng) for truth in truths for amount in amounts]

    lines = mean_lines(("Data 1", "Data 2"), experiment, runs, seed)
    number = "7" if kind == "pairs" else "8"
    return curves(number, f"Accuracy by noisy {kind}", f"noisy {kind}", amounts, lines)


def _noisy_accuracy(kind: str, truth: FloatArray, amount: int, rng: np.random.Generator) -> float:
    train, validation = random_pairs(800, truth, rng), random_pairs(800, truth, rng)
    test = random_pairs(N_TEST, truth, rng)
    signs = train.signs
    if kind == "pairs":
        signs[rng.choice(800, size=amount, replace=False)] *= -1
    else:
        train = with_noisy_grades(train, amount, rng)
    return share_right(learn(train, signs, c=chosen_c(train, signs, validation)), test)


def with_the_best(
    runs: int,
    seed: int,
    *,
    other_documents: bool,
    sizes: Sequence[int] = SIZES,
    penalty: Penalty = "steps",
) -> Curves:
    """Draw Figures 9 and 10: every training pair holds the best ranking.

    In 10 the other ranking has other grades.

    Figure 10 also shows random pairs, as printed. In Figure 9 every compatible weight decides the
    training pairs alike, so the penalty alone chooses among them: the printed one (``weights``)
    ends lower than that on steps.
    """
    truths = [true_gains(data).table for data in (1, 2)]

    def experiment(rng: np.random.Generator) -> list[float]:
        values: list[float] = []
        for truth in truths:
            test = random_pairs(N_TEST, truth, rng)
            train = pairs_with_the_best(max(sizes), truth, rng, other_documents=other_documents)
            values += [share_right(learn(train.first(n), penalty=penalty), test) for n in sizes]
            if other_documents:
                plain = random_pairs(max(sizes), truth, rng)
                values += [share_right(learn(plain.first(n)), test) for n in sizes]
        return values

    names = [f"best ranking, Data {data}" for data in (1, 2)]
    if other_documents:
        names = [name for each in names for name in (each, each.replace("best", "random"))]
    lines = mean_lines(names, experiment, runs, seed)
    title = "Pairs with the best ranking" + (" of other documents" if other_documents else "")
    return curves("10" if other_documents else "9", title, "training pairs", sizes, lines)


def actively(
    data: int, runs: int, seed: int, sizes: Sequence[int] = (20, 40, 60, 80, 100, 150, 200)
) -> Curves:
    """Draw Figures 21 and 22: active learning beside random pairs."""
    truth = true_gains(data).table

    def experiment(rng: np.random.Generator) -> list[float]:
        pool, test = random_pairs(N_POOL, truth, rng), random_pairs(N_TEST, truth, rng)
        return active_and_random(pool, test, sizes, int(rng.integers(2**31)))

    lines = mean_lines(("active", "random"), experiment, runs, seed)
    title = f"Active learning, Data {data}"
    return curves(str(data + 20), title, "labelled pairs", sizes, lines)


def active_and_random(pool: Pool, test: Pool, sizes: Sequence[int], seed: int) -> list[float]:
    """Compute accuracy at each size of pairs asked actively, then of pairs asked at random."""
    rows, shape = pool.differences, pool.shape
    orders = (
        label_actively(DCGLearn(), rows, pool.signs, shape=shape, n_labels=max(sizes), seed=seed),
        np.random.default_rng(seed).permutation(pool.gaps.size),
    )
    fit = partial(fit_labels, shape=shape)
    return [
        share_right(fit(DCGLearn(), rows, pool.signs, order[:n]), test)
        for order in orders
        for n in sizes
    ]


def agreement(table: FloatArray, test: Pool) -> float:
    """Compute the share of the test pairs that weights (K, L) decide as the truth does."""
    model = DCGLearn()
    model.steps_ = np.diff(table, axis=1).ravel()
    return share_right(model, test)


def curves(
    number: str, title: str, x_name: str, x: Sequence[float], lines: dict[str, FloatArray]
) -> Curves:
    """Make curves of arrays."""
    plain = {name: tuple(float(value) for value in values) for name, values in lines.items()}
    return Curves(number, title, x_name, tuple(float(value) for value in x), plain)


FIGURES: dict[str, Callable[[int, int], Curves]] = {
    "2": partial(by_training_size, 1),
    "3": partial(by_training_size, 2),
    "4": partial(by_difference, 1),
    "5": partial(by_difference, 2),
    "6": similarities,
    "7": partial(with_noise, "pairs"),
    "8": partial(with_noise, "grades"),
    "9": partial(with_the_best, other_documents=False),
    "10": partial(with_the_best, other_documents=True),
    "21": partial(actively, 1),
    "22": partial(actively, 2),
}
"""Figure number -> experiment(runs, seed)."""
