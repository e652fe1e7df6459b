"""Queries: from JSON Lines, TREC topics, SMART's format, two columns, or a LETOR file."""

import html
import re
from dataclasses import replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Query
from topkapi.app.services.fence import limits
from topkapi.app.services.importing.bundle import Bundle, Layout
from topkapi.app.services.importing.kinds.base import Check, Checked, Found, Kind, Row, Writing
from topkapi.app.services.importing.kinds.candidates import read_candidates
from topkapi.app.services.importing.problems import Location
from topkapi.app.services.importing.records import letor
from topkapi.app.services.importing.records.names import Aliases
from topkapi.app.services.importing.records.shapes import shape_of
from topkapi.app.services.importing.records.smart import looks_like_smart, smart_records
from topkapi.app.services.importing.records.tables import records, two_columns
from topkapi.app.services.importing.records.types import QueryRecord
from topkapi.app.services.importing.sources.reader import Reader
from topkapi.app.services.values import BadValue, identifier, text_value

_REQUIRED = ("id", "text")
QUERY_NAMES: Aliases = {
    "id": ("query_id", "qid", "topic_id", "topic", "number", "num"),
    "text": ("query", "question", "query_text", "title"),
    "description": ("desc",),
    "narrative": ("narr",),
}
_TAG = re.compile(r"<(/?)(top|doc|num|docno|title|desc|narr)>", re.IGNORECASE)
_SAME = {"doc": "top", "docno": "num"}  # topics as documents: the text follows the number
_LABEL = re.compile(r"^\s*(number|topic|description|narrative)\s*:", re.IGNORECASE)


def read_queries(reader: Reader, path: str) -> Found[QueryRecord]:
    """Return the queries of a file; its first line decides the format."""
    shape = shape_of(reader, path, QUERY_NAMES, _REQUIRED)
    if shape.has_fields:
        return records(reader, path, shape, QUERY_NAMES, _REQUIRED, _from_object)
    first = reader.first_line(path)
    if looks_like_smart(first):
        return _from_smart(reader, path)
    return _topics(reader, path) if first.startswith("<") else two_columns(reader, path, _query)


def _from_smart(reader: Reader, path: str) -> Found[QueryRecord]:
    for location, name, fields in smart_records(reader, path):
        try:
            text = " ".join((fields.get("W") or fields.get("T", "")).split())
            yield location, _query(name, text)
        except BadValue as error:
            reader.problems.add_value(location, error)


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


def _topics(reader: Reader, path: str) -> Found[QueryRecord]:
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


def _topic(reader: Reader, location: Location, fields: dict[str, str]) -> Found[QueryRecord]:
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


def _numbered_by_order(layout: Layout, quiet: Reader, path: str) -> bool:
    """Return whether candidates name the queries of a SMART file by their order.

    Cranfield's ids have gaps: its judgments count the queries from 1.
    """
    if not looks_like_smart(quiet.first_line(path)):
        return False
    ids = {query.id for _, query in read_queries(quiet, path)}
    rows = read_candidates(quiet, layout.rows, layout.candidate_format)
    named = {row.query for _, row in rows}
    return not named <= ids and named <= {str(number + 1) for number in range(len(ids))}


class QueryKind(Kind[str, QueryRecord, QueryRecord]):
    """Queries: those of their own file, or else the query ids of the LETOR file."""

    role = many = "queries"
    one = "query"
    names = frozenset({"queries", "topics"})
    words = frozenset({"queries", "query", "qry", "topics", "topic", "questions"})
    fields = QUERY_NAMES
    model = Query

    def read(self, bundle: Bundle, reader: Reader) -> Found[QueryRecord]:
        return (pair for pair in self._every(bundle.layout, reader) if bundle.has_query(pair[1].id))

    def _every(self, layout: Layout, reader: Reader) -> Found[QueryRecord]:
        path = layout.file(self.role)
        if path is not None:
            by_order = _numbered_by_order(layout, reader.quiet(), path)
            for number, (location, query) in enumerate(read_queries(reader, path), start=1):
                yield location, replace(query, id=str(number)) if by_order else query
            return
        last = None
        for location, row in letor.read_rows(
            reader.quiet(), layout.rows, name_rows=layout.as_cards, ids_only=True
        ):
            if row.query != last:
                last = row.query
                yield location, QueryRecord(row.query, f"Query {row.query}", "", "")

    def read_from(self, layout: Layout) -> str:
        return layout.file(self.role) or f"{', '.join(layout.rows)} (query ids)"

    def on_kept(self, check: Check, location: Location, record: QueryRecord) -> None:
        check.checked.locations[record.id] = location

    def finish(self, check: Check) -> None:
        layout = check.checked.bundle.layout
        path = layout.file(self.role)
        if path is not None and _numbered_by_order(layout, check.reader.quiet(), path):
            note = f"queries of {path} are numbered by their order, as the candidates name them"
            check.checked.notes.append(note)
        if not check.checked[self] and not check.problems:
            file = self.location(check.checked, "").file
            check.problems.add(
                Location(file), None, "The study has no queries.", "Add at least one."
            )

    def location(self, checked: Checked, key: str) -> Location:
        return checked.locations.get(key) or super().location(checked, key)

    def stored(self, session: Session, study_id: int) -> dict[str, QueryRecord]:
        statement = select(Query.external_id, Query.text, Query.description, Query.narrative)
        found = session.execute(statement.where(Query.study_id == study_id))
        return {row[0]: QueryRecord(*row) for row in found}

    def row(self, write: Writing, record: QueryRecord) -> Row:
        return {
            "study_id": write.study_id,
            "external_id": record.id,
            "text": record.text,
            "description": record.description,
            "narrative": record.narrative,
            "position": write.next_position(Query),
        }


QUERIES = QueryKind()
