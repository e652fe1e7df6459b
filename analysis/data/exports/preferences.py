"""``preferences.jsonl``: prompt, chosen and rejected, as preference-tuning tools read them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from topkapi.analysis.data.exports.codec import json_lines, read_json_lines


@dataclass(frozen=True, slots=True)
class PreferencePair:
    """One preference with its texts: the query, the page preferred, and the other one."""

    prompt: str
    chosen: str
    rejected: str
    query: str
    chosen_id: str
    rejected_id: str
    assessor: str


def preference_lines(records: Iterable[PreferencePair]) -> Iterator[str]:
    """Yield the lines of ``preferences.jsonl``."""
    return json_lines(records)


def read_preferences(path: str | Path) -> list[PreferencePair]:
    """Read ``preferences.jsonl``, plain or gzip."""
    return read_json_lines(path, PreferencePair)
