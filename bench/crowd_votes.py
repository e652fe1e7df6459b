"""Time and memory of `topkapi report --from` on votes of the shape of a large crowd study.

    .venv/bin/python -m bench.crowd_votes [--scattered] [--keep FOLDER]

Generates 84,445 votes by 3,815 workers on 32 topics of 50 documents, each worker in a few tasks of
one topic, or with --scattered on single random pairs, and runs the command. Prints one JSON line.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

WORKERS, TOPICS, DOCUMENTS, VOTES = 3815, 32, 50, 84_445


def write_votes(path: Path, *, scattered: bool, seed: int = 0) -> None:
    """Write a pairs file; workers err at rates of their own, more often on close documents."""
    rng = np.random.default_rng(seed)
    worker = np.sort(
        np.concatenate([np.arange(WORKERS), rng.integers(0, WORKERS, VOTES - WORKERS)])
    )
    task = np.arange(VOTES) // 11
    topic = rng.integers(0, TOPICS, VOTES)
    if not scattered:
        topic = rng.integers(0, TOPICS, VOTES)[task]
    first = rng.integers(0, DOCUMENTS, VOTES)
    second = (first + rng.integers(1, DOCUMENTS, VOTES)) % DOCUMENTS
    worth = rng.normal(size=(TOPICS, DOCUMENTS))
    noise = rng.lognormal(-0.5, 0.6, WORKERS)
    seen = worth[topic, first] - worth[topic, second] + noise[worker] * rng.normal(size=VOTES)
    lines = ["query\ta\tb\tpreference\tassessor"]
    lines += [
        f"t{q}\td{a}\td{b}\t{'a' if s > 0 else 'b'}\tw{w}"
        for q, a, b, s, w in zip(topic, first, second, seen, worker, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--scattered", action="store_true")
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        votes = folder / "votes.tsv"
        write_votes(votes, scattered=given.scattered)
        command = [str(Path(sys.executable).parent / "topkapi"), "report", "--from", str(votes)]
        start = time.perf_counter()
        subprocess.run([*command, "--out", str(folder / "report")], check=True, capture_output=True)
        seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    figures = {
        "seconds": round(seconds, 1),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "gb": round(used.ru_maxrss / 1e6, 2),
    }
    limits = {"limit_seconds": 60, "limit_gb": 1}
    print(json.dumps({"bench": "crowd-votes", "scattered": given.scattered, **figures, **limits}))


if __name__ == "__main__":
    main()
