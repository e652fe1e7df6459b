"""Rounds in exports: counted from 0 for programs and from 1 for people."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, get_type_hints


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
