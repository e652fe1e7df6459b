"""What lists of the API share: `limit`, `offset`, and `X-Total-Count` in the answer."""

from typing import Annotated

from fastapi import Path, Query, Response

TOTAL = "X-Total-Count"
Limit = Annotated[int, Query(ge=1, le=1000, description="At most so many.")]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1, description="Leave out so many first.")]
Number = Annotated[int, Path(ge=1, le=2**31 - 1)]
Slug = Annotated[str, Path(max_length=100, description="The study's public name.")]


def say_total(response: Response, total: int) -> None:
    """Tell how many there are in all."""
    response.headers[TOTAL] = str(total)
