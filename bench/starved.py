"""Do the tests pass on a machine that has a tenth of its processor left for them?

    .venv/bin/python -m bench.starved [--all] [--times 3] [--busy 2]

Runs `make test`, or with --all `make test-all`, at a low priority while `--busy` processes per core
compute at the usual one. Prints the share of the processor that the tests had, and what failed.
Exits with 1 if a run failed. Set up first: a download is not the subject.
"""

import argparse
import multiprocessing
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOWER = 10  # steps of priority: a process has a ninth of the weight of a busy one
_PROBLEM = re.compile(r"^(?:(?:SUB)?FAILED|ERROR|make:) .+|^\S+: error: .+", re.MULTILINE)
_SUMMARY = re.compile(r"^=+ (.*(?:passed|failed|error).*?) =+$", re.MULTILINE)


def _compute(parent: int) -> None:
    while os.getppid() == parent:
        sum(range(100_000))


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Keep every core busy; the processes also end if this one is killed."""
    processes = [
        multiprocessing.Process(target=_compute, args=(os.getpid(),), daemon=True)
        for _ in range(count)
    ]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.join()


def run(target: str) -> tuple[bool, float, float, str]:
    """Run a target of the Makefile; return success, wall time, CPU time and what it printed."""
    began, before = time.monotonic(), _children()
    done = subprocess.run(
        ["nice", "-n", str(LOWER), "make", target],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode == 0, time.monotonic() - began, _children() - before, done.stdout


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="run make test-all")
    parser.add_argument("--times", type=int, default=1, help="number of runs")
    parser.add_argument("--busy", type=int, default=2, help="busy processes per core")
    options = parser.parse_args()
    cores = os.cpu_count() or 1
    target = "test-all" if options.all else "test"
    failures = 0
    for number in range(1, options.times + 1):
        with busy_processes(options.busy * cores):
            passed, wall, used, output = run(target)
        failures += not passed
        summary = _SUMMARY.findall(output)[-1:] or ["no summary"]
        print(
            f"{number}: make {target} {'passed' if passed else 'FAILED'}, {summary[0]}; "
            f"{wall / 60:.1f} minutes, {used / 60:.1f} of the processor "
            f"({used / wall / cores:.0%} of {cores} cores)",
            *(f"   {problem}" for problem in _PROBLEM.findall(output) if not passed),
            sep="\n",
            flush=True,
        )
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
