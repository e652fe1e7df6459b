"""Slowdown of assessors by anonymous clients: idle, slow and guessing ones, on both databases.

    .venv/bin/python -m bench.anonymous
    .venv/bin/python -m bench.anonymous --strangers 200 --seconds 20

One real server (one worker), eight assessors who judge through the API with a pause after each
answer, and strangers in a separate process: some send nothing, half a head, no body or a body byte
by byte, some read a large response byte by byte, some try random tokens. Prints the median and the
95th percentile of an answer without and with the strangers. Everything stays on this machine and
ends by itself.
"""

import argparse
import asyncio
import multiprocessing
import secrets
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.synchronize import Event
from pathlib import Path

import httpx

from bench.judging import ASSESSORS, databases, jobs, percentile
from tests.judging import Job, answer_to
from tests.live import serving
from topkapi.app.db.engine import make_engine, make_sessions

TARGET_MS = 100
PAUSE = 0.2
HEAD = b"Host: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
Stranger = Callable[[asyncio.StreamReader, asyncio.StreamWriter], AsyncIterator[None]]


async def silent(
    _reader: asyncio.StreamReader, _writer: asyncio.StreamWriter
) -> AsyncIterator[None]:
    """Send nothing."""
    while True:
        yield


async def half_head(
    _reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> AsyncIterator[None]:
    """Send headers without an end."""
    writer.write(b"GET / HTTP/1.1\r\n" + HEAD)
    while True:
        writer.write(b"X-More: x\r\n")
        yield


async def no_body(
    _reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> AsyncIterator[None]:
    """Announce a body but send none."""
    path = secrets.choice((b"/sign-out", b"/sign-in", b"/assignments/1/judgments"))
    writer.write(b"POST " + path + b" HTTP/1.1\r\n" + HEAD + b"Content-Length: 5\r\n\r\n")
    while True:
        yield


async def slow_body(
    _reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> AsyncIterator[None]:
    """Send a body byte by byte."""
    writer.write(b"POST /sign-in HTTP/1.1\r\n" + HEAD + b"Content-Length: 9000\r\n\r\n")
    while True:
        writer.write(b"a")
        yield


async def slow_reader(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> AsyncIterator[None]:
    """Request a large response many times and read it byte by byte."""
    writer.write((b"GET /api/v1/openapi.json HTTP/1.1\r\n" + HEAD + b"\r\n") * 20)
    while True:
        await reader.read(1)
        yield


async def guesser(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> AsyncIterator[None]:
    """Try random tokens."""
    while True:
        token = b"Authorization: Bearer topkapi_" + secrets.token_urlsafe(32).encode() + b"\r\n"
        writer.write(b"GET /api/v1/assignments HTTP/1.1\r\n" + HEAD + token + b"\r\n")
        await reader.read(65536)
        yield


KINDS: tuple[Stranger, ...] = (silent, half_head, no_body, slow_body, slow_reader, guesser)


async def behave(kind: Stranger, port: int, until: float) -> int:
    """Act as a stranger until ``until``; return how often the server closed the connection."""
    closed = 0
    while time.monotonic() < until:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
            async for _ in kind(reader, writer):
                await asyncio.wait_for(writer.drain(), 1)
                await asyncio.sleep(0.5)
                if writer.is_closing() or reader.at_eof() or time.monotonic() > until:
                    break
            writer.transport.abort()
        except OSError:
            await asyncio.sleep(0.1)
        closed += 1
    return closed


def strangers(port: int, count: int, seconds: float, all_there: Event) -> None:
    """Send ``count`` strangers to the server, equally many of each kind."""

    async def say() -> None:
        await asyncio.sleep(2)
        all_there.set()

    async def run() -> None:
        until = time.monotonic() + seconds
        kinds = [KINDS[number % len(KINDS)] for number in range(count)]
        await asyncio.gather(say(), *(behave(kind, port, until) for kind in kinds))

    asyncio.run(run())


def judge(url: str, job: Job, until: float) -> list[float]:
    """Judge with pauses until the time is over; return the seconds each answer took."""
    times: list[float] = []
    with httpx.Client(base_url=url, headers=job.headers, timeout=30) as client:
        state = client.get(job.url).json()
        while time.monotonic() < until and state["state"] == "asking":
            body = answer_to(state)
            begin = time.perf_counter()
            reply = client.post(f"{job.url}/judgments", json=body)
            times.append(time.perf_counter() - begin)
            reply.raise_for_status()
            state = reply.json()
            time.sleep(PAUSE)
    return times


def crowd(url: str, work: list[Job], seconds: float) -> list[float]:
    """Return the seconds per answer of assessors who work at the same time."""
    until = time.monotonic() + seconds
    with ThreadPoolExecutor(len(work)) as pool:
        return [
            each for times in pool.map(lambda job: judge(url, job, until), work) for each in times
        ]


def measure(name: str, url: str, folder: Path, count: int, seconds: float) -> None:
    """Measure answers on one database, without and with strangers."""
    engine = make_engine(url)
    work = [jobs(make_sessions(engine), ASSESSORS, 60, 20) for _ in range(3)]
    engine.dispose()
    with serving(url, folder, workers="1") as server:
        port = int(server.url.rsplit(":", 1)[1])
        crowd(server.url, work[0], 2)
        alone = crowd(server.url, work[1], seconds)
        context = multiprocessing.get_context("spawn")
        all_there = context.Event()
        arguments = (port, count, seconds + 3, all_there)
        others = context.Process(target=strangers, args=arguments)
        others.start()
        all_there.wait(60)
        among = crowd(server.url, work[2], seconds)
        others.join()
    print(name)
    print(f"  {ASSESSORS} assessors             {spread(alone)}")
    print(f"  and {count:3} strangers       {spread(among)}, target p95 under {TARGET_MS} ms")


def spread(times: list[float]) -> str:
    """Format the median and the 95th percentile."""
    p50, p95 = 1e3 * statistics.median(times), 1e3 * percentile(times, 0.95)
    longest = f"longest {1e3 * max(times):.0f} ms of {len(times)}"
    return f"p50 {p50:.1f} ms, p95 {p95:.1f} ms, {longest}"


def main() -> None:
    """Measure on both databases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strangers", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20.0)
    chosen = parser.parse_args()
    with databases() as urls, tempfile.TemporaryDirectory() as folder:
        for name, url in urls.items():
            measure(name, url, Path(folder), chosen.strangers, chosen.seconds)


if __name__ == "__main__":
    main()
