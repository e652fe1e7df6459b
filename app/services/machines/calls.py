"""Calls that are paid for once: a row is claimed before a request, and completed by its reply.

Who finds a completed row uses its reply. Who finds one in transit waits for it, unless the job that
made it has ended or lost its worker: then nobody knows whether the request arrived, and it is sent
again with the same idempotency key. Every try is reserved in the database before it is sent, so
that all runs of a machine share its cap; no transaction is open while a reply is waited for.
"""

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from json import dumps
from threading import Condition, Event
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from topkapi.app.db.base import clock, now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Job, MachineCall, MachineSpending
from topkapi.app.db.queries.jobs import is_held
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.machines.replies import ReadReply, ReplyForm, asked_for, read_reply
from topkapi.app.domain.machines.spending import Cap, CapReached, Usage
from topkapi.app.services.machines.endpoint import (
    ChatRequest,
    Endpoint,
    EndpointBusy,
    EndpointRefused,
    Reply,
)

_KEY = 64  # characters of a call's key; a second question has a suffix

MOST_WAIT = 300.0  # seconds between two tries, whatever the endpoint asks for
_REPAIR = "That reply could not be read. "
_POLL = 0.5
_PROBED = ("A", "B")


class Unreachable(Invalid):
    """The endpoint did not reply, however often it was asked."""


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """One question to the model: where it stands in the log, and its text."""

    assignment_id: int
    position: int
    prompt_number: int
    prompt: str
    sentence: str  # how to reply
    values: tuple[str, ...]
    was_cut: bool
    swapped: bool = False
    repeat: int = 0


@dataclass(slots=True)
class Calls:
    """Asks an endpoint for one job of a machine, within its cap; threads share it."""

    sessions: Sessions
    endpoint: Endpoint
    job_id: int
    spending_id: int
    cap: Cap = field(default_factory=Cap)
    tries: int = 6
    interval: float = 0.0  # seconds between two requests
    ended: Event = field(default_factory=Event)  # when set, nothing new is asked
    spent: Usage = field(default_factory=Usage)  # by this job in this process
    _next: float = 0.0
    _in_transit: int = 0
    _changed: Condition = field(default_factory=Condition)

    def ask(self, asked: ModelQuestion) -> ReadReply | None:
        """Return what the model says; None if its reply cannot be read, also on a second try."""
        key = self._key(asked)
        while True:
            call = self._claimed(key, asked)
            if call is None:
                self._wait(_POLL)
            elif call.finished_at is not None:
                return ReadReply(call.answer, call.confidence) if call.answer else None
            else:
                return self._made(key, asked)

    def find_form(self) -> ReplyForm:
        """Return the strictest form in which the endpoint replies to a simple question."""
        for form in ReplyForm:
            self.endpoint.form = form
            sentence = asked_for(form, _PROBED)
            messages = [
                {"role": "user", "content": f"Which letter comes first in the alphabet? {sentence}"}
            ]
            try:
                reply = self._sent(messages, _PROBED, f"probe-{self.job_id}-{form.value}")
            except EndpointRefused as refused:
                if refused.is_final or form is ReplyForm.WORD:
                    raise
                continue
            if _read(reply, form, _PROBED) is not None:
                return form
        raise Invalid("The model's replies cannot be read in any form.", field="model")

    def _key(self, asked: ModelQuestion) -> str:
        about: dict[str, Any] = {
            "endpoint": self.endpoint.address,
            "model": self.endpoint.model,
            "prompt": asked.prompt,
            "parameters": self.endpoint.parameters,
            "order": asked.swapped,
            "repeat": asked.repeat,
            "assignment": asked.assignment_id,
        }
        return sha256(dumps(about, sort_keys=True).encode()).hexdigest()

    def _claimed(self, key: str, asked: ModelQuestion) -> MachineCall | None:
        """Return the row if it is finished or ours now; None if another job's request is on."""
        try:
            with self.sessions.write.begin() as session:
                call = _call_of_key(session, key)
                if call is None:
                    call = self._row(key, asked)
                    session.add(call)
                elif call.finished_at is None:
                    if call.job_id != self.job_id and _is_running(session, call.job_id):
                        return None
                    call.job_id, call.claimed_at = self.job_id, now()
                session.flush()
                session.expunge(call)
                return call
        except IntegrityError:  # another job claimed it at the same moment
            return None

    def _row(self, key: str, asked: ModelQuestion) -> MachineCall:
        return MachineCall(
            key=key,
            job_id=self.job_id,
            assignment_id=asked.assignment_id,
            position=asked.position,
            order="ba" if asked.swapped else "ab",
            repeat=asked.repeat,
            prompt_number=asked.prompt_number,
            was_cut=asked.was_cut,
            model=self.endpoint.model,
            form=self.endpoint.form.value,
        )

    def _made(self, key: str, asked: ModelQuestion) -> ReadReply | None:
        """Ask, once more if the reply cannot be read, and complete the row."""
        form = self.endpoint.form
        first = self._sent([{"role": "user", "content": asked.prompt}], asked.values, key)
        read = _read(first, form, asked.values)
        replies = [first]
        if read is None:
            again = [
                {"role": "user", "content": asked.prompt},
                {"role": "assistant", "content": first.text or "(no reply)"},
                {"role": "user", "content": _REPAIR + asked.sentence},
            ]
            replies.append(self._sent(again, asked.values, f"{key}-2"))
            read = _read(replies[1], form, asked.values)
        with self.sessions.write.begin() as session:
            call = _call_of_key(session, key)
            assert call is not None
            _complete(call, replies, read, self.endpoint.redacted(replies[-1].text))
        return read

    def _sent(self, messages: Sequence[dict[str, str]], values: Sequence[str], key: str) -> Reply:
        for number in range(self.tries):
            self._wait_for_turn()
            try:
                return self._tried(self.endpoint.request(messages, values), key)
            except EndpointBusy as busy:
                if number + 1 == self.tries:
                    raise Unreachable(f"{busy} It was asked {self.tries} times.") from None
                usual = min(60.0, 2.0**number) * random.uniform(0.5, 1.0)
                self._wait(min(MOST_WAIT, busy.seconds if busy.seconds is not None else usual))
        raise AssertionError("a call is tried at least once")

    def _tried(self, request: ChatRequest, key: str) -> Reply:
        """Send a request once, and record what it took; at its bound if nobody reports it."""
        if request.limit is None and self.cap.cost is not None:
            raise EndpointRefused(
                "The endpoint accepts no limit on the tokens of a reply, so its cost cannot be "
                "capped. Cap the number of requests (--most-requests) instead."
            )
        with self._reserved(request.bound, key):
            try:
                reply = self.endpoint.ask(request, key)
            except EndpointBusy as busy:
                self._settle(request.bound, busy.spent, key)
                raise
            except EndpointRefused:
                self._settle(request.bound, Usage(requests=1), key)
                raise
            self._settle(request.bound, reply.spent, key)
            return reply

    @contextmanager
    def _reserved(self, bound: Usage, key: str) -> Iterator[None]:
        """Reserve the bound; while it exceeds the cap, wait for own requests to need less."""
        with self._changed:
            while (refusal := self._refusal(bound, key)) is not None:
                if not self._in_transit:
                    raise refusal
                self._changed.wait()
                self._wait(0.0)
            self._in_transit += 1
        try:
            yield
        finally:
            with self._changed:
                self._in_transit -= 1
                self._changed.notify_all()

    def _refusal(self, bound: Usage, key: str) -> CapReached | None:
        try:
            with self.sessions.write.begin() as session:
                total = _spend(session, self.spending_id, key, bound)
                self.cap.refuse(total - bound, bound, "the next request may take up to")
        except CapReached as refusal:
            return refusal
        self.spent += bound
        return None

    def _settle(self, bound: Usage, spent: Usage | None, key: str) -> None:
        """Replace a reservation by what was spent; None: it stays."""
        if spent is not None:
            with self.sessions.write.begin() as session:
                _spend(session, self.spending_id, key, spent - bound)
            with self._changed:
                self.spent += spent - bound

    def _wait(self, seconds: float) -> None:
        if self.ended.wait(seconds):
            raise Unreachable("The run has ended.")

    def _wait_for_turn(self) -> None:
        with self._changed:
            at = max(time.monotonic(), self._next)
            self._next = at + self.interval
        self._wait(max(0.0, at - time.monotonic()))


def _read(reply: Reply, form: ReplyForm, values: Sequence[str]) -> ReadReply | None:
    return None if reply.problem else read_reply(reply.text, form, values)


def _complete(
    call: MachineCall, replies: Sequence[Reply], read: ReadReply | None, stored: str
) -> None:
    last = replies[-1]
    call.answer, call.confidence = (read.answer, read.confidence) if read else (None, None)
    call.reply, call.version = stored, last.version
    call.problem = last.problem or ("" if read else "the reply could not be read")
    call.latency_ms = sum(each.latency_ms for each in replies)
    call.finished_at = now()


def _is_running(session: Session, job_id: int | None) -> bool:
    job = None if job_id is None else session.get(Job, job_id)
    return job is not None and not job.state.final and is_held(job.lease_until, clock(session))


def _call_of_key(session: Session, key: str) -> MachineCall | None:
    """Return a call, locked for a change."""
    return session.scalar(select(MachineCall).where(MachineCall.key == key).with_for_update())


def _spend(session: Session, spending_id: int, key: str, change: Usage) -> Usage:
    """Add to what a machine has spent, and to the call with this key; return the new total.

    The row of the machine is locked until the transaction ends, so that runs wait for each other.
    """
    changes = asdict(change)
    for table, mine in (
        (MachineCall, MachineCall.key == key[:_KEY]),
        (MachineSpending, MachineSpending.id == spending_id),
    ):
        values = {name: getattr(table, name) + more for name, more in changes.items()}
        statement = update(table).where(mine).values(values)
        session.execute(statement.execution_options(synchronize_session=False))
    columns = (getattr(MachineSpending, name) for name in changes)
    return Usage(*session.execute(select(*columns).where(MachineSpending.id == spending_id)).one())
