"""Pages of long tables: which rows to read, and the links to the others."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

LARGEST_PAGE = 1_000_000


@dataclass(frozen=True, slots=True)
class Paging:
    """One page of ``total`` rows, ``size`` at a time; ``number`` counts from 1."""

    number: int
    size: int
    total: int

    @property
    def pages(self) -> int:
        """How many pages there are, at least one."""
        return max(1, -(-self.total // self.size))

    @property
    def first(self) -> int:
        """The number of the first row shown, 0 if there is none."""
        return min(self.total, (self.number - 1) * self.size + 1)

    @property
    def last(self) -> int:
        """The number of the last row shown."""
        return min(self.total, self.number * self.size)


@dataclass(frozen=True, slots=True)
class Choices:
    """What an address says beside its path; `with_` makes the address of a neighbour."""

    path: str
    values: Mapping[str, object]

    def with_(self, **changed: object) -> str:
        """The address with some values changed; empty ones are left out."""
        values = {**self.values, **changed}
        said = {name: str(value) for name, value in values.items() if value not in (None, "")}
        return f"{self.path}?{urlencode(said)}" if said else self.path

    def sorted_by(self, column: str, key: str = "sort") -> str:
        """The address sorted by ``column``, the other way round if it is sorted by it already."""
        turned = column if self.values.get(key) != column else f"-{column}"
        page = key.replace("sort", "page")
        return self.with_(**{key: turned, page: None})

    def direction(self, column: str, key: str = "sort") -> str | None:
        """How the table is sorted by ``column``, in the words of ``aria-sort``."""
        found = str(self.values.get(key, ""))
        if found.removeprefix("-") != column:
            return None
        return "descending" if found.startswith("-") else "ascending"


def offset_of(page: int, size: int) -> int:
    """The first row of ``page``, counted from 0."""
    return (page - 1) * size
