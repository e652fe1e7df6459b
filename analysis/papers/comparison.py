"""The papers' tables, made from result rows."""

from collections.abc import Sequence

import numpy as np

from topkapi.analysis.data.folds import FoldSet, Truth, with_truth
from topkapi.analysis.experiments.compare import CUTS, ModelEntry, cuts_of, gather, mean_over_folds
from topkapi.analysis.experiments.grids import title
from topkapi.analysis.experiments.tables import Table
from topkapi.analysis.metrics import evaluate
from topkapi.analysis.significance import holm, randomisation_test
from topkapi.analysis.tasks import Row

PARENTS = {
    "focused-svm": ("svm-map", "ranksvm"),
    "focused-boost": ("adarank", "rankboost"),
    "focused-net": ("listnet", "ranknet"),
}
ALPHA = 0.05


def niu_columns(truth: Truth, rule: str, k: int = 10) -> dict[str, str]:
    """Return the columns of Tables 4 and 5 of [NGLC12]_: heading -> measure, no deeper than k."""
    if truth == "topk":
        cuts = cuts_of(truth, k)
        return {**{f"κ-N@{cut}": f"kappa-ndcg@{cut}" for cut in cuts}, "κ-ERR": "kappa-err"}
    stem = "letor4-ndcg" if rule == "letor4" else "ndcg"
    return {**{f"N@{cut}": f"{stem}@{cut}" for cut in CUTS}, "ERR": "err", "MAP": "map"}


def xia_columns() -> dict[str, str]:
    """Return the columns of the tables of [XLL09]_."""
    return {
        **{f"N@{cut}": f"ndcg@{cut}" for cut in (1, 3, 10)},
        **{f"P@{cut}": f"p@{cut}" for cut in (1, 3, 10)},
    }


def comparison_table(
    rows: Sequence[Row],
    entries: Sequence[ModelEntry],
    truth: Truth,
    columns: dict[str, str],
    name: str,
) -> Table:
    """Make a table of means over folds.

    A dagger marks values that the column's best beats significantly.
    """
    folds_of = {
        entry: {
            heading: gather(rows, truth, entry, measure) for heading, measure in columns.items()
        }
        for entry in entries
    }
    names = [title(entry.model, entry.k) for entry in entries]
    means = [[mean_over_folds(folds_of[entry][each]) for each in columns] for entry in entries]
    marks: set[tuple[str, str]] = set()
    for column, heading in enumerate(columns):
        marks |= _beaten(
            [
                (shown, row[column], folds_of[entry][heading])
                for shown, row, entry in zip(names, means, entries, strict=True)
            ],
            heading,
        )
    note = (
        f"worse than the best of its column: paired randomisation test over queries, p < {ALPHA} "
        "after Holm's correction for the models of the column"
    )
    lines: list[tuple[str, list[float | None]]] = [
        (shown, [*row]) for shown, row in zip(names, means, strict=True)
    ]
    failed = _failures(rows, truth)
    notes = [note] * bool(marks) + [f"empty: could not be fitted ({failed})"] * bool(failed)
    return Table(name, list(columns), lines, frozenset(marks), "; ".join(notes))


def reach_note(fold_set: FoldSet, k: int, seed: int, measure: str = "kappa-ndcg@10") -> str:
    """Tell what random scores and perfect grades reach on the top-k ground truth of graded data.

    Equal grades are ordered at random in the truth, so not even the grades themselves reach 1.
    """
    floors: list[float] = []
    ceilings: list[float] = []
    for fold in fold_set.folds:
        truth = with_truth(fold, "topk", k, seed).test
        for scores, found in (
            (np.zeros(truth.n_rows), floors),
            (fold.test.labels, ceilings),
        ):
            values = evaluate(truth, scores, [measure], ties="expected")
            found.append(values[measure])
    low, high = float(np.mean(floors)), float(np.mean(ceilings))
    return f"{measure} of random scores {low:.3f}, of perfect grades {high:.3f}"


def _failures(rows: Sequence[Row], truth: Truth) -> str:
    """Return the models that could not be fitted, each with its first reason."""
    reasons: dict[str, str] = {}
    for row in rows:
        if row["truth"] == truth and "failed" in row:
            reasons.setdefault(title(row["model"], row["model_k"]), row["failed"])
    return "; ".join(f"{name}: {reason}" for name, reason in reasons.items())


def _beaten(
    found: list[tuple[str, float | None, list[list[float]]]], heading: str
) -> set[tuple[str, str]]:
    column = [(name, mean, values) for name, mean, values in found if mean is not None]
    if not column:
        return set()
    best = max(column, key=lambda cell: cell[1])
    others = [cell for cell in column if cell[0] != best[0]]
    chances = corrected_tests(best[2], [cell[2] for cell in others])
    return {(cell[0], heading) for cell, p in zip(others, chances, strict=True) if p < ALPHA}


def corrected_tests(one: list[list[float]], others: Sequence[list[list[float]]]) -> list[float]:
    """Compare values by fold with those of others: the p of each paired test, after Holm."""
    flat = np.concatenate(one)
    return holm([randomisation_test(flat, np.concatenate(each), rounds=2000) for each in others])


def parents_table(rows: Sequence[Row], truth: Truth, measures: dict[str, str], name: str) -> Table:
    """Make a table of FocusedRank minus each parent.

    The p values of the paired randomisation test are corrected.
    """
    failed = {row["model"] for row in rows if row["truth"] == truth and "failed" in row}
    have = {row["model"] for row in rows} - failed
    pairs = [
        (child, parent)
        for child, parents in PARENTS.items()
        for parent in parents
        if {child, parent} <= have
    ]
    columns: list[str] = []
    cells: list[list[float | None]] = [[] for _ in pairs]
    for heading, measure in measures.items():
        gains, chances = [], []
        for child, parent in pairs:
            first = gather(rows, truth, ModelEntry(child), measure)
            second = gather(rows, truth, ModelEntry(parent), measure)
            gains.append((mean_over_folds(first) or 0.0) - (mean_over_folds(second) or 0.0))
            chances.append(randomisation_test(np.concatenate(first), np.concatenate(second)))
        columns += [heading, f"p ({heading})"]
        for line, gain, chance in zip(cells, gains, holm(chances), strict=True):
            line += [gain, chance]
    lines = [
        (f"{title(child)} − {title(parent)}", line)
        for (child, parent), line in zip(pairs, cells, strict=True)
    ]
    return Table(name, columns, lines, bold=False)


def seconds_table(rows: Sequence[Row], entries: Sequence[ModelEntry], name: str) -> Table:
    """Make a table of processor seconds per fold, tuning included, per ground truth."""
    truths = list(dict.fromkeys(row["truth"] for row in rows))
    lines: list[tuple[str, list[float | None]]] = []
    for entry in entries:
        line: list[float | None] = []
        for truth in truths:
            seconds = [
                row["seconds"]
                for row in rows
                if (row["model"], row["model_k"], row["truth"]) == (entry.model, entry.k, truth)
                and "failed" not in row
            ]
            line.append(float(np.mean(seconds)) if seconds else None)
        lines.append((title(entry.model, entry.k), line))
    return Table(name, [f"{truth}, s" for truth in truths], lines, digits=2, bold=False)
