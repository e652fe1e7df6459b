"""Cost of an answer in the browser: the answer, the possible next questions, both pages.

    .venv/bin/python -m bench.browser_path
    .venv/bin/python -m bench.browser_path --kilobytes 50 --assessors 200 --think 5
    .venv/bin/python -m bench.browser_path --kilobytes 2 --sorter robust

One real server with one worker; the clients are a separate process, which does what the page does:
it posts the answer, requests the possible next questions unless the reply contains them, and
fetches the pages that are not in its cache. The bound is the API in the same run, which shows no
pages. Prints the median and 99th percentile of one assessor alone, answers per second of several at
once, and the server's CPU time per answer, which does not depend on the machine's other load.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random
from secrets import token_hex
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy.orm import Session

from bench.judging import databases, percentile
from tests.factories import make_assignment, make_content, make_user
from tests.live import LiveServer, serving
from topkapi.app.db.engine import Sessions, make_engine, make_sessions
from topkapi.app.db.models import Candidate, Document, Query, Study, User
from topkapi.app.installation.secret import load_secret
from topkapi.app.services.accounts import tokens
from topkapi.app.web.common.cookies import SESSION_COOKIE, Cookies

PAGES, K = 50, 10
WORDS = ("tulip", "vase", "water", "stem", "cut", "wrap", "paper", "cool", "clean", "knife", "leaf")
QUERY = "how to keep cut tulips upright in water"


@dataclass(frozen=True, slots=True)
class Job:
    """One assessor's assignment."""

    assignment: int
    user: User
    token: str


def page_of(number: int, kilobytes: float, random: Random) -> str:
    """Make a page with headings, lists and text, of about ``kilobytes``."""
    parts = [f"<!doctype html><title>Page {number}</title><style>body{{font:16px serif}}</style>"]
    size = 0
    while size < kilobytes * 1000:
        text = " ".join(random.choice(WORDS) for _ in range(60))
        parts.append(f"<h2>{text[:30]}</h2><p>{text}</p><ul><li>{text[:40]}<li>{text[40:80]}</ul>")
        size += len(parts[-1])
    return "".join(parts)


def make_query(session: Session, study: Study, position: int, kilobytes: float) -> Query:
    """Make a query with its own pages."""
    query = Query(
        study_id=study.id, external_id=f"q{position}", text=QUERY, description="", position=position
    )
    session.add(query)
    session.flush()
    random = Random(position)
    for index in range(PAGES):
        name = f"q{position}-d{index}"
        content = make_content(session, page_of(index, kilobytes, random), "text/html")
        document = Document(
            study_id=study.id,
            external_id=name,
            title=f"Page {index}",
            url=f"https://pages.example/{name}",
            content_hash=content.hash,
            path=f"pages/{name}.html",
        )
        session.add(document)
        session.flush()
        session.add(Candidate(query_id=query.id, document_id=document.id, position=index))
    session.flush()
    return query


def make_jobs(
    sessions: Sessions, count: int, kilobytes: float, per_query: int, sorter: str = "heap"
) -> list[Job]:
    """Make the assignments of a new study, ``per_query`` to each query."""
    with sessions.write.begin() as session:
        study = Study(slug=f"bench-{token_hex(8)}", name="Bench", guidelines="")
        session.add(study)
        session.flush()
        jobs = []
        for number in range(count):
            if number % per_query == 0:
                query = make_query(session, study, number, kilobytes)
            user = make_user(session)
            row = make_assignment(
                session, user=user, query=query, k=K, seed=f"seed {number}", sorter=sorter
            )
            jobs.append(Job(row.id, user, tokens.issue_token(session, user, "bench")[1]))
        return jobs


def cpu_seconds(server: LiveServer) -> float:
    """Return the CPU time of the server's process so far."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds per answer, of its POST alone, the rate, CPU time, requests per answer."""

    whole: list[float]
    posts: list[float]
    rate: float
    cpu_ms: float
    requests: float


def run(server: LiveServer, jobs: list[Job], path: str, answers: int, think: float = 0) -> Measured:
    """Judge ``jobs`` concurrently, in a separate client process."""
    cookies = Cookies(load_secret(server.secret_file), lifetime=timedelta(hours=72), secure=False)
    task = {
        "port": urlsplit(server.url).port,
        "path": path,
        "answers": answers,
        "think": think,
        "jobs": [_told(job, cookies, number / len(jobs)) for number, job in enumerate(jobs)],
    }
    before = cpu_seconds(server)
    done = subprocess.run(
        [sys.executable, "-m", "bench.http_client"],
        input=json.dumps(task),
        capture_output=True,
        text=True,
        check=True,
    )
    cpu = cpu_seconds(server) - before
    found = json.loads(done.stdout)
    times = [each for one, _ in found["found"] for each in one]
    starts = [start for *_, start in times]
    seconds = max(start + whole for whole, _, start in times) - min(starts)
    return Measured(
        [whole for whole, *_ in times],
        [post for _, post, _ in times],
        len(times) / seconds,
        1e3 * cpu / len(times),
        sum(count for _, count in found["found"]) / len(times),
    )


def _told(job: Job, cookies: Cookies, delay: float) -> dict[str, Any]:
    token = cookies.session_token(job.user, "bench")
    return {
        "assignment": job.assignment,
        "cookie": f"{SESSION_COOKIE}={token}",
        "csrf": cookies.csrf_token("bench"),
        "token": job.token,
        "delay": delay,
    }


def show(label: str, found: Measured) -> None:
    p50, p95, p99 = (
        1e3 * percentile(found.whole, share)
        if share != 0.5
        else 1e3 * statistics.median(found.whole)
        for share in (0.5, 0.95, 0.99)
    )
    print(
        f"  {label:<18} p50 {p50:6.1f}  p95 {p95:6.1f}  p99 {p99:6.1f} ms, POST p50 "
        f"{1e3 * statistics.median(found.posts):5.1f} ms, {found.rate:5.0f} answers/s, "
        f"CPU {found.cpu_ms:5.2f} ms per answer, {found.requests:.1f} requests",
        flush=True,
    )


def measure(name: str, url: str, folder: Path, chosen: argparse.Namespace) -> None:
    engine = make_engine(url)
    sessions = make_sessions(engine)
    for kilobytes in chosen.kilobytes:
        count = chosen.assessors
        pool = make_jobs(sessions, 3 + 2 * count, kilobytes, chosen.per_query, chosen.sorter)
        with serving(url, folder, workers="1") as server:
            print(f"{name}, {PAGES} pages of {kilobytes:g} kB, best {K}, {chosen.sorter}")
            run(server, pool[:1], "browser", 20)
            if not chosen.think:
                show("API, one", run(server, pool[1:2], "api", chosen.answers))
                show("browser, one", run(server, pool[2:3], "browser", chosen.answers))
                show(f"API, {count}", run(server, pool[3 : 3 + count], "api", chosen.answers))
            many = pool[3 + count :]
            show(f"browser, {count}", run(server, many, "browser", chosen.answers, chosen.think))
    engine.dispose()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", choices=["sqlite", "postgresql"])
    parser.add_argument("--kilobytes", type=float, nargs="+", default=[2.0, 50.0])
    parser.add_argument("--answers", type=int, default=100)
    parser.add_argument("--assessors", type=int, default=8)
    parser.add_argument("--per-query", type=int, default=1, help="assessors who share a query")
    parser.add_argument("--sorter", default="heap")
    parser.add_argument("--think", type=float, default=0.0, help="seconds between answers")
    chosen = parser.parse_args()
    with databases() as urls, tempfile.TemporaryDirectory() as folder:
        for name, url in urls.items():
            if chosen.database in (None, name):
                measure(name, url, Path(folder), chosen)


if __name__ == "__main__":
    main()
