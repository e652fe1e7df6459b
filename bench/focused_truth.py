"""FocusedRank and top-k ListMLE against their parents on a top-k truth made by people.

    .venv/bin/python -m bench.focused_truth [--repeats 2] [--k 5]

Truth: Bradley-Terry worths of all answers of prefs-DL2021-human, the best k of a topic in order
over the rest. Documents: those with preferences and a text in TREC-DL21-text. Features: eight of
the text, and the reciprocal rank that each of the 25 runs gave. Topics are left out in five folds;
values of a topic are averaged over repeated splits. Prints one JSON line per comparison.
"""

import argparse
import csv
import gzip
import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy import stats

from topkapi.analysis.aggregation import bradley_terry, pair_counts
from topkapi.analysis.agreement import from_judgments
from topkapi.analysis.data import RankingData, make_folds, to_topk
from topkapi.analysis.data.folds import fold_set_of, load_fold_set, normalise_by_query
from topkapi.analysis.data.text_features import text_features
from topkapi.analysis.experiments.compare import ModelEntry, compare_tasks
from topkapi.analysis.papers.comparison import PARENTS
from topkapi.analysis.report.sources import read_preferences
from topkapi.analysis.tasks import Store, run_tasks
from topkapi.analysis.typing import FloatArray

DATA = Path(__file__).parents[2] / "shared" / "data"
PAIRS = [*((child, parent) for child, both in PARENTS.items() for parent in both)]
PAIRS.append(("topk-listmle", "listmle"))
FEWEST = 2  # documents of a topic


def read_data(k: int) -> RankingData:
    """Join preferences, texts and runs; labels are k + 1 - rank of the best k worths."""
    study = read_preferences([DATA / "prefs-DL2021-human" / "judgments.txt.gz"])
    asked = study.tools[0].judgments
    assert asked is not None
    texts, topics, ranks = _texts(), _topics(), _ranks()
    runs = sorted({run for found in ranks.values() for run in found})
    parts: list[tuple[str, FloatArray, FloatArray]] = []
    for block in from_judgments(asked, len(study.assessors), len(study.queries)).blocks:
        topic, names = study.queries[block.query], study.documents[block.query]
        worth = bradley_terry(pair_counts(block), len(names)).worth
        kept = [at for at, name in enumerate(names) if name in texts]
        if topic not in topics or len(kept) < FEWEST:
            continue
        bodies = [texts[names[at]] for at in kept]
        words = text_features(topics[topic], [""] * len(kept), bodies)
        found = [[ranks[topic, names[at]].get(run, 0.0) for run in runs] for at in kept]
        order = np.argsort(np.argsort(-worth[kept], kind="stable"))
        labels = np.maximum(k - order, 0).astype(float)
        parts.append((topic, np.hstack([words, np.array(found)]), labels))
    offsets = np.concatenate([[0], np.cumsum([labels.size for _, _, labels in parts])])
    features = np.concatenate([features for _, features, _ in parts])
    labels = np.concatenate([labels for _, _, labels in parts])
    names = tuple(topic for topic, _, _ in parts)
    return normalise_by_query(RankingData(features, labels, offsets, names, topk=k))


def _texts() -> dict[str, str]:
    with gzip.open(DATA / "TREC-DL21-text" / "qrels_text.dl21.gz", "rt", encoding="utf-8") as lines:
        return dict(line.rstrip("\n").split("\t", 1) for line in lines)


def _topics() -> dict[str, str]:
    lines = (DATA / "TREC-DL21-text" / "topics.filtered.dl21.txt").read_text("utf-8").splitlines()
    return dict(line.split("\t", 1) for line in lines)


def _ranks() -> dict[tuple[str, str], dict[str, float]]:
    found: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    path = DATA / "TREC-DL21-text" / "runs-judged.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            found[row["topic"], row["document"]][row["run"]] = 1 / (60 + int(row["rank"]))
    return found


def values(data: RankingData, k: int, repeats: int) -> dict[str, FloatArray]:
    """Return the kappa-NDCG@k of every model and topic, averaged over repeated splits."""
    entries = [ModelEntry(name) for name in sorted({name for pair in PAIRS for name in pair})]
    sums = {entry.model: dict.fromkeys(data.query_ids, 0.0) for entry in entries}
    for seed in range(repeats):
        folds = fold_set_of("DL2021", list(make_folds(data, 5, seed=seed)))
        topics = {fold.name: fold.test.query_ids for fold in folds.folds}
        for row in run_tasks(compare_tasks(folds, entries, ["topk"], k=k, seed=seed), Store()):
            found = zip(topics[row["fold"]], row["values"][f"kappa-ndcg@{k}"], strict=True)
            for topic, value in found:
                sums[row["model"]][topic] += value / repeats
    return {name: np.array(list(found.values())) for name, found in sums.items()}


def effect(differences: FloatArray) -> dict[str, float | int | None]:
    """Return the mean difference with its interval, and the queries that would show it.

    With so many queries a two-sided test at 5 % finds an effect of this size in 80 % of studies.
    """
    n, mean = differences.size, float(differences.mean())
    deviation = float(differences.std(ddof=1))
    half = float(stats.t.ppf(0.975, n - 1)) * deviation / np.sqrt(n)
    needed = int(np.ceil((2.8 * deviation / mean) ** 2)) if mean else None
    ends = {"low": round(mean - half, 4), "high": round(mean + half, 4)}
    return {"difference": round(mean, 4), **ends, "queries_needed": needed}


def equal_grades(k: int = 10) -> float:
    """Return the share of pairs between list and rest of MQ2008 that have equal grades."""
    equal = total = 0
    for fold in load_fold_set(DATA / "MQ2008").folds:
        truth = to_topk(fold.test, k, seed=0)
        for start, stop in pairwise(fold.test.offsets.tolist()):
            grades, inside = fold.test.labels[start:stop], truth.labels[start:stop] > 0
            equal += int((grades[inside][:, None] == grades[~inside]).sum())
            total += int(inside.sum() * (~inside).sum())
    return equal / total


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--mq2008", action="store_true")
    given = parser.parse_args()
    if given.mq2008:
        print(json.dumps({"equal_grades": round(equal_grades(), 3)}))
        return
    data = read_data(given.k)
    size = {"topics": data.n_queries, "documents": data.n_rows, "features": data.n_features}
    print(json.dumps({"k": given.k, "repeats": given.repeats, **size}), flush=True)
    found = values(data, given.k, given.repeats)
    for name, each in found.items():
        print(json.dumps({"model": name, "kappa_ndcg": round(float(each.mean()), 4)}))
    for child, parent in PAIRS:
        print(
            json.dumps({"child": child, "parent": parent, **effect(found[child] - found[parent])})
        )
    focused = [found[child] - found[parent] for child, parent in PAIRS[:-1]]
    print(json.dumps({"pooled": "FocusedRank", **effect(np.mean(focused, axis=0))}))


if __name__ == "__main__":
    main()
