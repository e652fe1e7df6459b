"""How a study is read: which part of a collection, and under which name."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options of an import.

    ``queries`` takes the first queries that have candidates, ``candidates`` the first candidates of
    each. ``split`` chooses among several files, such as train and test. ``name`` and ``slug``
    override those of study.toml. ``leave_out`` leaves out candidates whose document is missing or
    empty. ``pool`` makes the candidates from the first documents of each run.
    """

    queries: int | None = None
    candidates: int | None = None
    split: str | None = None
    name: str | None = None
    slug: str | None = None
    leave_out: Literal["missing"] | None = None
    pool: int | None = None

    @property
    def takes_part(self) -> bool:
        """Whether only a part of the collection is wanted."""
        return any((self.queries, self.candidates, self.leave_out, self.pool))


WHOLE = ReadOptions()
