"""The one serialiser of reports: dataclasses to records that JSON and CSV can hold."""

import json
from collections.abc import Mapping
from dataclasses import Field, fields, is_dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

from topkapi.analysis.data.exports import ConsensusList
from topkapi.analysis.report.schema import Figure, ListReport, Report, SystemReport

Record: TypeAlias = dict[str, Any]


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
    for each in fields(value):
        found = getattr(value, each.name)
        if _left_out(value, each, found):
            continue
        if each.metadata.get("inline"):
            record |= _plain(found)
        else:
            record[each.metadata.get("key", each.name)] = _plain(found)
        if each.name == "round":
            record["round_number"] = value.round_number
    return record


def _left_out(value: Any, field: Field[Any], found: object) -> bool:
    if field.metadata.get("internal") or (field.metadata.get("optional") and found is None):
        return True
    return isinstance(value, ConsensusList) and field.name == "study"  # the report names it once
