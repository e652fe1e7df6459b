"""Parts of long lists: pages of tables with links, and `limit` and `offset` of the API."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, TypeVar
from urllib.parse import urlencode

from fastapi import Path, Query, Response

Rows = TypeVar("Rows")
LARGEST_PAGE = 1_000_000
TOTAL = "X-Total-Count"
Limit = Annotated[int, Query(ge=1, le=1000, description="Maximum number of items to return.")]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1, description="Number of items to skip.")]
Number = Annotated[int, Path(ge=1, le=2**31 - 1)]
PageNumber = Annotated[int, Query(ge=1, le=LARGEST_PAGE)]
Search = Annotated[str, Query(max_length=200)]


@dataclass(frozen=True, slots=True)
class Paging:
    """One page of ``total`` rows, ``size`` at a time; ``number`` counts from 1, to the last."""

    number: int
    size: int
    total: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "number", min(self.number, self.pages))

    @property
    def pages(self) -> int:
        """Number of pages, at least one."""
        return max(1, -(-self.total // self.size))

    @property
    def first(self) -> int:
        """Number of the first row shown, 0 if there is none."""
        return min(self.total, (self.number - 1) * self.size + 1)

    @property
    def last(self) -> int:
        """Number of the last row shown."""
        return min(self.total, self.number * self.size)


@dataclass(frozen=True, slots=True)
class Choices:
    """Path and query parameters of the current page; `with_` returns a changed address."""

    path: str
    values: Mapping[str, object]

    def with_(self, **changed: object) -> str:
        """Return the address with some parameters changed; empty ones are omitted."""
        values = {**self.values, **changed}
        given = {name: str(value) for name, value in values.items() if value not in (None, "")}
        return f"{self.path}?{urlencode(given)}" if given else self.path

    def sorted_by(self, column: str, key: str = "sort") -> str:
        """Return the address sorted by ``column``, reversed if it is sorted by that column."""
        order = column if self.values.get(key) != column else f"-{column}"
        page = key.replace("sort", "page")
        return self.with_(**{key: order, page: None})

    def direction(self, column: str, key: str = "sort") -> str | None:
        """Return the ``aria-sort`` value of ``column``, None if the table is not sorted by it."""
        found = str(self.values.get(key, ""))
        if found.removeprefix("-") != column:
            return None
        return "descending" if found.startswith("-") else "ascending"


def offset_of(page: int, size: int) -> int:
    """Return the index of the first row of ``page``, from 0."""
    return (page - 1) * size


def paged(number: int, size: int, find: Callable[[int], tuple[Rows, int]]) -> tuple[Rows, Paging]:
    """Return the rows of a page, or of the last one; ``find`` returns those from an index on."""
    rows, total = find(offset_of(number, size))
    paging = Paging(number, size, total)
    return (rows if paging.number == number else find(offset_of(paging.number, size))[0]), paging


def say_total(response: Response, total: int) -> None:
    """Set the header with the total number of items."""
    response.headers[TOTAL] = str(total)
