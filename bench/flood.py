"""Floods of requests from one address: passwords, tokens, links, one person, or a hostile file.

`bench.hostile` runs this as a process of its own, so that the assessors it measures do not share an
event loop with the attacker: `python -m bench.flood URL KIND CONNECTIONS SECONDS [ARGUMENTS]`. It
prints how often each status was received, at least one on each connection.
"""

import asyncio
import json
import os
import re
import secrets
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlencode

from bench.connection import TRANSPORT_ERRORS, Connection

ADDRESS = "127.0.0.2"  # not that of the assessors
CONNECTIONS = {"passwords": 60, "tokens": 200, "links": 200, "person": 200}
_FIELD = re.compile(r'name="csrf_token" value="([^"]*)"')
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_JSON = {"Content-Type": "application/json"}


async def passwords(connection: Connection) -> AsyncIterator[int]:
    """Try passwords of people who may exist."""
    page = await connection.request("GET", "/sign-in", {})
    yield page.status
    found = _FIELD.search(page.text)
    if found is None:
        return
    headers = {**_FORM, "Cookie": page.headers["set-cookie"].partition(";")[0]}
    while True:
        tried = {"email": f"{secrets.token_hex(3)}@x.example", "password": "tulips and roses"}
        body = urlencode({**tried, "csrf_token": found[1]}).encode()
        yield (await connection.request("POST", "/sign-in", headers, body)).status


async def tokens(connection: Connection) -> AsyncIterator[int]:
    """Try tokens of the API."""
    while True:
        headers = {"Authorization": f"Bearer topkapi_{secrets.token_urlsafe(32)}"}
        yield (await connection.request("GET", "/api/v1/me", headers)).status
        yield (await connection.request("POST", "/api/v1/assignments/1/undo", headers)).status


async def links(connection: Connection) -> AsyncIterator[int]:
    """Try entry links and invitations."""
    while True:
        for path in ("enter", "invitations"):
            yield (await connection.request("GET", f"/{path}/{secrets.token_hex(32)}", {})).status


async def person(connection: Connection, token: str, assignment: str) -> AsyncIterator[int]:
    """Read and write as somebody with an account."""
    headers = {**_JSON, "Authorization": f"Bearer {token}"}
    path, body = f"/api/v1/assignments/{assignment}", json.dumps({"position": 0}).encode()
    while True:
        yield (await connection.request("GET", path, headers)).status
        yield (await connection.request("POST", f"{path}/undo", headers, body)).status


async def file(connection: Connection, token: str, path: str, name: str) -> AsyncIterator[int]:
    """Upload a file as an administrator."""
    headers = {"Content-Type": "application/octet-stream", "Authorization": f"Bearer {token}"}
    data = Path(name).read_bytes()
    while True:
        yield (await connection.request("POST", path, headers, data)).status


async def one(url: str, kind: str, until: float, known: list[str], seen: Counter[int]) -> None:
    """Send one request after another on one connection until the time is over."""
    connection = Connection(url, local=ADDRESS, timeout=600)
    goes_on = True
    while goes_on:
        try:
            async for status in globals()[kind](connection, *known):
                seen[status] += 1
                if time.monotonic() > until:
                    break
        except TRANSPORT_ERRORS:
            seen[0] += 1
            await asyncio.sleep(0.1)
        goes_on = time.monotonic() < until
    connection.close()


async def flood(
    url: str, kind: str, connections: int, seconds: float, known: list[str]
) -> Counter[int]:
    """Flood the server on many connections at once; return the statuses."""
    seen, until = Counter[int](), time.monotonic() + seconds
    await asyncio.gather(*(one(url, kind, until, known, seen) for _ in range(connections)))
    return seen


if __name__ == "__main__":
    os.nice(5)  # the attacker's machine is another one
    address, kind, connections, seconds, *known = sys.argv[1:]
    print(json.dumps(asyncio.run(flood(address, kind, int(connections), float(seconds), known))))
