"""Training times on one core, as ratios to scikit-learn's LogisticRegression and to LightGBM.

python -m bench.models ../shared/data/MQ2008/Fold1/train.txt.gz

LogisticRegression gets the same pairs, as rows of differences. LightGBM runs when it is installed,
RankLib when RANKLIB_JAR names its jar and java is on the path. Also times the LETOR reader against
scikit-learn's. Figures are processor seconds, the best of several runs; the exit code is 1 when a
model takes longer than its limit.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression

from topkapi.analysis.data import RankingData, read_letor, to_topk, write_letor
from topkapi.analysis.models import MODELS
from topkapi.analysis.models.losses.pairs import make_pairs

LIMITS = {  # seconds to stay under on MQ2008 Fold1, one core, training only
    "ranknet": 0.15,
    "ranksvm": 0.15,
    "listnet": 0.15,
    "listmle": 0.15,
    "topk-listmle": 0.15,
    "focused-net": 0.3,
    "rankboost": 1.5,
    "focused-boost": 1.5,
    "adarank": 0.3,
    "svm-map": 0.5,
    "focused-svm": 0.5,
    "top-margin": 4.0,
    "top-slack": 4.0,
}
SETTINGS: dict[str, dict[str, Any]] = {  # settings that the limits apply to, if not the default
    "svm-map": {"c": 100.0},
    "focused-svm": {"c": 100.0},
    "top-margin": {"c": 100.0, "rebreaks": 0},  # one pass
    "top-slack": {"c": 100.0, "rebreaks": 0},
    "toprank": {"c": 100.0, "rebreaks": 0},
}
RANKLIB = {"ranknet": "1", "rankboost": "2", "adarank": "3", "listnet": "7"}


def best_of(action: Callable[[], object], times: int) -> float:
    """Return the least processor seconds of several runs in one thread, excluding other load."""
    seconds = []
    for _ in range(times):
        start = time.process_time()
        action()
        seconds.append(time.process_time() - start)
    return min(seconds)


def logistic_on_pairs(data: RankingData) -> Callable[[], object]:
    """Fit as one would without this library: differences as rows, signs as classes."""
    pairs = make_pairs(data)
    better = np.concatenate([chunk.better for chunk in pairs.chunks()])
    worse = np.concatenate([chunk.worse for chunk in pairs.chunks()])
    differences = pairs.features[better] - pairs.features[worse]
    signs = np.where(np.arange(better.size) % 2 == 0, 1, -1)
    rows = differences * signs[:, None]
    return lambda: LogisticRegression(C=0.1, fit_intercept=False, max_iter=1000).fit(rows, signs)


def ranklib_seconds(name: str, path: Path) -> float | None:
    jar = os.environ.get("RANKLIB_JAR")
    if jar is None or shutil.which("java") is None or name not in RANKLIB:
        return None
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.txt"
        command = ["java", "-jar", jar, "-train", str(path), "-ranker", RANKLIB[name]]
        start = time.perf_counter()
        subprocess.run(
            [*command, "-metric2t", "NDCG@10", "-save", str(model)], check=True, capture_output=True
        )
        return time.perf_counter() - start


def bench_reader(path: Path) -> None:
    ours = best_of(lambda: read_letor(path), 5)
    theirs = best_of(lambda: load_svmlight_file(str(path), query_id=True), 5)
    print(f"reader: topkapi {ours:.3f} s, scikit-learn {theirs:.3f} s, ratio {theirs / ours:.2f}")


def fit_seconds(name: str, data: RankingData, times: int) -> float:
    """Return the time of training alone, with the settings that the limit applies to."""
    return best_of(lambda: MODELS[name](**SETTINGS.get(name, {})).fit(data), times)


def line(name: str, cells: list[str]) -> str:
    return f"{name:<18}" + "".join(f"{cell:>12}" for cell in cells)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--times", type=int, default=5)
    chosen = parser.parse_args()
    bench_reader(chosen.data)
    data = read_letor(chosen.data)
    topk = to_topk(data, 10)
    logistic = best_of(logistic_on_pairs(data), chosen.times)
    print(f"LogisticRegression on {make_pairs(data).n_pairs} pairs: {logistic:.3f} s")
    boosted = fit_seconds("lightgbm", data, chosen.times) if find_spec("lightgbm") else None
    print(f"LightGBM: {'not installed' if boosted is None else f'{boosted:.3f} s'}\n")
    print(line("model", ["graded s", "top-10 s", "limit", "/ logistic", "/ LightGBM", "RankLib s"]))
    late = []
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "train.txt"
        write_letor(data, plain)
        for name in (each for each in MODELS if each != "lightgbm"):
            graded, top = (fit_seconds(name, each, chosen.times) for each in (data, topk))
            limit = LIMITS.get(name)
            if limit is not None and max(graded, top) > limit:
                late.append(name)
            other = ranklib_seconds(name, plain)
            cells = [
                f"{graded:.3f}",
                f"{top:.3f}",
                "" if limit is None else f"{limit:.2f}",
                f"{graded / logistic:.3f}",
                "" if boosted is None else f"{graded / boosted:.3f}",
                "" if other is None else f"{other:.1f}",
            ]
            print(line(name, cells), flush=True)
    print(f"\nover their limits: {', '.join(late) or 'none'}")
    return bool(late)


if __name__ == "__main__":
    raise SystemExit(main())
