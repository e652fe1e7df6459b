"""Paging of lists in the API: `limit`, `offset`, and `X-Total-Count` in the response."""

from typing import Annotated

from fastapi import Path, Query, Response

TOTAL = "X-Total-Count"
Limit = Annotated[int, Query(ge=1, le=1000, description="Maximum number of items to return.")]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1, description="Number of items to skip.")]
Number = Annotated[int, Path(ge=1, le=2**31 - 1)]


def say_total(response: Response, total: int) -> None:
    """Set the header with the total number of items."""
    response.headers[TOTAL] = str(total)
