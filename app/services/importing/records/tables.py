"""Records with named fields: JSON Lines, JSON arrays, delimited tables, Parquet."""

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any, TypeVar

from topkapi.app.services.fence import limits
from topkapi.app.services.fence.children import LibraryMissing, UnreadableBytes
from topkapi.app.services.importing.problems import Location, Problems, refusal
from topkapi.app.services.importing.records.names import Aliases, renamed
from topkapi.app.services.importing.records.shapes import Shape, parquet_missing
from topkapi.app.services.importing.sources.reader import Reader
from topkapi.app.services.values import BadValue, ProblemKind, kind_of

_TOKEN = re.compile(r'"[^"\\]*+(?:\\(?s:.)[^"\\]*+)*+"?|[][{},]')
_CHUNK = 1 << 18
_OPENING, _BETWEEN = re.compile(r"[\s\[]*"), re.compile(r"[\s,]*")
T = TypeVar("T")
Record = dict[str, Any]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise BadValue(
            twice[:50], "The field appears twice in one object.", "Remove one of the two."
        )
    return found


DECODER = json.JSONDecoder(object_pairs_hook=_object)


def _decoded_at(text: str, at: int = 0) -> tuple[Any, int]:
    """Return the JSON value at ``at`` and its end; raise BadValue if it has too many values.

    They are counted first: the parser stops every other thread until it has read the last one.
    """
    depth = values = 0
    few = text.count(",", at) <= limits.MAX_VALUES
    for found in () if few else _TOKEN.finditer(text, at):
        mark = text[found.start()]
        depth += (mark in "{[") - (mark in "}]")
        values += mark == ","
        if values > limits.MAX_VALUES:
            raise BadValue(
                "",
                f"This has more than {limits.MAX_VALUES:,} values.",
                "Write one record per line, with the fields listed in the documentation.",
            )
        if depth <= 0:
            break
    return DECODER.raw_decode(text, at)


def json_object(location: Location, line: str, problems: Problems) -> dict[str, Any] | None:
    """Parse the object on ``line``; return None after adding a problem."""
    try:
        line = line.strip()
        record, end = _decoded_at(line)
        if end < len(line):
            raise json.JSONDecodeError("Extra data", line, end)
    except BadValue as error:
        problems.add_value(location, error)
        return None
    except (ValueError, RecursionError) as error:
        at = f" at character {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "it cannot be read"
        problems.add(
            location,
            None,
            f"This is not JSON{at}: {reason}.",
            "Write one object per line.",
            ProblemKind.NOT_JSON,
        )
        return None
    if not isinstance(record, dict):
        problems.add(
            location,
            None,
            f"This is {kind_of(record)}, not an object.",
            "Write one object per line.",
        )
        return None
    return record


csv.field_size_limit(limits.MAX_LINE)


def records(
    reader: Reader,
    path: str,
    shape: Shape,
    aliases: Aliases,
    required: Sequence[str],
    make: Callable[[Record], T],
) -> Iterator[tuple[Location, T]]:
    """Yield the records of a file; a BadValue from ``make`` becomes a problem of its line."""
    for location, found in _rows(reader, path, shape):
        try:
            if isinstance(found, BadValue):
                raise found
            record, unread = renamed(found, aliases, required)
            reader.note_unread(path, unread)
            made = make(record)
        except BadValue as error:
            reader.problems.add(location, error.field or None, error.problem, error.fix)
        else:
            yield location, made


def _rows(reader: Reader, path: str, shape: Shape) -> Iterator[tuple[Location, Record | BadValue]]:
    if shape.kind == "parquet":
        return _parquet(reader, path)
    if shape.kind == "json":
        return _array(reader, path)
    return _table(reader, path, shape) if shape.kind == "table" else _lines(reader, path)


def _lines(reader: Reader, path: str) -> Iterator[tuple[Location, Record]]:
    for location, line in reader.lines(path):
        found = json_object(location, line, reader.problems)
        if found is not None:
            yield location, found


def _table(reader: Reader, path: str, shape: Shape) -> Iterator[tuple[Location, Record | BadValue]]:
    """Yield the rows of a table; cells may be quoted unless tabs separate them."""
    at = Location(path)

    def texts() -> Iterator[str]:
        nonlocal at
        for location, line in reader.lines(path):
            at = location
            yield line + "\n"

    plain = shape.delimiter == "\t"
    delimiter = shape.delimiter
    if plain:
        rows = csv.reader(texts(), delimiter=delimiter, quoting=csv.QUOTE_NONE)
    else:
        rows = csv.reader(texts(), delimiter=delimiter)
    header = next(rows)
    for cells in rows:
        if len(cells) == len(header):
            yield at, {name: cell or None for name, cell in zip(header, cells, strict=True)}
        else:
            yield at, _wrong_width(len(cells), len(header), plain)


def _wrong_width(found: int, wanted: int, plain: bool) -> BadValue:
    fix = "Remove tabs from the texts." if plain else "Quote such cells."
    return BadValue(
        "columns",
        f"The line has {found} columns, and the header {wanted}: a cell contains the delimiter, or "
        "one is missing.",
        fix,
    )


def _array(reader: Reader, path: str) -> Iterator[tuple[Location, Record | BadValue]]:
    """Yield the objects of a JSON array; the line is that of the object's first character."""
    for line, value in _elements(reader, path):
        if isinstance(value, dict | BadValue):
            yield Location(path, line), value
        else:
            problem = f"This is {kind_of(value)}, not an object."
            yield Location(path, line), BadValue("", problem, "Write an array of objects.")


def _elements(reader: Reader, path: str) -> Iterator[tuple[int, Any]]:
    """Parse an array piece by piece, so that memory does not grow with the file."""
    pieces = reader.pieces(path, _CHUNK)
    text, line, at = next(pieces, ""), 1, 0
    skip = _OPENING
    while True:
        start = _end_of(skip, text, at)
        line, at = line + text.count("\n", at, start), start
        if at < len(text):
            skip = _BETWEEN
        if text.startswith("]", at):
            return
        value, end = _decoded(text, at)
        if end > at:
            yield line, value
            line, at = line + text.count("\n", at, end), end
            continue
        more = next(pieces, "")
        if isinstance(value, BadValue) or not more or len(text) - at > limits.MAX_LINE:
            yield line, value if isinstance(value, BadValue) else _broken(value)
            return
        text, at = text[at:] + more, 0


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _decoded(text: str, at: int) -> tuple[Any, int]:
    """Return the value at ``at`` and its end, or the error and ``at``."""
    try:
        return _decoded_at(text, at)
    except (BadValue, ValueError, RecursionError) as error:
        return error, at


def _broken(error: object) -> BadValue:
    reason = error.msg if isinstance(error, json.JSONDecodeError) else "it ends too early"
    return BadValue(
        "",
        f"The JSON array is broken here: {reason.removesuffix(' starting at')}.",
        "Correct the record, and close the array with ]; perhaps the file is cut off.",
    )


def _parquet(reader: Reader, path: str) -> Iterator[tuple[Location, Record]]:
    """Yield the rows of a Parquet file; the line is the number of the row."""
    number = 0
    with reader.source.open(path) as stream:
        try:
            size = reader.source.files[path]
            for _, rows in reader.media.fence.ask("parquet", "", stream, size):
                for line in rows.splitlines():
                    number += 1
                    yield Location(path, number), json.loads(line)
        except LibraryMissing:
            raise parquet_missing(path) from None
        except UnreadableBytes as error:
            raise refusal(
                Location(path),
                None,
                f"The Parquet file cannot be read: {str(error).rstrip('.')}.",
                "Write it again, and check that it was transferred completely.",
            ) from None


def columns(line: str, count: int, meaning: str) -> list[str]:
    """Split a line into ``count`` columns; raise BadValue if it has another number."""
    found = line.split()
    if len(found) != count:
        raise BadValue(
            "columns", f"The line has {len(found)} columns, not {count}.", f"Write {meaning}."
        )
    return found


def two_columns(
    reader: Reader, path: str, make: Callable[[str, str], T], wanted: Container[str] | None = None
) -> Iterator[tuple[Location, T]]:
    """Yield the records of lines ``id TAB text`` whose ids are ``wanted``."""
    for location, line in reader.lines(path):
        name, tab, text = line.partition("\t")
        if wanted is not None and tab and name.strip() not in wanted:
            continue
        try:
            if not tab:
                raise BadValue(
                    "text",
                    "The line has one column.",
                    "Write the id, a tab, and the text.",
                    ProblemKind.ONE_COLUMN,
                )
            yield location, make(name.strip(), text)
        except BadValue as error:
            reader.problems.add_value(location, error)
