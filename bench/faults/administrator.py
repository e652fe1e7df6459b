"""An administrator who imports studies and starts jobs while faults happen, and what remains."""

import asyncio
import io
import json
import time
import zipfile
from dataclasses import dataclass, field
from random import Random
from typing import Any

from sqlalchemy import func, select

from bench.connection import TRANSPORT_ERRORS, Connection, Reply
from bench.faults.verdict import Verdict
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Candidate, Document, Job, Query, Study
from topkapi.app.domain.enums import JobState

QUERIES, PAGES = 20, 400
AGAIN = 0.2
JOB_SECONDS = 120.0  # for the jobs that are left when the faults have ended


@dataclass
class Administrator:
    """Sends an import or a job again until it is acknowledged, each one once per name."""

    address: str
    token: str
    study: str  # whose report is computed
    random: Random
    sent: int = 0
    imported: list[str] = field(default_factory=list)
    jobs: set[int] = field(default_factory=set)

    async def work(self, stop: asyncio.Event) -> None:
        """Import studies and start jobs until ``stop`` is set."""
        while not stop.is_set():
            self.sent += 1
            slug = f"import-{self.sent}"
            data = study_file(slug, self.random)
            reply = await self._until_told("POST", f"studies?slug={slug}", data, stop)
            if reply is not None:
                self.imported.append(slug)
            await self._start_job(stop)

    async def _start_job(self, stop: asyncio.Event) -> None:
        body = json.dumps({"kind": "report"}).encode()
        reply = await self._until_told("POST", f"studies/{self.study}/jobs", body, stop)
        if reply is not None:
            self.jobs.add(json.loads(reply.body)["id"])

    async def last_job(self) -> None:
        """Start a job after the faults, and wait until every job has ended."""
        never, path = asyncio.Event(), f"studies/{self.study}/jobs"
        await self._start_job(never)
        until = time.monotonic() + JOB_SECONDS
        while time.monotonic() < until:
            reply = await self._until_told("GET", f"{path}?limit=1000", b"", never)
            assert reply is not None
            if all(JobState(each["state"]).final for each in json.loads(reply.body)):
                return
            await asyncio.sleep(1)

    async def _until_told(
        self, method: str, path: str, body: bytes, stop: asyncio.Event
    ) -> Reply | None:
        """Send a request until it is done; 409 says that an import without a reply was."""
        kind = "application/json" if body.startswith(b"{") else "application/zip"
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": kind}
        connection = Connection(self.address, timeout=60)
        try:
            while not stop.is_set():
                try:
                    reply = await connection.request(method, f"/api/v1/{path}", headers, body)
                except TRANSPORT_ERRORS:
                    await asyncio.sleep(AGAIN)
                    continue
                if reply.status in (200, 201) or b'"unchanged"' in reply.body:
                    return reply
                await asyncio.sleep(AGAIN)
            return None
        finally:
            connection.close()


def study_file(slug: str, random: Random) -> bytes:
    """Return a study whose pages no other study has."""
    queries = [{"id": f"q{number}", "text": f"tulips {number}"} for number in range(QUERIES)]
    pages = [
        {"id": f"d{number}", "text": f"{slug} {random.randbytes(600).hex()}"}
        for number in range(PAGES)
    ]
    offered = [
        {"query": f"q{number % QUERIES}", "document": page["id"]}
        for number, page in enumerate(pages)
    ]
    files = {"queries": queries, "documents": pages, "candidates": offered}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("study.toml", f'name = "{slug}"\n')
        for name, rows in files.items():
            archive.writestr(f"{name}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    return stream.getvalue()


def judge_imports(sessions: Sessions, known: Administrator, verdict: Verdict) -> None:
    """Add imports that are lost or half there, and jobs that are lost or never ended."""
    whole = (QUERIES, PAGES, PAGES)
    with sessions.read() as session:
        found: dict[str, tuple[Any, ...]] = {}
        for number, slug in session.execute(select(Study.id, Study.slug)):
            mine = Query.study_id == number
            counts = (
                select(func.count()).select_from(Query).where(mine),
                select(func.count()).select_from(Document).where(Document.study_id == number),
                select(func.count()).select_from(Candidate).join(Query).where(mine),
            )
            found[slug] = tuple(session.scalar(each) for each in counts)
        states = {row[0]: row[1] for row in session.execute(select(Job.id, Job.state))}
    verdict.imports, verdict.jobs = len(known.imported), len(known.jobs)
    verdict.lost += [f"import {slug}" for slug in known.imported if slug not in found]
    verdict.changed += [
        f"import {slug} has {counts} queries, pages and candidates"
        for slug, counts in found.items()
        if slug != known.study and counts != whole
    ]
    verdict.lost += [f"job {each}" for each in known.jobs if each not in states]
    verdict.unended += [f"job {each}: {state}" for each, state in states.items() if not state.final]
    last = max(known.jobs, default=0)
    if states.get(last) is not JobState.DONE:
        verdict.unended.append(f"job {last}, begun after the faults: {states.get(last)}")
