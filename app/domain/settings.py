"""One declaration per study setting; checks, forms, pages and the documentation follow from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import UnionType
from typing import Any, Literal, get_args, get_type_hints

from topkapi.app.domain.errors import Invalid

Part = Literal["study", "pairs", "lists", "training"]
Shape = Literal["flag", "choice", "number", "text", "several"]


@dataclass(frozen=True, slots=True)
class Setting:
    """A study setting: ``kind`` is its type, ``optional`` whether it may be None.

    Numbers are from ``low`` to ``high``, texts have at most ``high`` characters. ``choices`` has
    the possible values with their labels. A ``frozen`` setting is fixed once work is assigned.
    """

    name: str
    kind: type
    optional: bool
    default: object
    label: str
    help: str
    part: Part
    low: float | None
    high: float | None
    choices: Mapping[str, str]
    frozen: bool

    def check(self, value: Any) -> None:
        """Raise `Invalid` if the value is out of bounds or not one of the choices."""
        if self.choices and value not in self.choices:
            known = ", ".join(self.choices)
            raise Invalid(f"{self.name} is {value!r}; it can be {known}.", field=self.name)
        if value is None or (self.low is None and self.high is None):
            return
        if self.kind is str:
            if len(value) > (self.high or 0):
                raise Invalid(f"{self.name} has at most {self.high} characters.", field=self.name)
        elif not (self.low or 0) <= value <= (value if self.high is None else self.high):
            allowed = self.range or f"at least {self.low:g}"
            raise Invalid(f"{self.name} is {value}; it must be {allowed}.", field=self.name)

    @property
    def shape(self) -> Shape:
        """How a form asks for it."""
        shapes: Mapping[type, Shape] = {bool: "flag", str: "text", tuple: "several"}
        return "choice" if self.choices else shapes.get(self.kind, "number")

    @property
    def range(self) -> str:
        """The bounds of a number in words, empty if it is not bounded above."""
        bounded = self.low is not None and self.high is not None
        return f"from {self.low:g} to {self.high:g}" if bounded else ""


def setting(
    default: Any,
    label: str,
    help: str,
    part: Part = "pairs",
    *,
    low: float | None = None,
    high: float | None = None,
    choices: Mapping[str, str] | None = None,
    frozen: bool = True,
) -> Any:
    """Declare a field of a dataclass as a setting, see `Setting`."""
    declared = {"label": label, "help": help, "part": part, "low": low, "high": high}
    return field(default=default, metadata=declared | {"choices": choices or {}, "frozen": frozen})


def settings_of(cls: type) -> Mapping[str, Setting]:
    """Return the settings that the dataclass declares, by name."""
    hints = get_type_hints(cls)
    return {
        each.name: Setting(
            name=each.name,
            kind=_kind(hints[each.name]),
            optional=isinstance(hints[each.name], UnionType),
            default=each.default,
            **each.metadata,
        )
        for each in fields(cls)
    }


def _kind(hint: Any) -> type:
    if isinstance(hint, UnionType):
        hint = next(kind for kind in get_args(hint) if kind is not type(None))
    return hint if isinstance(hint, type) else tuple
