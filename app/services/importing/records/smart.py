"""SMART's format (Cranfield, CACM, CISI, MED): ``.I`` begins a record, ``.T`` or ``.W`` a field."""

import re
from collections.abc import Iterator

from topkapi.app.domain.text.sizes import format_size
from topkapi.app.services.fence import limits
from topkapi.app.services.importing.problems import Location, refusal
from topkapi.app.services.importing.sources.reader import Reader

_RECORD, _FIELD = re.compile(r"\.I\s+(\S+)\s*"), re.compile(r"\.([A-Z])\s*")
SmartRecord = tuple[Location, str, dict[str, str]]  # its id, and its fields by letter


def looks_like_smart(line: str) -> bool:
    """Return whether the first line of a file begins a record of SMART."""
    return _RECORD.fullmatch(line) is not None


def smart_id(name: str) -> str:
    """Return an id as documents, queries and judgments share it: without leading zeros."""
    return str(int(name)) if name.isascii() and name.isdecimal() else name


def smart_records(reader: Reader, path: str) -> Iterator[SmartRecord]:
    """Yield the records of a file."""
    start, name, size = Location(path), "", 0
    fields: dict[str, list[str]] = {}
    lines: list[str] = []
    for location, line in reader.lines(path):
        if record := _RECORD.fullmatch(line):
            if name:
                yield start, name, {letter: "\n".join(each) for letter, each in fields.items()}
            start, name, size, fields, lines = location, smart_id(record[1]), 0, {}, []
        elif field := _FIELD.fullmatch(line):
            lines = fields.setdefault(field[1], [])
        else:
            lines.append(line)
            size += len(line)
        if size > limits.MAX_LINE:
            problem = f"The record {name} is longer than {format_size(limits.MAX_LINE)}."
            raise refusal(location, None, problem, "Begin each record with a line such as .I 1.")
    if name:
        yield start, name, {letter: "\n".join(each) for letter, each in fields.items()}
