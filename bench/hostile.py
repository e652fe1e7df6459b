"""Attack the server while assessors judge, and measure whether they notice.

`python -m bench.hostile` runs on both databases; `--only flood` runs the attacks so named. Passed:
every hostile file is refused, each harmless one imported, and a flood gets no error but 503;
meanwhile the assessors' 95th percentile is at most 5 times the undisturbed one, none of them gets a
503 or an error, the memory of the server is at most 1.5 times the undisturbed, that of its children
at most the limit of one, and the server needs no restart.
"""

import argparse
import asyncio
import gzip
import json
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
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
from bench.flood import CONNECTIONS
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


AT_ONCE = "six PDFs of nested forms at once"
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
    AT_ONCE: (422, with_media("a.pdf", form_bomb())),
}


FILE_SECONDS = 5  # a file that is refused is sent again for so long
FLOOD_SECONDS = 10
Reply = int | dict[str, int]  # the status, or how often each


@dataclass
class Watch:
    """What the assessors of one stage met, and the memory of the server."""

    seconds: list[float] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)
    memory: int = 0
    children: int = 0
    reply: Reply = 0

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


def memory_of_children(server: psutil.Process) -> int:
    """Return the memory that the server's children share with no other.

    A child that is just being started is still the server, memory and all.
    """
    total, own = 0, server.cmdline()
    for each in server.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            total += each.memory_full_info().uss if each.cmdline() != own else 0
    return total


async def watched(server: psutil.Process, attack: Coroutine[None, None, Reply]) -> Watch:
    """Collect what happens until the attack has ended."""
    work = asyncio.create_task(attack)
    watch = TimedClient.watch = Watch()
    while not work.done():
        watch.memory = max(watch.memory, server.memory_info().rss)
        watch.children = max(watch.children, memory_of_children(server))
        await asyncio.sleep(0.1)
    watch.reply = work.result()
    return watch


async def undisturbed(seconds: float) -> Reply:
    await asyncio.sleep(seconds)
    return 0


async def flooded(url: str, kind: str, connections: int, seconds: float, *known: str) -> Reply:
    """Attack from another process; return the status, or how often each if they differ."""
    address = url.replace("localhost", "127.0.0.1")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.flood", address, kind, str(connections), str(seconds)),
        *known,
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    found: dict[str, int] = json.loads(output)
    return int(next(iter(found))) if len(found) == 1 else found


async def run(url: str, database_url: str, process: psutil.Process, people: int, only: str) -> bool:
    """Run every attack; return whether the server passed."""
    engine = make_engine(database_url)
    with make_sessions(engine).write.begin() as session:
        study = make_study(session, slug="tulips", queries=QUERIES, documents=60)
        users = [make_user(session) for _ in range(people)]
        jobs = [
            [make_job(session, query=each, user=user, k=20) for each in queries_of(session, study)]
            for user in users
        ]
        flooder = make_job(session, query=queries_of(session, study)[0], user=make_user(session))
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
        attacks: dict[str, Coroutine[None, None, Reply]] = {}
        for number, (name, (status, made)) in enumerate(FILES.items()):
            if only in name:
                file = Path(folder) / f"attack{number}"
                file.write_bytes(made(Path(folder) / f"study{number}"))
                path = "studies/tulips/systems" if name == RUN else "studies"
                known: tuple[str, ...] = token, f"/api/v1/{path}?filename=study.zip", str(file)
                at_once = 6 if name == AT_ONCE else 1
                again = FILE_SECONDS if status != 201 and name != AT_ONCE else 0
                attacks[name] = flooded(url, "file", at_once, again, *known)
        for kind, count in CONNECTIONS.items():
            name = f"flood of {kind} on {count} connections"
            if only in name:
                known = (flooder.token, str(flooder.assignment_id)) if kind == "person" else ()
                attacks[name] = flooded(url, kind, count, FLOOD_SECONDS, *known)
        async with asyncio.TaskGroup() as group:
            for each in assessors:
                group.create_task(each.work(ended))
            await watched(process, undisturbed(3))
            calm = await watched(process, undisturbed(10))
            print(f"  undisturbed: p95 {calm.p95 * 1000:.1f} ms, {calm.memory / 1e6:.0f} MB")
            for name, attack in attacks.items():
                passed &= show(name, await watched(process, attack), calm)
                await asyncio.sleep(1)
            ended.set()
    return passed


def show(name: str, found: Watch, calm: Watch) -> bool:
    """Print what one attack did; return whether everybody else went on."""
    problems = []
    if isinstance(found.reply, dict):
        wrong = {status for status in found.reply if status == "0" or status >= "500"} - {"503"}
        problems += [f"answered {status}" for status in wrong]
    elif name in FILES and found.reply != (expected := FILES[name][0]):
        problems.append(f"answered with {found.reply or 'nothing'}, not {expected}")
    if found.seconds and found.p95 > SLOWER * calm.p95:
        problems.append("assessors wait too long")
    if found.wrong:
        problems.append(f"assessors got {found.wrong[:5]}")
    if found.memory > LARGER * calm.memory or found.children > 1.1 * limits.CHILD_MEMORY:
        problems.append("too much memory")
    ratio, total = found.memory / calm.memory, (found.memory + found.children) / calm.memory
    print(
        f"  {name}: {found.reply}; {len(found.seconds)} answers, p95 {found.p95 * 1000:.1f} ms "
        f"({found.p95 / calm.p95:.1f}x), longest {max(found.seconds, default=0) * 1000:.0f} ms; "
        f"server {found.memory / 1e6:.0f} MB ({ratio:.2f}x), children {found.children / 1e6:.0f} "
        f"MB (together {total:.2f}x): {'; '.join(problems) or 'passed'}",
        flush=True,
    )
    return not problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=4)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], action="append")
    parser.add_argument("--only", default="", help="part of the names of the attacks to run")
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
            passed &= asyncio.run(run(server.url, url, process, chosen.people, chosen.only))
            alive = httpx.get(f"{server.url}/readyz").status_code == 200
            passed &= alive
            print("  the server goes on" if alive else "  the server needs a restart")
    print("passed" if passed else "FAILED")
    sys.exit(not passed)


if __name__ == "__main__":
    main()
