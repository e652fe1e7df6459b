"""Reports to be stored and read again, each as the same report."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Any

from topkapi.analysis.report.schema import Report

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_NAMED = ("assessor", "assessors", "first", "second")  # fields with names of assessors


def storable(report: Report) -> dict[str, Any]:
    """Return the fields of a report as JSON can hold them."""
    record: dict[str, Any] = json.loads(json.dumps(asdict(report), allow_nan=False))
    return record


def restored(record: Mapping[str, Any], names: Mapping[str, str] | None = None) -> Report:
    """Return the report of which `storable` returned ``record``.

    ``names`` replace those of assessors, also in the sentences of the notes.
    """
    return _adapter().validate_python(_renamed(record, names) if names else record)


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


@cache
def _adapter() -> "TypeAdapter[Report]":
    from pydantic import TypeAdapter

    return TypeAdapter(Report)
