"""Virtual assessors in a separate process: they read, judge, undo and reload."""

import asyncio
import resource
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from bench.browser_client import ApiClient, BrowserClient, Entry, JudgingClient, Question, Refused
from bench.connection import TRANSPORT_ERRORS, Connection
from bench.load_study import Person

ANSWERS = ("left", "left", "right", "right", "tie")
OPENING_AT_ONCE = 8
PATIENCE = 60.0  # seconds; a longer wait is an error


@dataclass(frozen=True, slots=True)
class Load:
    """How the assessors work: seconds between reply and answer, and for how long."""

    url: str
    think: float
    seconds: float
    browser: bool
    seed: str = "1"


@dataclass
class Measured:
    """Measurements of the assessors of one process; times in seconds."""

    answers: list[float] = field(default_factory=list)  # one request, from sending to its reply
    accepted: list[float] = field(default_factory=list)  # the same with every retry after a 503
    paths: list[float] = field(default_factory=list)  # with the prefetch and the pages
    per_assessor: list[int] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    errors: int = 0
    pages: int = 0
    cpu: float = 0.0

    def add(self, other: "Measured") -> None:
        """Add the measurements of another process."""
        for name in ("answers", "accepted", "paths", "per_assessor"):
            getattr(self, name).extend(getattr(other, name))
        self.statuses.update(other.statuses)
        self.errors += other.errors
        self.pages += other.pages
        self.cpu += other.cpu


def drive(load: Load, people: Sequence[Person]) -> Measured:
    """Run ``people``; called in a separate process."""
    measured = asyncio.run(_drive(load, people))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    measured.cpu = usage.ru_utime + usage.ru_stime
    return measured


async def _drive(load: Load, people: Sequence[Person]) -> Measured:
    measured = Measured()
    at_once = asyncio.Semaphore(OPENING_AT_ONCE)
    assessors = [VirtualAssessor(load, person, measured) for person in people]
    await asyncio.gather(*(each.open(at_once) for each in assessors))
    end = time.monotonic() + load.seconds
    await asyncio.gather(*(each.work(end) for each in assessors))
    measured.per_assessor = [each.answered for each in assessors]
    await asyncio.sleep(0)  # lets the transports close
    return measured


class VirtualAssessor:
    """One person who works on one assignment after another."""

    def __init__(self, load: Load, person: Person, measured: Measured) -> None:
        self._load, self._measured = load, measured
        self._random = Random(f"{load.seed} {person.token}")
        self._clients = [_client(load, person, number) for number in person.assignments]
        self._question: Question | None = None
        self.answered = 0

    async def open(self, at_once: asyncio.Semaphore) -> None:
        """Load the first question before anything is measured."""
        async with at_once:
            await self._reload()

    async def work(self, end: float) -> None:
        """Judge until ``end``."""
        await asyncio.sleep(self._load.think * self._random.random())
        while time.monotonic() < end:
            try:
                await self._step(end)
            except (*TRANSPORT_ERRORS, Refused):
                self._measured.errors += 1
                self._question = None
            await asyncio.sleep(self._load.think * (0.5 + self._random.random()))
        self._clients[0].connection.close()

    async def _step(self, end: float) -> None:
        question = self._question
        if question is not None and question.finished and len(self._clients) > 1:
            self._clients.pop(0).connection.close()
            question = None
        if question is None or self._random.random() < 0.02:
            question = await self._reload()
        await self._submit(self._entry(question), end)

    async def _reload(self) -> Question:
        client = self._clients[0]
        self._question = await client.open()
        await self._read(client, self._question)
        return self._question

    def _entry(self, question: Question) -> Entry:
        if question.finished or (question.can_undo and self._random.random() < 0.05):
            return Entry(question.position, "undo")
        answer = self._random.choice(ANSWERS)
        return Entry(question.position, "answer", question.shown, answer)

    async def _submit(self, entry: Entry, end: float) -> None:
        """Send an entry; after a 503 wait as long as the server asks, and resend it."""
        client, measured, start = self._clients[0], self._measured, time.perf_counter()
        while True:
            sent = time.perf_counter()
            try:
                status, self._question = await client.send(entry)
                break
            except Refused as refused:
                measured.statuses[refused.reply.status] += 1
                measured.answers.append(time.perf_counter() - sent)
                if refused.reply.status != 503 or time.monotonic() > end:
                    raise
                await asyncio.sleep(float(refused.reply.headers.get("retry-after", "1")))
        now = time.perf_counter()
        measured.statuses[status] += 1
        measured.answers.append(now - sent)
        measured.accepted.append(now - start)
        self.answered += status == 200
        await self._read(client, self._question)
        measured.paths.append(time.perf_counter() - start)

    async def _read(self, client: JudgingClient, question: Question) -> None:
        """Load the pages shown and the possible next questions, as a browser does."""
        if isinstance(client, BrowserClient) and not question.finished:
            self._measured.pages += await client.load_pages()
            self._measured.pages += await client.prefetch(question)


def _client(load: Load, person: Person, assignment_id: int) -> JudgingClient:
    client: JudgingClient = ApiClient(load.url, assignment_id, person.token)
    if load.browser:
        client = BrowserClient(load.url, assignment_id, person.cookie, person.csrf)
    client.connection = Connection(load.url, timeout=PATIENCE)
    return client
