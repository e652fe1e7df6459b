"""Time NDCG@10 of 10,000 queries x 100 documents against pytrec_eval, in one run.

python -m bench.metrics
"""

import time
from collections.abc import Callable

import numpy as np
import pytrec_eval

from topkapi.analysis.data import RankingData
from topkapi.analysis.metrics import evaluate


def best_of(action: Callable[[], object], times: int = 5) -> float:
    """Return the least processor seconds of several runs."""
    seconds = []
    for _ in range(times):
        start = time.process_time()
        action()
        seconds.append(time.process_time() - start)
    return min(seconds)


def main(n_queries: int = 10_000, n_documents: int = 100) -> None:
    rng = np.random.default_rng(0)
    labels = rng.choice([0, 1, 2], size=(n_queries, n_documents), p=[0.8, 0.13, 0.07])
    scores = rng.random((n_queries, n_documents))
    offsets = np.arange(n_queries + 1) * n_documents
    data = RankingData(np.zeros((labels.size, 1)), labels.ravel().astype(float), offsets)
    names = [f"d{number:03d}" for number in range(n_documents)]
    gains = 2**labels - 1
    qrel = {
        str(query): dict(zip(names, map(int, gains[query]), strict=True))
        for query in range(n_queries)
    }
    run = {
        str(query): dict(zip(names, map(float, scores[query]), strict=True))
        for query in range(n_queries)
    }
    evaluator = pytrec_eval.RelevanceEvaluator(qrel, {"ndcg_cut.10"})
    theirs = evaluator.evaluate(run)
    ours = evaluate(data, scores.ravel(), ["ndcg@10"], per_query=True)["ndcg@10"]
    reference = [theirs[str(query)]["ndcg_cut_10"] for query in range(n_queries)]
    print(f"largest difference {np.abs(ours - reference).max():.2e}")
    slow = best_of(lambda: evaluator.evaluate(run), 3)
    fast = best_of(lambda: evaluate(data, scores.ravel(), ["ndcg@10"]))
    print(f"topkapi {fast:.3f} s, pytrec_eval {slow:.3f} s, ratio {slow / fast:.1f}")


if __name__ == "__main__":
    main()
