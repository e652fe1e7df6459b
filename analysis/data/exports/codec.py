"""Records as JSON Lines: frozen dataclasses out, the same dataclasses back in."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from topkapi.analysis.data.exports.files import numbered_lines
from topkapi.analysis.errors import BadData

if TYPE_CHECKING:
    from pydantic import ValidationError


class InRound:
    """Base of records with a ``round``, which counts from 0 and is -1 for an adjudication."""

    __slots__ = ()
    round: int

    @property
    def round_number(self) -> int:
        """The round, counted from 1; 0 for an adjudication."""
        return self.round + 1


def columns_of(kind: Any) -> Iterator[str]:
    """Yield the names of the fields of a dataclass; ``round_number`` follows ``round``."""
    for field in fields(kind):
        yield field.name
        if field.name == "round":
            yield "round_number"


def fields_of(kind: type[Any]) -> dict[str, Any]:
    """Return the types of the columns that exports write of a record."""
    hints = get_type_hints(kind) | {"round_number": int}
    return {name: hints[name] for name in columns_of(kind)}


T = TypeVar("T")
Names = tuple[str, ...]
Groups = tuple[tuple[str, ...], ...]
Numbers = tuple[float, ...]
Ranks = tuple[int, ...]
Shares = tuple[float | None, ...]

# Legal inside JSON, but many programs take them for the end of a line.
_BREAKS = {ord(char): f"\\u{ord(char):04x}" for char in "\x85\u2028\u2029"}
_WANTED = {  # by kind of pydantic's error, up to the first underscore
    "string": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "tuple": "a list",
    "mapping": "an object",
    "datetime": "a time such as 2026-11-15T08:30:00Z",
}


def json_lines(records: Iterable[Any]) -> Iterator[str]:
    r"""Yield one line per record, fields in their order, newline included.

    >>> from topkapi.analysis.data.exports.records import PreferencePair
    >>> pair = PreferencePair("tea", "Brew it.", "Buy it.", "q1", "d1", "d2", "a@b.c")
    >>> next(json_lines([pair]))[:40]
    '{"prompt": "tea", "chosen": "Brew it.", '
    """
    for record in records:
        found = {name: getattr(record, name) for name in columns_of(record)}
        text = json.dumps(found, ensure_ascii=False, default=_moment)
        yield text.translate(_BREAKS) + "\n"


def read_json_lines(
    path: str | Path, kind: type[T], fault: Callable[[T], str | None] = lambda _: None
) -> list[T]:
    """Read the records of a file, and refuse one with a ``fault``.

    Fields that ``kind`` does not know are skipped.
    """
    from pydantic import TypeAdapter, ValidationError

    adapter = TypeAdapter(kind)
    found = []
    for location, line in numbered_lines(path):
        try:
            found.append(adapter.validate_json(line, strict=True))
        except ValidationError as error:
            raise BadData(f"{location}: {_in_words(error)}") from None
        if wrong := fault(found[-1]):
            raise BadData(f"{location}: {wrong}")
    return found


def iso(moment: datetime) -> str:
    """Format a time as exports write it: UTC to the microsecond.

    >>> from datetime import UTC
    >>> iso(datetime(2026, 11, 15, 8, 30, tzinfo=UTC))
    '2026-11-15T08:30:00.000000Z'
    """
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def moment(text: str, location: str) -> datetime:
    """Parse a time that :func:`iso` wrote."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise BadData(f"{location}: {text!r} is not a time such as 2026-11-15T08:30:00Z") from None


def _moment(value: object) -> str:
    if isinstance(value, datetime):
        return iso(value)
    raise TypeError(f"{type(value).__name__} cannot be exported")


def _in_words(found: "ValidationError") -> str:
    error = found.errors(include_url=False)[0]
    kind, value = error["type"], json.dumps(error["input"], default=str)[:40]
    if kind == "json_invalid":
        return f"not JSON ({error['ctx']['error']})"
    if not error["loc"]:
        return "not an object"
    if kind == "missing":
        return f"the field {error['loc'][0]!r} is missing"
    return f"{error['loc'][0]} is {value}, not {_WANTED.get(kind.split('_')[0], error['msg'])}"
