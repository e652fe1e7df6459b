"""``umbrela.jsonl``: grades as umbrela keeps them, one line per query with its candidates."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from topkapi.analysis.data.exports.files import numbered_lines
from topkapi.analysis.data.exports.labels import Label
from topkapi.analysis.errors import BadData

_EXPECTED = '{"query": {"qid": ...}, "candidates": [{"docid": ..., "judgment": 0 to 3}]}'


def umbrela_lines(labels: Iterable[Label], texts: Mapping[str, str] | None = None) -> Iterator[str]:
    r"""Yield a line per query, whose labels come one after the other.

    >>> next(umbrela_lines([Label("q1", "d3", 2)], {"q1": "tea"}))[:43]
    '{"query": {"qid": "q1", "text": "tea"}, "ca'
    """
    for query, group in groupby(labels, key=lambda label: label.query):
        about = {"qid": query, "text": (texts or {}).get(query, "")}
        found = [{"docid": each.document, "judgment": each.label} for each in group]
        yield json.dumps({"query": about, "candidates": found}) + "\n"


def read_umbrela(path: str | Path) -> list[Label]:
    """Read judged candidates, plain or gzip; candidates without a judgment are left out."""
    return [
        label for location, line in numbered_lines(path) for label in umbrela_labels(line, location)
    ]


def umbrela_labels(line: str, location: str) -> Iterator[Label]:
    """Yield the labels of a line; raise BadData with its location."""
    try:
        record: Any = json.loads(line)
        query, candidates = record["query"]["qid"], record["candidates"]
        for each in candidates:
            judgment = each.get("judgment")
            if judgment is not None:
                yield Label(_name(query), _name(each["docid"]), _whole(judgment))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise BadData(f"{location}: expected {_EXPECTED}") from None


def _name(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise TypeError(value)
    return str(value)


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(value)
    return value
