"""Assessors for benchmarks: one judges through the API, the other like the judging page's scripts.

Both have the same interface: `open` loads the open question, `send` submits an entry and returns
the next question. Only `BrowserClient` knows the protocol of the browser.
"""

import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlencode

from bench.connection import Connection, Reply
from topkapi.app.web.common.cookies import CSRF_HEADER, SESSION_COOKIE

_ENTRY = re.compile(r'<div id="entry"(?P<facts>[^>]*)>(?P<fields>.*?)</div>', re.DOTALL)
_FIELD = re.compile(r'name="(\w+)" value="([^"]*)"')
_FACT = re.compile(r'data-(\w+)="([^"]*)"')
_FRAME = re.compile(r'<iframe [^>]*src="([^"]*)"')
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_FRAGMENT = {"HX-Request": "true"}


@dataclass(frozen=True, slots=True)
class Question:
    """A question: the position, the pages by field (`left` and `right`, or `document`)."""

    position: int
    shown: Mapping[str, str]
    finished: bool
    can_undo: bool
    can_redo: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """An answer to the question shown, an undo, or a redo."""

    position: int
    kind: str
    shown: Mapping[str, str] = field(default_factory=dict)
    answer: str | None = None
    note: str | None = None


class Refused(Exception):
    """A reply that is neither a question nor a stale form."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(f"{reply.status}: {reply.body[:200]!r}")
        self.reply = reply


class JudgingClient(Protocol):
    """The client with which an assessor judges one assignment."""

    connection: Connection

    async def open(self) -> Question:
        """Load the open question."""
        ...

    async def send(self, entry: Entry) -> tuple[int, Question]:
        """Submit an entry; return the status, 200 or 409, and the next question."""
        ...

    def encoded(self, entry: Entry) -> bytes:
        """Return the request of an entry as bytes, to be cut off or replayed."""
        ...


class ApiClient:
    """Judges through the API."""

    def __init__(self, url: str, assignment_id: int, token: str) -> None:
        self.connection = Connection(url)
        self._url = f"/api/v1/assignments/{assignment_id}"
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    async def open(self) -> Question:
        """Load the open question."""
        return self._question(await self.connection.request("GET", self._url, self._headers))

    async def send(self, entry: Entry) -> tuple[int, Question]:
        """Submit an entry; return the status and the next question."""
        path, body = self._request(entry)
        reply = await self.connection.request("POST", path, self._headers, body)
        return reply.status, self._question(reply)

    def encoded(self, entry: Entry) -> bytes:
        """Return the request of an entry as bytes."""
        path, body = self._request(entry)
        return self.connection.encoded("POST", path, self._headers, body)

    def _request(self, entry: Entry) -> tuple[str, bytes]:
        body: dict[str, Any] = {"position": entry.position, "active_ms": 10}
        if entry.kind == "answer":
            body |= {**entry.shown, "answer": entry.answer, "note": entry.note}
        path = "judgments" if entry.kind == "answer" else entry.kind
        return f"{self._url}/{path}", json.dumps(body).encode()

    def _question(self, reply: Reply) -> Question:
        if reply.status not in (200, 409):
            raise Refused(reply)
        state = json.loads(reply.body)
        asked = state["question"] or {}
        return Question(
            state["position"],
            {name: page["id"] for name, page in asked.items()},
            state["state"] != "asking",
            state["can_undo"],
            state["can_redo"],
        )


class BrowserClient:
    """Judges like the page: posts a form, prefetches possible next questions, loads the pages
    shown.
    """

    def __init__(self, url: str, assignment_id: int, cookie: str, csrf: str) -> None:
        self.connection = Connection(url)
        self._url = f"/assignments/{assignment_id}"
        self._headers = {"Cookie": f"{SESSION_COOKIE}={cookie}"}
        self._csrf = {CSRF_HEADER: csrf}
        self._kept: set[str] = set()  # pages in the browser's cache
        self._frames: list[str] = []
        self._has_next = False  # whether the last reply contained the possible next questions

    async def open(self) -> Question:
        """Load the judging page or, once finished, the fragment that contains the position."""
        question = self._question(await self.connection.request("GET", self._url, self._headers))
        if question.position >= 0:
            return question
        headers = {**self._headers, **_FRAGMENT}
        return self._question(await self.connection.request("GET", self._url, headers))

    async def send(self, entry: Entry) -> tuple[int, Question]:
        """Submit an entry; return the status and the next question."""
        headers = {**self._headers, **self._csrf, **_FRAGMENT, **_FORM}
        path = f"{self._url}/judgments"
        reply = await self.connection.request("POST", path, headers, self._body(entry))
        return reply.status, self._question(reply)

    def encoded(self, entry: Entry) -> bytes:
        """Return the request of an entry as bytes."""
        headers = {**self._headers, **self._csrf, **_FRAGMENT, **_FORM}
        return self.connection.encoded("POST", f"{self._url}/judgments", headers, self._body(entry))

    async def load_pages(self) -> int:
        """Load the pages on the screen that are not cached; return how many."""
        wanted = [source for source in self._frames if source not in self._kept]
        for source in wanted:
            reply = await self.connection.request("GET", source, {"Sec-Fetch-Dest": "iframe"})
            if "max-age" in reply.headers.get("cache-control", ""):
                self._kept.add(source)
        return len(wanted)

    async def prefetch(self, question: Question) -> int:
        """Load the pages of possible next questions, which the reply may have named already."""
        if self._has_next:
            return await self.load_pages()
        path = f"{self._url}/next?position={question.position}"
        reply = await self.connection.request("GET", path, {**self._headers, **_FRAGMENT})
        self._frames += [html.unescape(source) for source in _FRAME.findall(reply.text)]
        return await self.load_pages()

    def _body(self, entry: Entry) -> bytes:
        fields: dict[str, Any] = {"position": entry.position, "active_ms": 10, **entry.shown}
        if entry.kind == "answer":
            fields |= {"answer": entry.answer, "note": entry.note or ""}
        else:
            fields["step"] = entry.kind
        return urlencode(fields).encode()

    def _question(self, reply: Reply) -> Question:
        if reply.status not in (200, 409):
            raise Refused(reply)
        found = _ENTRY.search(reply.text)
        if found is None:  # the page of a finished query
            return Question(-1, {}, True, False, False)
        self._frames = [html.unescape(source) for source in _FRAME.findall(reply.text)]
        self._has_next = "data-answers=" in reply.text
        fields = {name: html.unescape(value) for name, value in _FIELD.findall(found["fields"])}
        facts = dict(_FACT.findall(found["facts"]))
        position = int(fields.pop("position"))
        finished = facts["state"] != "asking"
        return Question(position, fields, finished, facts["undo"] == "1", facts["redo"] == "1")
