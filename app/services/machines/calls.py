"""Calls that are paid for once: a row is claimed before a request, and completed by its reply.

Who finds a completed row uses its reply. Who finds one in transit waits for it, unless the job that
made it has ended or lost its worker: then nobody knows whether the request arrived, and it is sent
again with the same idempotency key.
"""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from json import dumps
from threading import Event, Lock
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from topkapi.app.db.base import clock, now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Job, MachineCall
from topkapi.app.db.queries import machines as queries
from topkapi.app.db.queries.jobs import is_held
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.machines.replies import ReadReply, ReplyForm, asked_for, read_reply
from topkapi.app.services.machines.endpoint import Endpoint, EndpointBusy, EndpointRefused, Reply

MOST_WAIT = 300.0  # seconds between two tries, whatever the endpoint asks for
_REPAIR = "That reply could not be read. "
_POLL = 0.5
_PROBED = ("A", "B")


class CapReached(Invalid):
    """The run may not spend more."""


class Unreachable(Invalid):
    """The endpoint did not reply, however often it was asked."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices per million tokens, in any currency; None: unknown."""

    tokens_in: float | None = None
    tokens_out: float | None = None

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """Return what tokens cost; None without prices."""
        if self.tokens_in is None or self.tokens_out is None:
            return None
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1e6


@dataclass(frozen=True, slots=True)
class Cap:
    """The most that a run may spend: requests, and money where prices are known."""

    requests: int | None = None
    cost: float | None = None

    def refuse(self, requests: int, cost: float | None, doing: str = "The run would") -> None:
        """Raise if this is more than a run may spend."""
        if self.requests is not None and requests > self.requests:
            raise CapReached(f"{doing} make {requests:,} requests; it may make {self.requests:,}.")
        if cost is not None and self.cost is not None and cost > self.cost:
            raise CapReached(f"{doing} cost {cost:.2f}; it may cost {self.cost:.2f}.")


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
    """Asks an endpoint for one job, within its cap; threads share it."""

    sessions: Sessions
    endpoint: Endpoint
    job_id: int
    cap: Cap = field(default_factory=Cap)
    prices: Prices = field(default_factory=Prices)
    tries: int = 6
    interval: float = 0.0  # seconds between two requests
    ended: Event = field(default_factory=Event)  # when set, nothing new is asked
    _next: float = 0.0
    _lock: Lock = field(default_factory=Lock)

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
                call = queries.call_of_key(session, key)
                if call is None:
                    self._refuse_over_cap(session)
                    call = self._row(key, asked)
                    session.add(call)
                elif call.finished_at is None:
                    if call.job_id != self.job_id and _is_running(session, call.job_id):
                        return None
                    self._refuse_over_cap(session)
                    call.job_id, call.claimed_at = self.job_id, now()
                    call.requests += 1
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

    def _refuse_over_cap(self, session: Session) -> None:
        requests, tokens_in, tokens_out = queries.spent(session, self.job_id)
        self.cap.refuse(requests + 1, self.prices.cost(tokens_in, tokens_out), "It stops: it would")

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
            call = queries.call_of_key(session, key)
            assert call is not None
            _complete(call, replies, read)
        return read

    def _sent(self, messages: Sequence[dict[str, str]], values: Sequence[str], key: str) -> Reply:
        for number in range(self.tries):
            self._wait_for_turn()
            try:
                return self.endpoint.ask(messages, values, key)
            except EndpointBusy as busy:
                if number + 1 == self.tries:
                    raise Unreachable(f"{busy} It was asked {self.tries} times.") from None
                usual = min(60.0, 2.0**number) * random.uniform(0.5, 1.0)
                self._wait(min(MOST_WAIT, busy.seconds if busy.seconds is not None else usual))
        raise AssertionError("a call is tried at least once")

    def _wait(self, seconds: float) -> None:
        if self.ended.wait(seconds):
            raise Unreachable("The run has ended.")

    def _wait_for_turn(self) -> None:
        with self._lock:
            at = max(time.monotonic(), self._next)
            self._next = at + self.interval
        self._wait(max(0.0, at - time.monotonic()))


def _read(reply: Reply, form: ReplyForm, values: Sequence[str]) -> ReadReply | None:
    return None if reply.problem else read_reply(reply.text, form, values)


def _complete(call: MachineCall, replies: Sequence[Reply], read: ReadReply | None) -> None:
    last = replies[-1]
    call.answer, call.confidence = (read.answer, read.confidence) if read else (None, None)
    call.reply, call.version = last.text, last.version
    call.problem = last.problem or ("" if read else "the reply could not be read")
    call.tokens_in += sum(each.tokens_in for each in replies)
    call.tokens_out += sum(each.tokens_out for each in replies)
    call.latency_ms = sum(each.latency_ms for each in replies)
    call.requests += len(replies) - 1
    call.finished_at = now()


def _is_running(session: Session, job_id: int | None) -> bool:
    job = None if job_id is None else session.get(Job, job_id)
    return job is not None and not job.state.final and is_held(job.lease_until, clock(session))
