"""Assessors who answer, undo, redo, reload, and resend requests without a reply."""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from random import Random

from bench.browser_client import Entry, JudgingClient, Question, Refused
from bench.connection import TRANSPORT_ERRORS
from bench.faults.records import Record

ANSWERS = ("left", "right", "tie")
PAUSE = 0.02
AGAIN = 0.1
_NUMBERS = itertools.count(1)


@dataclass
class Tally:
    """Totals over all assessors."""

    acknowledged: int = 0
    last: float = 0.0  # when an entry was last acknowledged
    statuses: Counter[int] = field(default_factory=Counter)
    cut: Counter[str] = field(default_factory=Counter)  # requests without a reply, by error

    def acknowledge(self) -> None:
        """Count one entry."""
        self.acknowledged += 1
        self.last = time.monotonic()


class Assessor:
    """One tab of one person; ``mischief`` contains the faults of the next entry.

    A finished assignment is undone a little, then left for the next one of ``work``.
    """

    def __init__(
        self,
        work: Sequence[tuple[JudgingClient, Record]],
        tally: Tally,
        random: Random,
        pause: float = PAUSE,
    ) -> None:
        self._left = list(work[1:])
        self.client, self.record = work[0]
        self.mischief: list[str] = []
        self.tally, self._random, self._pause = tally, random, pause
        self.question: Question | None = None

    async def work(self, stop: asyncio.Event) -> None:
        """Judge until ``stop`` is set."""
        while not stop.is_set():
            question = self.question or await self._open()
            if question is not None and question.finished and self._moves_on():
                continue
            if question is not None:
                await self._submit(self.choose(question), stop)
            await asyncio.sleep(self._pause * 2 * self._random.random())
        self.client.connection.close()
        await asyncio.sleep(0)  # lets the transport close

    def _moves_on(self) -> bool:
        if not self._left or self._random.random() < 0.7:
            return False
        self.client.connection.close()
        self.client, self.record = self._left.pop(0)
        self.question = None
        return True

    def choose(self, question: Question) -> Entry:
        """Decide what to send."""
        draw = self._random.random()
        if question.can_redo and draw < 0.04:
            return Entry(question.position, "redo")
        if question.finished or (question.can_undo and draw < 0.1):
            return Entry(question.position, "undo")
        answer, note = self._random.choice(ANSWERS), f"note {next(_NUMBERS)}"
        return Entry(question.position, "answer", question.shown, answer, note)

    async def _open(self) -> Question | None:
        try:
            return self._see(await self.client.open())
        except (*TRANSPORT_ERRORS, Refused) as error:
            await self._wait(error)
            return None

    def _see(self, question: Question) -> Question:
        self.record.show(question)
        self.question = question
        return question

    async def _submit(self, entry: Entry, stop: asyncio.Event) -> None:
        """Send an entry until there is a reply, as the page does, or give up and reload."""
        self.record.send(entry)
        while not stop.is_set():
            try:
                await self._suffer(entry)
                status, question = await self.client.send(entry)
            except (*TRANSPORT_ERRORS, Refused) as error:
                await self._wait(error)
                if self._random.random() < 0.2:
                    self.question = None
                    return
                continue
            self._see(question)
            self.tally.statuses[status] += 1
            if status == 200:
                self.record.acknowledge(entry)
                self.tally.acknowledge()
            return

    async def submit_aside(self, entry: Entry) -> None:
        """Send an entry once on a separate connection, ignoring the result."""
        self.record.send(entry)
        client = copy(self.client)
        client.connection = self.client.connection.another()
        try:
            status, question = await client.send(entry)
        except (*TRANSPORT_ERRORS, Refused):
            return
        finally:
            client.connection.close()
        self.record.show(question)
        if status == 200:
            self.record.acknowledge(entry)

    async def _wait(self, error: Exception) -> None:
        if isinstance(error, Refused):
            self.tally.statuses[error.reply.status] += 1
        else:
            self.tally.cut[type(error).__name__] += 1
        await asyncio.sleep(AGAIN * (0.5 + self._random.random()))

    async def _suffer(self, entry: Entry) -> None:
        """Apply a client fault to this entry."""
        while self.mischief:
            match self.mischief.pop():
                case "gone":
                    data = self.client.encoded(entry)
                    cut = self._random.randrange(1, len(data))
                    await self.client.connection.cut(data[:cut], after=0.05)
                case "unread":
                    await self.client.connection.cut(self.client.encoded(entry), after=0.001)
                case "replay":
                    await self._replay()

    async def _replay(self) -> None:
        """Resend an older entry; nothing may change."""
        positions = sorted(self.record.acknowledged)
        if positions:
            old = self._random.choice(self.record.sent[self._random.choice(positions)])
            status, question = await self.client.send(old)
            self.record.show(question)
            if status == 200:
                self.record.acknowledge(old)
