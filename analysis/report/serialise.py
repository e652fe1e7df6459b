"""The one serialiser of reports: dataclasses to records that JSON and CSV can hold."""

import json
from collections.abc import Mapping
from dataclasses import Field, asdict, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from topkapi.analysis.data.exports import ConsensusList
from topkapi.analysis.report.figures import Figure
from topkapi.analysis.report.record import Report
from topkapi.analysis.report.subjects.lists import ListReport
from topkapi.analysis.report.subjects.systems import SystemReport

if TYPE_CHECKING:
    from pydantic import TypeAdapter


Record: TypeAlias = dict[str, Any]
_NAMED = ("assessor", "assessors", "first", "second")  # fields with names of assessors


@runtime_checkable
class SupportsJson(Protocol):
    """A value with a JSON form of its own, such as learned gains."""

    def as_json(self) -> Record:
        """Return the value as a dictionary."""


def to_json(report: Report | ListReport | SystemReport) -> str:
    """Return the report as JSON text.

    Raises
    ------
    ValueError
        If a number is NaN or infinite.
    """
    return json.dumps(record_of(report), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def record_of(report: object) -> Record:
    """Return a dataclass of the report as a dictionary, fields in their order."""
    record: Record = _plain(report)
    return record


def flat(record: Record, prefix: str = "") -> Record:
    """Flatten nested records to columns ``a.b``; ``value`` takes its parent's name.

    >>> flat({"kappa": {"value": 0.5, "low": 0.4}, "shares": [1, 2]})
    {'kappa': 0.5, 'kappa.low': 0.4, 'shares.0': 1, 'shares.1': 2}
    """
    columns: Record = {}
    for key, value in record.items():
        name = prefix if key == "value" else f"{prefix}.{key}" if prefix else key
        if isinstance(value, dict):
            columns |= flat(value, name)
        elif isinstance(value, list):
            columns |= _numbered(value, name)
        else:
            columns[name] = value
    return columns


def _numbered(values: list[Any], name: str) -> Record:
    """Return columns ``name.0``, ``name.1``, ...; a list within the list stays one cell."""
    columns: Record = {}
    for number, each in enumerate(values):
        part = f"{name}.{number}"
        columns |= flat(each, part) if isinstance(each, dict) else {part: each}
    return columns


def _plain(value: Any) -> Any:
    if isinstance(value, Figure):
        return _figure(value)
    if isinstance(value, SupportsJson):
        return value.as_json()
    if is_dataclass(value):
        return _fields(value)
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return value


def _figure(figure: Figure) -> Record:
    if figure.value is None:
        return {"value": None, "reason": figure.reason}
    if figure.interval is not None:
        return {"value": figure.value, "low": figure.interval.low, "high": figure.interval.high}
    if figure.no_interval is not None:
        return {"value": figure.value, "low": None, "high": None, "no_interval": figure.no_interval}
    return {"value": figure.value}


def _fields(value: Any) -> Record:
    record: Record = {}
    for declared in fields(value):
        found = getattr(value, declared.name)
        if _left_out(value, declared, found):
            continue
        if declared.metadata.get("inline"):
            record |= _plain(found)
        else:
            record[declared.metadata.get("key", declared.name)] = _plain(found)
        if declared.name == "round":
            record["round_number"] = value.round_number
    return record


def _left_out(value: Any, field: Field[Any], found: object) -> bool:
    if field.metadata.get("internal") or (field.metadata.get("optional") and found is None):
        return True
    return isinstance(value, ConsensusList) and field.name == "study"  # the report names it once


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
