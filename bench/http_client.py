"""A cheap HTTP client for benchmarks: one keep-alive connection, a browser's cache of pages.

An ordinary client costs a millisecond per request, as much as what is measured.
"""

import asyncio
import html
import json
import re
import time
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlencode

_FRAME = re.compile(r'<iframe[^>]* src="([^"]+)"')
_INPUT = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')
_QUESTION = re.compile(r'<div id="entry".*?</div>', re.DOTALL)
_MAX_AGE = re.compile(rb"max-age=(\d+)")
FORM = "application/x-www-form-urlencoded"


@dataclass(slots=True)
class Reply:
    """A response."""

    status: int
    head: bytes
    body: bytes


@dataclass(slots=True)
class Connection:
    """A keep-alive connection, the headers of every request, and the cache of a browser."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    headers: dict[str, str]
    cached: dict[str, float] = field(default_factory=dict)
    requests: int = 0

    @classmethod
    async def open(cls, port: int, headers: dict[str, str]) -> Self:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        return cls(reader, writer, {"Host": f"localhost:{port}", **headers})

    async def send(self, method: str, path: str, body: str = "", kind: str = FORM) -> Reply:
        """Send a request and read the whole reply, reconnecting if the connection has ended."""
        try:
            return await self._send(method, path, body, kind)
        except (asyncio.IncompleteReadError, ConnectionError):
            port = int(self.headers["Host"].rpartition(":")[2])
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
            return await self._send(method, path, body, kind)

    async def _send(self, method: str, path: str, body: str, kind: str) -> Reply:
        lines = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in self.headers.items())]
        if method == "POST":
            lines += [f"Content-Type: {kind}", f"Content-Length: {len(body.encode())}"]
        self.writer.write("\r\n".join([*lines, "", body]).encode())
        self.requests += 1
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0] or 0)
        return Reply(int(head[9:12]), head, await self.reader.readexactly(length))

    async def fetch_pages(self, text: str) -> None:
        """Fetch the page frames in ``text`` that are not cached."""
        now = time.time()
        for source in dict.fromkeys(map(html.unescape, _FRAME.findall(text))):
            if self.cached.get(source, 0.0) < now:
                reply = await self.send("GET", source)
                assert reply.status == 200, reply
                age = _MAX_AGE.search(reply.head)
                self.cached[source] = now + int(age[1]) if age else 0.0


def answer_by_name(left: str, right: str) -> str:
    """Prefer by the number in the name, which encodes the worth of the page, well mixed."""
    worth = [int(name.rsplit("d", 1)[1]) * 7919 % 1009 for name in (left, right)]
    return "left" if worth[0] > worth[1] else "right"


async def judge_in_browser(port: int, job: dict[str, Any], answers: int, think: float) -> list[Any]:
    """Judge like the page; return per answer the seconds in total, of the POST, and the time."""
    line = await Connection.open(port, {"Cookie": job["cookie"]})
    url = f"/assignments/{job['assignment']}"
    times: list[list[float]] = []
    active_ms = int(1000 * think)
    await asyncio.sleep(job["delay"] * think)
    text = (await line.send("GET", url)).body.decode()
    line.headers |= {"X-CSRF-Token": job["csrf"], "HX-Request": "true"}
    text += await _next(line, url, text)
    await line.fetch_pages(text)
    while len(times) < answers and _asks(text):
        await asyncio.sleep(think)
        said = dict(_INPUT.findall(_QUESTION.findall(text)[0]))
        said |= {"answer": answer_by_name(said["left"], said["right"]), "active_ms": active_ms}
        start = time.perf_counter()
        reply = await line.send("POST", f"{url}/judgments", urlencode(said))
        assert reply.status == 200, reply
        text = reply.body.decode()
        posted = time.perf_counter() - start
        text += await _next(line, url, text)
        await line.fetch_pages(text)
        times.append([time.perf_counter() - start, posted, start])
    return [times, line.requests]


def _asks(text: str) -> bool:
    """Return whether the question in ``text``, not a prefetched one, is open."""
    return 'data-state="asking"' in _QUESTION.findall(text)[0]


async def _next(line: Connection, url: str, text: str) -> str:
    """Request the possible next questions, unless the reply contained them."""
    if "data-answers=" in text or not _asks(text):
        return ""
    position = dict(_INPUT.findall(_QUESTION.findall(text)[0]))["position"]
    return (await line.send("GET", f"{url}/next?position={position}")).body.decode()


async def judge_by_program(port: int, job: dict[str, Any], answers: int, think: float) -> list[Any]:
    """Judge through the API; return per answer the seconds in total, of the POST, and the time."""
    line = await Connection.open(port, {"Authorization": f"Bearer {job['token']}"})
    url = f"/api/v1/assignments/{job['assignment']}"
    times: list[list[float]] = []
    active_ms = int(1000 * think)
    state = json.loads((await line.send("GET", url)).body)
    while len(times) < answers and state["state"] == "asking":
        await asyncio.sleep(think)
        sides = {side: state["question"][side]["id"] for side in ("left", "right")}
        said = {"position": state["position"], **sides, "answer": answer_by_name(**sides)}
        start = time.perf_counter()
        body = json.dumps({**said, "active_ms": active_ms})
        reply = await line.send("POST", f"{url}/judgments", body, "application/json")
        assert reply.status == 200, reply
        state = json.loads(reply.body)
        times.append([time.perf_counter() - start, time.perf_counter() - start, start])
    return [times, line.requests]


async def judge_all(task: dict[str, Any]) -> dict[str, Any]:
    """Judge all jobs concurrently."""
    judge = judge_in_browser if task["path"] == "browser" else judge_by_program
    start = time.perf_counter()
    found = await asyncio.gather(
        *(judge(task["port"], job, task["answers"], task["think"]) for job in task["jobs"])
    )
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "found": found}


def main() -> None:
    """Read a task from standard input, write the measurements to standard output."""
    print(json.dumps(asyncio.run(judge_all(json.loads(input())))))


if __name__ == "__main__":
    main()
