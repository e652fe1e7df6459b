"""Records as JSON Lines: frozen dataclasses out, the same dataclasses back in."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from topkapi.analysis.data.exports.files import numbered_lines
from topkapi.analysis.data.exports.rounds import columns_of
from topkapi.analysis.errors import BadData

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")
Names = tuple[str, ...]
Groups = tuple[tuple[str, ...], ...]
Numbers = tuple[float, ...]
Ranks = tuple[int, ...]
Shares = tuple[float | None, ...]

# Legal inside JSON, but many programs take them for the end of a line.
_BREAKS = {ord(char): f"\\u{ord(char):04x}" for char in "\x85\u2028\u2029"}


def json_lines(records: Iterable[Any]) -> Iterator[str]:
    r"""Yield one line per record, fields in their order, newline included.

    >>> from topkapi.analysis.data.exports.preferences import PreferencePair
    >>> pair = PreferencePair("tea", "Brew it.", "Buy it.", "q1", "d1", "d2", "a@b.c")
    >>> next(json_lines([pair]))[:40]
    '{"prompt": "tea", "chosen": "Brew it.", '
    """
    for record in records:
        found = {name: getattr(record, name) for name in columns_of(record)}
        text = json.dumps(found, ensure_ascii=False, default=_moment)
        yield text.translate(_BREAKS) + "\n"


def read_json_lines(path: str | Path, kind: type[T]) -> list[T]:
    """Read the records of a file.

    Fields that ``kind`` does not know are skipped.
    """
    return [_record(kind, line, location) for location, line in numbered_lines(path)]


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


def _record(kind: type[T], line: str, location: str) -> T:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise BadData(f"{location}: not JSON ({error})") from None
    if not isinstance(found, dict):
        raise BadData(f"{location}: not an object")
    values = {}
    for field in fields(kind):
        if field.name in found:
            values[field.name] = _READ[field.type](found[field.name], f"{location}: {field.name}")
        elif field.default is MISSING:
            raise BadData(f"{location}: the field {field.name!r} is missing")
    return kind(**values)


def _exactly(kind: type, words: str) -> Callable[[Any, str], Any]:
    def read(value: Any, location: str) -> Any:
        if type(value) is not kind:
            raise BadData(f"{location} is {json.dumps(value)[:40]}, not {words}")
        return value

    return read


def _names(value: Any, location: str) -> Names:
    if not isinstance(value, list):
        raise BadData(f"{location} is {json.dumps(value)[:40]}, not a list")
    return tuple(_text(each, location) for each in value)


def _groups(value: Any, location: str) -> Groups:
    if not isinstance(value, list):
        raise BadData(f"{location} is {json.dumps(value)[:40]}, not a list")
    return tuple(_names(each, location) for each in value)


def _numbers(value: Any, location: str) -> Numbers:
    if not isinstance(value, list):
        raise BadData(f"{location} is {json.dumps(value)[:40]}, not a list")
    return tuple(_number(each, location) for each in value)


def _ranks(value: Any, location: str) -> Ranks:
    if not isinstance(value, list):
        raise BadData(f"{location} is {json.dumps(value)[:40]}, not a list")
    return tuple(_whole(each, location) for each in value)


def _number(value: Any, location: str) -> float:
    if type(value) not in (int, float):
        raise BadData(f"{location} is {json.dumps(value)[:40]}, not a number")
    return float(value)


def _shares(value: Any, location: str) -> Shares:
    if not isinstance(value, list):
        raise BadData(f"{location} is {json.dumps(value)[:40]}, not a list")
    return tuple(None if each is None else _number(each, location) for each in value)


def _time(value: Any, location: str) -> datetime:
    return moment(_text(value, location), location)


def _or_none(read: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    return lambda value, location: None if value is None else read(value, location)


_text = _exactly(str, "a text")
_whole = _exactly(int, "a whole number")
_READ: dict[Any, Callable[[Any, str], Any]] = {
    str: _text,
    int: _whole,
    float: _number,
    bool: _exactly(bool, "true or false"),
    str | None: _or_none(_text),
    datetime: _time,
    datetime | None: _or_none(_time),
    Names: _names,
    Groups: _groups,
    Numbers: _numbers,
    Ranks: _ranks,
    Shares: _shares,
    Mapping[str, Any]: _exactly(dict, "an object"),
}
