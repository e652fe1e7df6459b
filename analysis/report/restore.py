"""Reports to be stored and read again, each as the same report."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from topkapi.analysis.report.schema import Report

_NAMED = ("assessor", "assessors", "first", "second")  # fields with names of assessors


def storable(report: Report) -> dict[str, Any]:
    """Return the fields of a report as JSON can hold them."""
    record: dict[str, Any] = json.loads(json.dumps(asdict(report), allow_nan=False))
    return record


def restored(record: Mapping[str, Any], names: Mapping[str, str] | None = None) -> Report:
    """Return the report of which `storable` returned ``record``.

    ``names`` replace those of assessors, also in the sentences of the notes.
    """
    report: Report = _value(Report, _renamed(record, names) if names else record)
    return report


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_renamed(each, names) for each in value]
    if not isinstance(value, Mapping):
        return value
    return {key: _renamed_field(key, each, names) for key, each in value.items()}


def _renamed_field(key: str, value: Any, names: Mapping[str, str]) -> Any:
    if key == "notes":
        return [_in_words(note, names) for note in value or ()]
    if key in _NAMED and isinstance(value, str):
        return names.get(value, value)
    if key in _NAMED and isinstance(value, list) and all(isinstance(each, str) for each in value):
        return [names.get(each, each) for each in value]
    return _renamed(value, names)


def _in_words(note: str, names: Mapping[str, str]) -> str:
    return " ".join(names.get(word, word) for word in note.split(" "))


def _value(kind: Any, value: Any) -> Any:
    """Return the value of the type ``kind`` that JSON holds as ``value``."""
    if value is None:
        return None
    if get_origin(kind) in (Union, UnionType):
        return _value(_member(get_args(kind), value), value)
    if get_origin(kind) is tuple:
        return _tuple(get_args(kind), value)
    if is_dataclass(kind) and isinstance(kind, type):
        hints = _hints(kind)
        return kind(**{name: _value(hints[name], each) for name, each in value.items()})
    if isinstance(kind, type) and issubclass(kind, tuple):
        return kind(*value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    return value


def _tuple(kinds: tuple[Any, ...], values: list[Any]) -> tuple[Any, ...]:
    if kinds[-1] is Ellipsis:
        return tuple(_value(kinds[0], each) for each in values)
    return tuple(_value(kind, each) for kind, each in zip(kinds, values, strict=True))


def _member(kinds: tuple[Any, ...], value: Any) -> Any:
    """Return the member of a union: the dataclass with these fields in this order, or the only one.

    Dataclasses of a union have different fields, or the same ones in another order.
    """
    known = [kind for kind in kinds if kind is not type(None)]
    if not isinstance(value, dict):
        return known[0]
    return next(
        kind
        for kind in known
        if is_dataclass(kind) and [each.name for each in fields(kind)] == list(value)
    )


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
