"""Time and memory of the report of a large study, from a database.

    python -m bench.report [--small] [--keep FOLDER]

100 assessors, 500 queries of 50 documents, each query judged by ten assessors per tool: about a
million log entries. It is measured on SQLite and on a PostgreSQL started for it, each in a separate
process; ``--keep`` keeps the SQLite file for the next run. The limits are 60 seconds and 2 GB on
two cores; the exit code is 1 if they are exceeded.
"""

import argparse
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.judged_study import SLUG, make_judged_study
from tests.databases import PostgresqlTemplate, postgresql_server
from topkapi.app.db import migrations
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.services.results.exports import StudySource, export_session

SECONDS, GIGABYTES = 60, 2.0
Figures = dict[str, float]


def measure(url: str) -> Figures:
    """Read a study and make its report; the peak includes everything this process has loaded."""
    from topkapi.analysis.report import build_report
    from topkapi.analysis.report.page import render_page
    from topkapi.analysis.report.serialise import to_json
    from topkapi.app.services.results.exports.gathering import gather

    engine = make_engine(url)
    begin, begin_cpu = time.perf_counter(), time.process_time()
    with export_session(make_sessions(engine)) as session:
        study = gather(StudySource(session, SLUG))
    gathered = time.perf_counter()
    report = build_report(study)
    built = time.perf_counter()
    to_json(report), render_page(report)
    written = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    engine.dispose()
    return {
        "gathering": round(gathered - begin, 1),
        "report": round(built - gathered, 1),
        "writing": round(written - built, 1),
        "seconds": round(written - begin, 1),
        "cpu_seconds": round(time.process_time() - begin_cpu, 1),
        "gb": round(peak, 2),
    }


def measured(url: str) -> Figures:
    """Measure in a separate process, to measure only its own memory."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, (url,))


@contextmanager
def databases(keep: Path | None, small: bool) -> Iterator[Iterator[tuple[str, str]]]:
    """Yield addresses of filled databases, by kind, one after the other."""
    size = {"assessors": 100, "queries": 500, "documents": 50, "rounds": 10}
    if small:
        size |= {"assessors": 20, "queries": 50}
    with tempfile.TemporaryDirectory() as name:
        folder = keep or Path(name)

        def both() -> Iterator[tuple[str, str]]:
            path = folder / f"judged-{size['queries']}.db"
            url = f"sqlite:///{path}"
            if not path.exists():
                _fill(url, size)
            yield "sqlite", url
            with postgresql_server() as server:
                template = PostgresqlTemplate(server)
                with template.copy() as address:
                    _fill(address, size)
                    yield "postgresql", address
                template.drop()

        yield both()


def _fill(url: str, size: dict[str, int]) -> None:
    migrations.upgrade(url)
    engine = make_engine(url)
    begin = time.perf_counter()
    entries = make_judged_study(engine, **size)
    print(json.dumps({"entries": entries, "made_in": round(time.perf_counter() - begin, 1)}))
    engine.dispose()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="20 assessors, 50 queries")
    parser.add_argument("--keep", type=Path, help="folder for the SQLite file")
    given = parser.parse_args()
    missed = False
    with databases(given.keep, given.small) as found:
        for kind, url in found:
            figures = measured(url)
            missed |= figures["seconds"] > SECONDS or figures["gb"] > GIGABYTES
            limits = {"limit_seconds": SECONDS, "limit_gb": GIGABYTES}
            print(
                json.dumps({"bench": "report", "database": kind, **figures, **limits}), flush=True
            )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
