"""Queries: JSON Lines, TREC topics, or two columns."""

import html
import re
from collections.abc import Iterator
from typing import Any

from topkapi.app.services.importing.problems import Place
from topkapi.app.services.importing.records.jsonl import records
from topkapi.app.services.importing.records.types import QueryRecord
from topkapi.app.services.importing.records.values import BadValue, identifier, words
from topkapi.app.services.importing.sources import limits
from topkapi.app.services.importing.sources.reader import Reader

Queries = Iterator[tuple[Place, QueryRecord]]
_KNOWN = frozenset({"id", "text", "description", "narrative"})
_TAG = re.compile(r"<(/?)(top|num|title|desc|narr)>", re.IGNORECASE)
_LABEL = re.compile(r"^\s*(number|topic|description|narrative)\s*:", re.IGNORECASE)


def read_queries(reader: Reader, path: str) -> Queries:
    """The queries of a file of any of the three formats, told apart by its first line."""
    first = reader.first_line(path)
    if first.startswith("{"):
        return records(reader, path, _KNOWN, _from_object)
    return _topics(reader, path) if first.startswith("<") else _columns(reader, path)


def _from_object(record: dict[str, Any]) -> QueryRecord:
    return _query(
        record.get("id"), record.get("text"), record.get("description"), record.get("narrative")
    )


def _query(
    name: object, text: object, description: object = None, narrative: object = None
) -> QueryRecord:
    return QueryRecord(
        id=identifier(name, "id"),
        text=words(text, "text", limits.MAX_QUERY, required=True),
        description=words(description, "description", limits.MAX_QUERY),
        narrative=words(narrative, "narrative", limits.MAX_QUERY),
    )


def _columns(reader: Reader, path: str) -> Queries:
    for place, line in reader.lines(path):
        name, tab, text = line.partition("\t")
        try:
            if not tab:
                raise BadValue(
                    "text", "The line has one column.", "Write the id, a tab, and the text."
                )
            yield place, _query(name.strip(), text)
        except BadValue as error:
            reader.problems.add(place, error.field, error.problem, error.mend)


def _topics(reader: Reader, path: str) -> Queries:
    """TREC topics: tags that open and mostly do not close, one ``<top>`` a query."""
    fields: dict[str, str] | None = None
    start, current = Place(path), ""
    for place, line in reader.lines(path):
        position = 0
        for tag in _TAG.finditer(line):
            _append(fields, current, line[position : tag.start()])
            position, name = tag.end(), tag[2].lower()
            current = "" if tag[1] or name == "top" else name
            if name == "top":
                if fields is not None:
                    yield from _topic(reader, start, fields)
                fields, start = (None if tag[1] else {}), place
            elif not tag[1] and fields is not None:
                fields.setdefault(name, "")
        _append(fields, current, line[position:] + "\n")
    if fields is not None:
        yield from _topic(reader, start, fields)


def _append(fields: dict[str, str] | None, current: str, text: str) -> None:
    if fields is not None and current:
        fields[current] += text


def _topic(reader: Reader, place: Place, fields: dict[str, str]) -> Queries:
    clean = {name: _cleaned(text) for name, text in fields.items()}
    try:
        query = _query(clean.get("num"), clean.get("title"), clean.get("desc"), clean.get("narr"))
    except BadValue as error:
        field = {"id": "num", "text": "title"}.get(error.field, error.field)
        reader.problems.add(place, field, error.problem, error.mend)
    else:
        yield place, query


def _cleaned(text: str) -> str:
    """The content of a tag without its customary label, on one line."""
    return " ".join(html.unescape(_LABEL.sub("", text)).split())
