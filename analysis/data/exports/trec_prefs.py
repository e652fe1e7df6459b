"""``prefs`` and ``qrels_prefs``: preferences as trec_eval reads them with ``-R``.

Within a subgroup of a judgment group a document with a higher level is preferred to one with a
lower level. Each finished list is a group of its own, so no group contradicts itself.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from topkapi.analysis.data.exports.files import numbered_lines, word
from topkapi.analysis.data.exports.records import TopK
from topkapi.analysis.errors import BadData

_ONE = "1"  # the only subgroup of a list


@dataclass(frozen=True, slots=True)
class PreferenceLevel:
    """The level of a document in a judgment group: one person's list for a query."""

    query: str
    group: str
    document: str
    level: float
    subgroup: str = _ONE


def levels_of(record: TopK) -> Iterator[PreferenceLevel]:
    """Yield the levels of a list: tied documents share one, everything outside the list has 1.

    Level 0 would state that a document is not relevant, which nobody said. A document that could
    not be judged has no level.
    """
    group = f"{record.assessor}:{record.round}"
    levels = dict.fromkeys((*record.rest, *record.bad), 1)
    for below, tied in enumerate(reversed(record.groups), start=2):
        levels |= dict.fromkeys(tied, below)
    for document in sorted(levels, key=lambda name: -levels[name]):
        yield PreferenceLevel(record.query, group, document, levels[document])


def prefs_lines(records: Iterable[PreferenceLevel]) -> Iterator[str]:
    r"""Yield the lines of ``prefs``: query, group, subgroup, document, level.

    >>> list(prefs_lines([PreferenceLevel("q1", "ansa:0", "d3", 2)]))
    ['q1 ansa:0 1 d3 2\n']
    """
    for each in records:
        yield f"{_start(each)} {word(each.subgroup)} {word(each.document)} {each.level:g}\n"


def qrels_prefs_lines(records: Iterable[PreferenceLevel]) -> Iterator[str]:
    r"""Yield the lines of ``qrels_prefs``: query, group, document, level.

    >>> list(qrels_prefs_lines([PreferenceLevel("q1", "ansa:0", "d3", 2)]))
    ['q1 ansa:0 d3 2\n']
    """
    for each in records:
        yield f"{_start(each)} {word(each.document)} {each.level:g}\n"


def read_prefs(path: str | Path) -> list[PreferenceLevel]:
    """Read ``prefs``, plain or gzip."""
    return _read(path, "query", "group", "subgroup", "document", "level")


def read_qrels_prefs(path: str | Path) -> list[PreferenceLevel]:
    """Read ``qrels_prefs`` or qrels, plain or gzip; their second column is the group."""
    return _read(path, "query", "group", "document", "level")


def _start(each: PreferenceLevel) -> str:
    return f"{word(each.query)} {word(each.group)}"


def _read(path: str | Path, *columns: str) -> list[PreferenceLevel]:
    found = []
    for location, line in numbered_lines(path):
        words = line.split()
        if len(words) != len(columns):
            raise BadData(f"{location}: {len(words)} columns, expected {', '.join(columns)}")
        given: dict[str, Any] = dict(zip(columns, words, strict=True))
        found.append(PreferenceLevel(**given | {"level": _level(words[-1], location)}))
    return found


def _level(text: str, location: str) -> float:
    try:
        level = float(text)
    except ValueError:
        level = math.nan
    if not 0 <= level < math.inf:
        raise BadData(f"{location}: the level {text!r} is not a number from 0")
    return level
