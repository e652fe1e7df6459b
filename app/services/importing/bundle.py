"""What an import works with: its options, the head and the files of a study, a part of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from topkapi.app.domain.study import StudySettings
from topkapi.app.services.importing.problems import Location

SETTINGS, GUIDELINES = "study.toml", "guidelines.md"
CandidateFormat = Literal["csv", "json", "jsonl", "letor", "parquet", "qrels", "run", "tsv"]
Files = Mapping[str, tuple[str, ...]]  # by role


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


@dataclass(frozen=True, slots=True)
class ImportedHead:
    """A study without its content: name, guidelines and settings."""

    name: str
    slug: str
    guidelines: str
    settings: StudySettings
    files: Files
    location: Location
    lines: Mapping[str, int] = field(default_factory=dict)  # of study.toml, by setting

    def where(self, name: str) -> Location:
        """Return where a field of the head is written."""
        if name == "guidelines":
            return Location(GUIDELINES)
        return Location(self.location.file, self.lines.get(name, 0))


@dataclass(frozen=True, slots=True)
class Layout:
    """The files of a study by role.

    A LETOR file can replace the files of queries and documents: its query ids are the queries, and
    cards of its features the documents. Without a documents file, the pages under pages/ are the
    documents.
    """

    files: Files  # several LETOR files with candidates are read one after the other
    candidate_format: CandidateFormat
    runs: tuple[str, ...] = ()  # whose first documents are the candidates, up to rank ``pool``
    pool: int | None = None
    pages: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    recognised: frozenset[str] = frozenset()  # by their content; their names say nothing

    def file(self, role: str) -> str | None:
        """Return the file of a role, the first of several."""
        return next(iter(self.files.get(role, ())), None)

    @property
    def rows(self) -> tuple[str, ...]:
        """The files with candidates."""
        return self.files["candidates"]

    @property
    def as_cards(self) -> bool:
        """Whether documents are shown as cards of their features."""
        return not self.files.get("documents") and not self.pages


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a collection that is imported: candidates by query, and all documents.

    ``asked`` is the number of queries in the file, ``judged`` of those with candidates, ``unknown``
    of lines with candidates of other queries, ``left_out`` of candidates without a document.
    """

    candidates: dict[str, frozenset[str]]
    documents: frozenset[str]
    asked: int
    judged: int
    unknown: int
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Bundle:
    """The settings of a study and the files that hold its records; ``part`` limits what is read."""

    head: ImportedHead
    layout: Layout
    part: Part | None = None

    @property
    def is_collection(self) -> bool:
        """Whether the files are a test collection: there is no study.toml."""
        return not self.head.lines and not self.layout.as_cards

    def has_query(self, name: str) -> bool:
        """Return whether a query is imported."""
        return self.part is None or name in self.part.candidates

    def offers(self, query: str, *documents: str) -> bool:
        """Return whether documents are imported as candidates of a query."""
        return self.part is None or {*documents} <= self.part.candidates.get(query, frozenset())
