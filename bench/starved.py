"""Do the tests pass on a machine that has a tenth of its processor left for them?

    .venv/bin/python -m bench.starved [--all] [--times 3] [--busy 2 | --quota] [tests/web ...]

Runs `make test`, or with --all `make test-all`, at a low priority while `--busy` processes per core
compute at the usual one. With --quota, which needs root on Linux, a control group allows the tests
a tenth of the machine in every tenth of a second, and the rest of the machine stays usable; it also
finds processes that the tests left behind. All tests take three hours on two cores; clones that run
a part each, at once, take less, for each has a group of its own. Prints the share of the processor
that the tests had, and what failed. Exits with 1 if a run failed. Set up first: a download is not
the subject.
"""

import argparse
import multiprocessing
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOWER = 10  # steps of priority: a process has a ninth of the weight of a busy one
SHARE, PERIOD = 0.1, 100_000  # of the machine, and the microseconds in which it is used up
GROUPS = Path("/sys/fs/cgroup")
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


@contextmanager
def quota(cores: int) -> Iterator[Path]:
    """Make a control group that has `SHARE` of the machine (of version 1 or 2)."""
    first = GROUPS / "cpu"
    group = (first if first.is_dir() else GROUPS) / f"starved-{os.getpid()}"
    group.mkdir()
    limit = int(SHARE * cores * PERIOD)
    try:
        if first.is_dir():
            (group / "cpu.cfs_period_us").write_text(str(PERIOD))
            (group / "cpu.cfs_quota_us").write_text(str(limit))
            (group / "cpu.shares").write_text("10240")  # the quota is the limit, not the others
        else:
            (group / "cpu.max").write_text(f"{limit} {PERIOD}")
            (group / "cpu.weight").write_text("1000")
        yield group
    finally:
        while left := (group / "cgroup.procs").read_text().split():
            with suppress(OSError):  # it has ended meanwhile
                command = Path(f"/proc/{left[0]}/cmdline").read_bytes()
                os.kill(int(left[0]), signal.SIGKILL)
                print(f"left behind: {command.replace(bytes(1), b' ').decode()}")
            time.sleep(0.1)
        group.rmdir()


def run(target: str, tests: list[str], group: Path | None) -> tuple[bool, float, float, str]:
    """Run a target of the Makefile; return success, wall time, CPU time and what it printed."""
    began, before = time.monotonic(), _children()
    lower = ["nice", "-n", str(LOWER)]
    join = ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]
    done = subprocess.run(
        [*(join if group else lower), "make", target, f"TESTS={' '.join(tests)}"],
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
    parser.add_argument("tests", nargs="*", help="only these files and folders of tests")
    parser.add_argument("--all", action="store_true", help="run make test-all")
    parser.add_argument("--times", type=int, default=1, help="number of runs")
    parser.add_argument("--busy", type=int, default=2, help="busy processes per core")
    parser.add_argument("--quota", action="store_true", help="limit the tests by a control group")
    options = parser.parse_args()
    cores = os.cpu_count() or 1
    target = "test-all" if options.all else "test"
    failures = 0
    for number in range(1, options.times + 1):
        starved: AbstractContextManager[Path | None] = (
            quota(cores) if options.quota else busy_processes(options.busy * cores)
        )
        with starved as group:
            passed, wall, used, output = run(target, options.tests, group)
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
