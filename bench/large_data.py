"""Time and memory of `topkapi rank compare` on generated files of the size of MSLR-WEB30K.

    .venv/bin/python -m bench.large_data                    30,000 queries, 3.6 million documents
    .venv/bin/python -m bench.large_data --queries 1000

Generates one fold (train, vali, test) of 136 features with a fixed seed and runs the command on it
with five models in two processes. Memory is sampled every two seconds: the PSS of all processes of
the command without shared memory, which counts pages that they share once, plus the whole shared
memory in which joblib passes the features to its processes. Reading ends when the first process of
a model starts. A model's seconds are processor seconds, tuning included. The exit code is 1 when
memory is over its limit or a model failed.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.large_letor import write_fold

MODELS = "ranksvm,ranknet,listnet,topk-listmle,adarank"
LIMIT_GB = 12.0
INTERVAL = 2.0


@dataclass
class Watch:
    """What was seen of the processes of a command."""

    peak: float = 0.0
    peak_reading: float = 0.0
    reading: float | None = None
    finished: dict[str, float] = field(default_factory=dict)  # model -> seconds since the start

    def sample(self, pid: int, seconds: float, rows: Path) -> None:
        """Add the memory of the process tree, and note models that finished."""
        tree = list(descendants(pid))
        now = sum(map(private_gb, tree)) + shared_gb(pid)
        self.peak = max(self.peak, now)
        if self.reading is None and any("loky" in command_line(each) for each in tree):
            self.reading = seconds
        if self.reading is None:
            self.peak_reading = max(self.peak_reading, now)
        for row in read_rows(rows):
            self.finished.setdefault(row["model"], seconds)


def descendants(pid: int) -> Iterator[int]:
    """Yield a process and all its children."""
    yield pid
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = thread.read_text().split()
        except OSError:
            continue
        for child in children:
            yield from descendants(int(child))


def private_gb(pid: int) -> float:
    """Return the proportional set size of a process without shared memory, 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().split("\n")[1:-1]
    except OSError:
        return 0.0
    sizes = {line.split(":")[0]: int(line.split()[1]) for line in lines}
    return (sizes.get("Pss_Anon", 0) + sizes.get("Pss_File", 0)) / 1e6


def shared_gb(pid: int) -> float:
    """Return the size of the arrays that joblib keeps in shared memory for a process."""
    folders = Path("/dev/shm").glob(f"joblib_memmapping_folder_{pid}_*")
    return sum(file.stat().st_size for folder in folders for file in folder.iterdir()) / 1e9


def command_line(pid: int) -> str:
    """Return the command line of a process, empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the finished rows of a results file."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    return [json.loads(line) for line in lines]


def compare(data: Path, out: Path, models: str, jobs: int) -> tuple[Watch, float, str]:
    """Run the command; return what was seen, its seconds and what it printed."""
    command = [str(Path(sys.executable).parent / "topkapi"), "rank", "compare", str(data)]
    command += ["--models", models, "--normalise", "--truth", "graded", "--folds", "1"]
    command += ["--jobs", str(jobs), "--out", str(out)]
    print("$", " ".join(["topkapi", *command[1:]]), flush=True)
    watch, start = Watch(), time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            watch.sample(process.pid, time.perf_counter() - start, _rows_file(data, out))
            time.sleep(INTERVAL)
        printed = process.stdout.read() if process.stdout else ""
    if process.returncode:
        raise SystemExit(f"the command failed with {process.returncode}")
    return watch, time.perf_counter() - start, printed


def _rows_file(data: Path, out: Path) -> Path:
    return out / f"compare-{data.name}.jsonl"


def show(watch: Watch, seconds: float, rows: list[dict[str, Any]]) -> None:
    """Print the figures as a Markdown table."""
    print(f"| reading, shuffling and scaling | {watch.reading or 0:.0f} s |")
    for row in rows:
        figures = row.get("failed") or f"{row['seconds']:.0f} s of one core, {row['settings']}"
        print(f"| {row['model']} | {figures}, done after {watch.finished[row['model']]:.0f} s |")
    print(f"| the whole command | {seconds:.0f} s |")
    print(f"| peak memory while reading | {watch.peak_reading:.2f} GB |")
    print(f"| peak memory (all processes) | {watch.peak:.2f} GB, limit {LIMIT_GB:.0f} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=30_000)
    parser.add_argument("--models", default=MODELS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="folder for the files, reused if they exist")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        data = (chosen.keep or Path(temporary)) / f"mslr-{chosen.queries}"
        start = time.perf_counter()
        if not data.exists():
            print("documents:", write_fold(data, chosen.queries), flush=True)
        generated = time.perf_counter() - start
        size = sum(file.stat().st_size for file in data.glob("Fold1/*.txt")) / 1e9
        out = Path(temporary) / "results"
        watch, seconds, printed = compare(data, out, chosen.models, chosen.jobs)
        rows = read_rows(_rows_file(data, out))
    print(printed)
    print(f"| {chosen.queries:,} queries | {size:.2f} GB of text |\n|---|---|")
    print(f"| generating | {generated:.0f} s |")
    show(watch, seconds, rows)
    return int(watch.peak > LIMIT_GB or any("failed" in row for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
