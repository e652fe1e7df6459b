"""How a study is read: which part of a collection, and under which name."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options of an import.

    ``queries`` takes the first queries that have candidates, ``candidates`` the first candidates of
    each. ``split`` chooses among several files, such as train and test. ``name`` and ``slug``
    override those of study.toml.
    """

    queries: int | None = None
    candidates: int | None = None
    split: str | None = None
    name: str | None = None
    slug: str | None = None

    @property
    def takes_part(self) -> bool:
        """Whether only a part of the collection is wanted."""
        return self.queries is not None or self.candidates is not None


WHOLE = ReadOptions()
