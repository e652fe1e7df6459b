"""Virtual assessors against a real server: answers per second and latencies by their number.

    .venv/bin/python -m bench.load --assessors 200 --think 5
    .venv/bin/python -m bench.load --assessors 200 --think 0 --database postgresql --workers 4
    .venv/bin/python -m bench.load --assessors 1 8 50 200 --workers 1 2 4 --way api --json

Each assessor reads, answers, sometimes undoes (5 in 100) and reloads (2 in 100), in a browser (the
page, the form, the prefetch, both pages with the browser's cache) or through the API. The clients
run in separate processes, whose CPU time is printed: on a machine with few cores it is taken from
the server. `answer` is one request; `accepted` adds the waits after a 503; `path` adds the prefetch
and the pages. `fair` is the most over the least answers of one assessor.
"""

import argparse
import json
import multiprocessing
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from bench.judging import databases
from bench.load_client import Load, Measured, drive
from bench.load_study import Person, make_people
from tests.live import serving
from topkapi.app.db.engine import make_engine, make_sessions


@dataclass(frozen=True, slots=True)
class Setting:
    """One line of the table."""

    database: str
    workers: int
    assessors: int
    think: float
    way: str
    seconds: float
    page_bytes: int
    clients: int


def measure(setting: Setting, database_url: str, folder: Path) -> dict[str, Any]:
    """Run one setting on a fresh database."""
    engine = make_engine(database_url)
    people = make_people(
        make_sessions(engine), folder, setting.assessors, page_bytes=setting.page_bytes
    )
    engine.dispose()
    workers = str(setting.workers)
    with serving(database_url, folder, workers=workers, log_level="warning") as server:
        before = _cpu(server.process.pid)
        load = Load(server.url, setting.think, setting.seconds, setting.way == "browser")
        measured = _driven(load, people, setting.clients)
        cpu = _cpu(server.process.pid) - before
    return _line(setting, measured, cpu)


def _driven(load: Load, people: Sequence[Person], clients: int) -> Measured:
    spawn = multiprocessing.get_context("spawn")
    measured = Measured()
    with ProcessPoolExecutor(clients, mp_context=spawn) as pool:
        shares = [people[number::clients] for number in range(clients)]
        for each in pool.map(drive, [load] * clients, shares):
            measured.add(each)
    return measured


def _cpu(pid: int) -> float:
    parent = psutil.Process(pid)
    times = [each.cpu_times() for each in (parent, *parent.children(recursive=True))]
    return float(sum(each.user + each.system for each in times))


def _line(setting: Setting, measured: Measured, cpu: float) -> dict[str, Any]:
    least = max(min(measured.per_assessor), 1)
    return {
        **{name: getattr(setting, name) for name in ("database", "workers", "assessors", "think")},
        "way": setting.way,
        "answers_per_second": len(measured.accepted) / setting.seconds,
        "answer_ms": _spread(measured.answers),
        "accepted_ms": _spread(measured.accepted),
        "path_ms": _spread(measured.paths),
        "fair": max(measured.per_assessor) / least,
        "statuses": {str(status): n for status, n in sorted(measured.statuses.items())},
        "errors": measured.errors,
        "pages": measured.pages,
        "server_cpu_seconds": cpu,
        "client_cpu_seconds": measured.cpu,
    }


def _spread(times: list[float]) -> dict[str, float]:
    if not times:
        return {}
    ordered = sorted(times)
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}
    last = len(ordered) - 1
    return {name: 1000 * ordered[int(share * last)] for name, share in shares.items()}


def _show(line: dict[str, Any]) -> None:
    head = "{database}, {workers} workers, {assessors} assessors, think {think:g} s, {way}"
    print(head.format(**line))
    rate = f"{line['answers_per_second']:.1f} answers/s, fair {line['fair']:.1f}"
    print(f"  {rate}, statuses {line['statuses']}, {line['errors']} errors")
    for name in ("answer", "accepted", "path"):
        times = ", ".join(f"{key} {value:.1f}" for key, value in line[f"{name}_ms"].items())
        print(f"  {name:<9} {times} ms")
    cpu = "CPU: server {server_cpu_seconds:.1f} s, clients {client_cpu_seconds:.1f} s"
    print(f"  {cpu.format(**line)}; {line['pages']} pages loaded")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--assessors", type=int, nargs="+", default=[1, 8, 50, 200])
    parser.add_argument("--workers", type=int, nargs="+", default=[1])
    parser.add_argument("--think", type=float, default=5.0, help="mean seconds before an answer")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--way", choices=["browser", "api"], default="browser")
    parser.add_argument("--page-bytes", type=int, default=2000)
    parser.add_argument("--clients", type=int, default=1, help="processes of assessors")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], nargs="+")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    chosen = parser.parse_args()
    for name in chosen.database or ["sqlite", "postgresql"]:
        for workers in chosen.workers:
            for assessors in chosen.assessors:
                setting = Setting(
                    *(name, workers, assessors, chosen.think, chosen.way),
                    *(chosen.seconds, chosen.page_bytes, chosen.clients),
                )
                with databases() as urls, tempfile.TemporaryDirectory() as folder:
                    line = measure(setting, urls[name], Path(folder))
                print(json.dumps(line), flush=True) if chosen.json else _show(line)


if __name__ == "__main__":
    main()
