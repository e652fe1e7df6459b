"""Queries: JSON Lines, TREC topics, or two columns."""

import html
import re
from collections.abc import Iterator
from typing import Any

from topkapi.app.services.fence import limits
from topkapi.app.services.importing.problems import BadValue, Kind, Location
from topkapi.app.services.importing.records.names import QUERY_NAMES
from topkapi.app.services.importing.records.shapes import shape_of
from topkapi.app.services.importing.records.tables import records
from topkapi.app.services.importing.records.types import QueryRecord
from topkapi.app.services.importing.records.values import identifier, text_value
from topkapi.app.services.importing.sources.reader import Reader

Queries = Iterator[tuple[Location, QueryRecord]]
_REQUIRED = ("id", "text")
_TAG = re.compile(r"<(/?)(top|doc|num|docno|title|desc|narr)>", re.IGNORECASE)
_SAME = {"doc": "top", "docno": "num"}  # topics as documents: the text follows the number
_LABEL = re.compile(r"^\s*(number|topic|description|narrative)\s*:", re.IGNORECASE)


def read_queries(reader: Reader, path: str) -> Queries:
    """Return the queries of a file; its first line decides the format."""
    shape = shape_of(reader, path, QUERY_NAMES, _REQUIRED)
    if shape.has_fields:
        return records(reader, path, shape, QUERY_NAMES, _REQUIRED, _from_object)
    first = reader.first_line(path)
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
        text=text_value(text, "text", limits.MAX_QUERY, required=True),
        description=text_value(description, "description", limits.MAX_QUERY),
        narrative=text_value(narrative, "narrative", limits.MAX_QUERY),
    )


def _columns(reader: Reader, path: str) -> Queries:
    for location, line in reader.lines(path):
        name, tab, text = line.partition("\t")
        try:
            if not tab:
                raise BadValue(
                    "text",
                    "The line has one column.",
                    "Write the id, a tab, and the text.",
                    Kind.ONE_COLUMN,
                )
            yield location, _query(name.strip(), text)
        except BadValue as error:
            reader.problems.add_value(location, error)


def _topics(reader: Reader, path: str) -> Queries:
    """Yield TREC topics: one ``<top>`` per query, with tags that are mostly not closed."""
    fields: dict[str, str] | None = None
    start, current = Location(path), ""
    for location, line in reader.lines(path):
        position = 0
        for tag in _TAG.finditer(line):
            _append(fields, current, line[position : tag.start()])
            position, given = tag.end(), tag[2].lower()
            name = _SAME.get(given, given)
            if tag[1] and given == "docno" and fields is not None:
                current = "title"
                fields.setdefault(current, "")
                continue
            current = "" if tag[1] or name == "top" else name
            if name == "top":
                if fields is not None:
                    yield from _topic(reader, start, fields)
                fields, start = (None if tag[1] else {}), location
            elif not tag[1] and fields is not None:
                fields.setdefault(name, "")
        _append(fields, current, line[position:] + "\n")
    if fields is not None:
        yield from _topic(reader, start, fields)


def _append(fields: dict[str, str] | None, current: str, text: str) -> None:
    if fields is not None and current:
        fields[current] += text


def _topic(reader: Reader, location: Location, fields: dict[str, str]) -> Queries:
    clean = {name: _cleaned(text) for name, text in fields.items()}
    try:
        query = _query(clean.get("num"), clean.get("title"), clean.get("desc"), clean.get("narr"))
    except BadValue as error:
        field = {"id": "num", "text": "title"}.get(error.field, error.field)
        reader.problems.add(location, field, error.problem, error.fix)
    else:
        yield location, query


def _cleaned(text: str) -> str:
    """Return the content of a tag on one line, without its usual label."""
    return " ".join(html.unescape(_LABEL.sub("", text)).split())
