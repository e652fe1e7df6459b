"""How well consensus orders predict votes that were held out: Bradley-Terry and Kemeny.

    .venv/bin/python -m bench.consensus [--splits 5]

A share of the votes of every query, or of its pairs with all their votes, is learned from, the rest
predicted; ties are not counted. Image search and CAsT2019. Prints one JSON line per setting.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from topkapi.analysis.aggregation import bradley_terry_consensus, consensus_of
from topkapi.analysis.agreement import Judgments, QueryVotes, from_judgments
from topkapi.analysis.report.sources import read_preferences
from topkapi.analysis.report.study import StudyData
from topkapi.analysis.typing import IntArray

DATA = Path(__file__).parents[2] / "shared" / "data"
FILES = {
    "image search": ["prefs-image-search/image_pairs_annotation.gz"],
    "CAsT2019, crowd": ["prefs-CAsT2019/TREC-CAsT-2019.pref.gz"],
}


def right(order: IntArray, block: QueryVotes) -> tuple[int, int]:
    """Count the strict votes of a block, and those that the order predicts."""
    rank = np.argsort(order)
    ahead = rank[block.first] < rank[block.second]
    predicted = np.where(ahead, 0, 2)
    strict = (block.votes == 0) | (block.votes == 2)
    return int(((block.votes == predicted) & strict).sum()), int(strict.sum())


def _first_of_pair(asked: Judgments) -> IntArray:
    """Return the first row of the same pair for every row."""
    turned = asked.oriented()
    keys = np.stack([turned.query, turned.left, turned.right])
    _, first, inverse = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    found: IntArray = first[inverse.ravel()]
    return found


def held_out(
    study: StudyData,
    *,
    splits: int,
    share: float,
    by_pair: bool = False,
    most_queries: int | None = None,
) -> dict[str, float]:
    """Return the accuracy on held-out votes of both orders, over all queries and splits."""
    asked = study.tools[0].judgments
    assert asked is not None
    if most_queries is not None:
        asked = asked.take(asked.query < most_queries)
    sizes = len(study.assessors), len(study.queries)
    hits = {"bradley_terry": 0, "kemeny": 0}
    votes = 0
    for seed in range(splits):
        learn = np.random.default_rng(seed).random(len(asked)) < share
        if by_pair:
            learn = learn[_first_of_pair(asked)]
        train = {b.query: b for b in from_judgments(asked.take(learn), *sizes).blocks}
        for block in from_judgments(asked.take(~learn), *sizes).blocks:
            if block.query not in train:
                continue
            n = len(study.documents[block.query])
            orders = {
                "bradley_terry": bradley_terry_consensus(train[block.query], n).order,
                "kemeny": consensus_of(train[block.query], n, np.ones(sizes[0])).order,
            }
            for name, order in orders.items():
                found, total = right(order, block)
                hits[name] += found
            votes += total
    return {name: round(count / max(votes, 1), 4) for name, count in hits.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=5)
    splits = parser.parse_args().splits
    for name, files in FILES.items():
        study = read_preferences([DATA / file for file in files])
        for share in (0.8, 0.5, 0.2):
            for by_pair in (True, False):
                found = held_out(study, splits=splits, share=share, by_pair=by_pair)
                setting = {"held_out": "pairs" if by_pair else "votes", "learned": share}
                print(json.dumps({"data": name, **setting, **found}), flush=True)


if __name__ == "__main__":
    main()
