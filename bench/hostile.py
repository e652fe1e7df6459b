"""Send files made to stop the server while assessors judge, and measure whether they notice.

`python -m bench.hostile` runs on both databases. Passed: every hostile file is refused, and each
harmless one imported; meanwhile the assessors' 95th percentile is at most 5 times the undisturbed
one, none of them gets a 503 or an error, the memory of the server with its children is at most 1.5
times the undisturbed plus one child's limit, and the server needs no restart.
"""

import argparse
import asyncio
import gzip
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from random import Random

import httpx
import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from bench.browser_client import ApiClient, Entry, Question
from bench.faults.__main__ import database
from bench.faults.assessors import Assessor, Tally
from bench.faults.records import Record
from tests.factories import make_study, make_user, queries_of
from tests.judging import make_job
from tests.live import serving
from tests.media import form_bomb, pdf_of, tiling_bomb
from tests.studies import small_study, write_jsonl, zipped
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.domain.enums import Role
from topkapi.app.services.accounts import tokens
from topkapi.app.services.fence import limits

SLOWER, LARGER = 5.0, 1.5
QUERIES = 40  # per person


def with_media(name: str, data: bytes) -> Callable[[Path], bytes]:
    """Return a study of one page, which is this file."""

    def made(folder: Path) -> bytes:
        (folder / "pages").mkdir(parents=True)
        (folder / "study.toml").write_text(f'name = "{folder.name}"\n')
        (folder / "pages" / name).write_bytes(data)
        page = [{"id": "a", "path": f"pages/{name}"}, {"id": "b", "text": "tulips"}]
        write_jsonl(folder / "documents.jsonl", page)
        write_jsonl(folder / "queries.jsonl", [{"id": "q", "text": "tulips"}])
        offered = [{"query": "q", "document": each} for each in "ab"]
        write_jsonl(folder / "candidates.jsonl", offered)
        return zipped(folder)

    return made


def with_documents(data: bytes) -> Callable[[Path], bytes]:
    """Return a small study whose documents are this file."""

    def made(folder: Path) -> bytes:
        (small_study(folder) / "documents.jsonl").write_bytes(data)
        return zipped(folder)

    return made


def large(folder: Path) -> bytes:
    """Return a study of 86 MB of plain text."""
    draw = Random("large")
    folder.mkdir()
    (folder / "study.toml").write_text('name = "Large"\n')
    words = [f"w{number}" for number in range(20_000)]
    pages = [
        {"id": f"d{number}", "text": " ".join(draw.choices(words, k=700))}
        for number in range(21_000)
    ]
    write_jsonl(folder / "documents.jsonl", pages)
    write_jsonl(folder / "queries.jsonl", [{"id": f"q{n}", "text": "tulips"} for n in range(210)])
    offered = [{"query": f"q{n // 100}", "document": page["id"]} for n, page in enumerate(pages)]
    write_jsonl(folder / "candidates.jsonl", offered)
    return zipped(folder)


def parquet_bomb() -> bytes:
    """Return a Parquet file of kilobytes with gigabytes of text."""
    text = pa.DictionaryArray.from_arrays([0] * 4500, ["x" * 1_000_000])
    stream = BytesIO()
    names = [f"d{number}" for number in range(4500)]
    pq.write_table(pa.table({"id": names, "text": text}), stream, compression="zstd")
    return stream.getvalue()


def doubled_fields() -> bytes:
    """Return a line of JSON with many fields, one of them twice."""
    many = ", ".join(f'"f{number}": 1' for number in [*range(300_000), 299_999])
    return f'{{"id": "d0", "text": "x", {many}}}\n'.encode()


RUN = "run"  # sent to the systems of the study; the others are imported
FILES: dict[str, tuple[int, Callable[[Path], bytes]]] = {  # the expected status, and the bytes
    "PDF of nested forms": (422, with_media("a.pdf", form_bomb())),
    "PDF of nested patterns": (422, with_media("a.pdf", tiling_bomb())),
    "PDF of 40 pages": (201, with_media("a.pdf", pdf_of(*["Water the tulips"] * 40))),
    "damaged picture": (422, with_media("a.png", b"\x89PNG\r\n\x1a\n" + b"x" * 500)),
    "Parquet to 4.5 GB": (422, with_documents(parquet_bomb())),
    "doubled JSON field": (422, with_documents(doubled_fields())),
    RUN: (422, lambda _: gzip.compress(b"a " * 60_000_000)),
    "86 MB of text": (201, large),
}


@dataclass
class Watch:
    """What the assessors of one stage met, and the memory of the server."""

    seconds: list[float] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)
    memory: int = 0
    status: int = 0

    @property
    def p95(self) -> float:
        """The 95th percentile of an answer in seconds."""
        return float(np.percentile(self.seconds, 95)) if self.seconds else float("inf")


class TimedClient(ApiClient):
    """Judges through the API and notes how long each answer takes."""

    watch = Watch()

    async def send(self, entry: Entry) -> tuple[int, Question]:
        began = time.perf_counter()
        try:
            status, question = await super().send(entry)
        except Exception as error:
            reply = getattr(error, "reply", None)
            TimedClient.watch.wrong.append(reply.status if reply else 0)
            raise
        TimedClient.watch.seconds.append(time.perf_counter() - began)
        return status, question


def memory_of(server: psutil.Process) -> int:
    """Return the memory of a process and its children."""
    total = 0
    for each in (server, *server.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            total += each.memory_info().rss
    return total


async def watched(server: psutil.Process, work: asyncio.Task[int]) -> Watch:
    """Collect what happens until ``work`` has ended."""
    watch = TimedClient.watch = Watch()
    while not work.done():
        watch.memory = max(watch.memory, memory_of(server))
        await asyncio.sleep(0.1)
    watch.status = work.result()
    return watch


async def undisturbed(seconds: float) -> int:
    await asyncio.sleep(seconds)
    return 0


async def sent(url: str, token: str, name: str, data: bytes) -> int:
    """Send a file; return the status, 0 if there was no answer."""
    path = "studies/tulips/systems" if name == RUN else "studies"
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/octet-stream"}
    async with httpx.AsyncClient(timeout=600) as client:
        try:
            address = f"{url}/api/v1/{path}?filename=study.zip"
            return (await client.post(address, headers=headers, content=data)).status_code
        except httpx.HTTPError:
            return 0


async def run(url: str, database_url: str, process: psutil.Process, people: int) -> bool:
    """Run every file; return whether the server passed."""
    engine = make_engine(database_url)
    with make_sessions(engine).write.begin() as session:
        study = make_study(session, slug="tulips", queries=QUERIES, documents=60)
        users = [make_user(session) for _ in range(people)]
        jobs = [
            [make_job(session, query=each, user=user, k=20) for each in queries_of(session, study)]
            for user in users
        ]
        _, token = tokens.issue_token(session, make_user(session, role=Role.ADMIN), "bench")
    engine.dispose()
    tally, ended = Tally(), asyncio.Event()
    assessors = [
        Assessor(
            [
                (TimedClient(url, job.assignment_id, job.token), Record(job.assignment_id))
                for job in mine
            ],
            tally,
            Random(number),
        )
        for number, mine in enumerate(jobs)
    ]
    passed = True
    with tempfile.TemporaryDirectory() as folder:
        files = {
            name: made(Path(folder) / f"study{number}")
            for number, (name, (_, made)) in enumerate(FILES.items())
        }
        async with asyncio.TaskGroup() as group:
            for each in assessors:
                group.create_task(each.work(ended))
            await watched(process, asyncio.create_task(undisturbed(3)))
            calm = await watched(process, asyncio.create_task(undisturbed(10)))
            print(f"  undisturbed: p95 {calm.p95 * 1000:.0f} ms, {calm.memory / 1e6:.0f} MB")
            for name, data in files.items():
                work = asyncio.create_task(sent(url, token, name, data))
                passed &= show(name, len(data), await watched(process, work), calm)
            ended.set()
    return passed


def show(name: str, size: int, found: Watch, calm: Watch) -> bool:
    """Print what one file did; return whether everybody else went on."""
    problems = []
    if found.status != FILES[name][0]:
        problems.append(f"answered with {found.status or 'nothing'}, not {FILES[name][0]}")
    if found.seconds and found.p95 > SLOWER * calm.p95:
        problems.append("assessors wait too long")
    if found.wrong:
        problems.append(f"assessors got {found.wrong[:5]}")
    if found.memory > LARGER * calm.memory + limits.CHILD_MEMORY:
        problems.append("too much memory")
    p95 = f"p95 {found.p95 * 1000:.0f} ms of {len(found.seconds)}" if found.seconds else "too quick"
    print(
        f"  {name} ({size:,} bytes): {p95}, {found.memory / 1e6:.0f} MB: "
        f"{'; '.join(problems) or 'passed'}"
    )
    return not problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=4)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], action="append")
    chosen = parser.parse_args()
    passed = True
    for name in chosen.database or ["sqlite", "postgresql"]:
        print(name)
        with (
            tempfile.TemporaryDirectory() as folder,
            database(name, Path(folder)) as (url, _),
            serving(url, Path(folder)) as server,
        ):
            process = psutil.Process(server.process.pid)
            passed &= asyncio.run(run(server.url, url, process, chosen.people))
            alive = httpx.get(f"{server.url}/readyz").status_code == 200
            passed &= alive
            print("  the server goes on" if alive else "  the server needs a restart")
    print("passed" if passed else "FAILED")
    sys.exit(not passed)


if __name__ == "__main__":
    main()
