"""One declaration per study setting; checks, forms, pages and the documentation follow from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import UnionType
from typing import Any, Literal, get_args, get_type_hints

from topkapi.app.domain.errors import Invalid

Part = Literal["study", "pairs", "lists", "training"]
Shape = Literal["flag", "choice", "number", "text", "several"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of a number; with ``between`` they are not allowed themselves."""

    low: float
    high: float | None = None
    between: bool = False

    def check(self, name: str, value: float | None) -> None:
        """Raise `Invalid` if the value is out of bounds; None is the absence of a value."""
        if value is None:
            return
        above = self.low < value if self.between else self.low <= value
        below = self.high is None or (value < self.high if self.between else value <= self.high)
        if not (above and below):
            raise Invalid(f"{name} is {value}; it must be {self}.", field=name)

    def __str__(self) -> str:
        if self.high is None:
            return f"at least {self.low:g}"
        if self.between:
            return f"above {self.low:g} and below {self.high:g}"
        return f"from {self.low:g} to {self.high:g}"


@dataclass(frozen=True, slots=True)
class Setting:
    """A study setting: ``kind`` is its type, ``optional`` whether it may be None.

    Numbers have ``bounds`` and a ``unit``, texts at most ``longest`` characters. ``choices`` has
    the possible values with their labels. A ``frozen`` setting is fixed once work is assigned; a
    ``basic`` one is shown first, all others as advanced.
    """

    name: str
    kind: type
    optional: bool
    default: object
    label: str
    help: str
    part: Part
    bounds: Bounds | None
    longest: int | None
    choices: Mapping[str, str]
    unit: str
    frozen: bool
    basic: bool

    def check(self, value: Any) -> None:
        """Raise `Invalid` if the value is out of bounds or not one of the choices."""
        if self.choices and value not in self.choices:
            known = ", ".join(self.choices)
            raise Invalid(f"{self.name} is {value!r}; it can be {known}.", field=self.name)
        if self.bounds is not None:
            self.bounds.check(self.name, value)
        if self.longest is not None and len(value) > self.longest:
            raise Invalid(f"{self.name} has at most {self.longest} characters.", field=self.name)

    @property
    def shape(self) -> Shape:
        """How a form asks for it."""
        shapes: Mapping[type, Shape] = {bool: "flag", str: "text", tuple: "several"}
        return "choice" if self.choices else shapes.get(self.kind, "number")

    @property
    def range(self) -> str:
        """The bounds of a number in words, empty if it is not bounded above."""
        return "" if self.bounds is None or self.bounds.high is None else str(self.bounds)


def setting(
    default: Any,
    label: str,
    help: str,
    part: Part = "pairs",
    *,
    bounds: Bounds | None = None,
    longest: int | None = None,
    choices: Mapping[str, str] | None = None,
    unit: str = "",
    frozen: bool = True,
    basic: bool = False,
) -> Any:
    """Declare a field of a dataclass as a setting, see `Setting`."""
    declared: dict[str, object] = {"label": label, "help": help, "part": part, "bounds": bounds}
    declared |= {"longest": longest, "choices": choices or {}, "unit": unit}
    declared |= {"frozen": frozen, "basic": basic}
    return field(default=default, metadata=declared)


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
