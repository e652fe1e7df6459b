"""``calls.jsonl``: every request of machine assessors, with its reply and what it took."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from topkapi.analysis.data.exports.codec import json_lines, read_json_lines
from topkapi.analysis.data.exports.rounds import InRound


@dataclass(frozen=True, slots=True)
class CallRecord(InRound):
    """A request about the question at ``position`` of a session, as `MachineCall` stores it."""

    query: str
    assessor: str
    tool: str
    round: int
    position: int
    order: str
    repeat: int
    prompt_number: int
    was_cut: bool
    model: str
    version: str
    form: str
    answer: str | None
    confidence: float | None
    reply: str
    problem: str
    tokens_in: int
    tokens_out: int
    latency_ms: int
    requests: int
    claimed_at: datetime
    finished_at: datetime | None


def call_lines(records: Iterable[CallRecord]) -> Iterator[str]:
    """Yield the lines of ``calls.jsonl``."""
    return json_lines(records)


def read_calls(path: str | Path) -> list[CallRecord]:
    """Read ``calls.jsonl``, plain or gzip."""
    return read_json_lines(path, CallRecord)
