"""What every kind of record has in common, and what it is checked against and written with."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, starmap
from operator import attrgetter
from typing import Any, Generic, TypeVar, cast

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from topkapi.app.db.base import Base
from topkapi.app.db.models import Candidate, Query, Study
from topkapi.app.db.queries.studies import importing as stored
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.importing.bundle import Bundle, Layout
from topkapi.app.services.importing.media import Media
from topkapi.app.services.importing.problems import Location, Problems, StudyRefused
from topkapi.app.services.importing.records.names import Aliases
from topkapi.app.services.importing.records.pages import PAGES
from topkapi.app.services.importing.sources.reader import Reader
from topkapi.app.services.values import ProblemKind, shown

Digest = bytes
Row = dict[str, Any]
K = TypeVar("K")  # key of a record
F = TypeVar("F")  # what is kept of a record: all of it, or a digest
R = TypeVar("R")  # a record as read
Found = Iterator[tuple[Location, R]]
New = Mapping[str, frozenset[Any]]  # keys of new records by role


def digest_of(*parts: object) -> Digest:
    """Return a short digest that is equal for equal parts.

    It is also equal after a round trip of the parts through the database.
    """
    return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=12).digest()


@dataclass(slots=True)
class Checked:
    """A study that passed every check: what is kept of the records of each kind."""

    bundle: Bundle
    found: dict[str, dict[Any, Any]] = field(default_factory=dict)  # by role and key
    cuts: dict[tuple[str, str], int] = field(default_factory=dict)  # rankings that end early
    document_paths: set[str] = field(default_factory=set)
    bytes: int = 0
    locations: dict[str, Location] = field(default_factory=dict)  # of queries, for later problems
    candidates_of: Counter[str] = field(default_factory=Counter)  # by query
    missing: dict[str, Location] = field(default_factory=dict)  # documents that candidates name
    duplicates: Counter[str] = field(default_factory=Counter)  # identical lines that were merged
    unread: dict[str, Counter[str]] = field(default_factory=dict)  # fields by file
    notes: list[str] = field(default_factory=list)
    media: Media = field(default_factory=Media)

    def __getitem__(self, kind: "Kind[K, F, R]") -> dict[K, F]:
        return self.found.setdefault(kind.role, {})

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Add to a refusal how much was read before it."""
        try:
            yield
        except StudyRefused as refused:
            refused.read = self.counts()
            raise

    def counts(self) -> dict[str, int]:
        """Return how much was read."""
        roles = ("queries", "documents", "candidates", "rankings")
        return {role: len(self.found.get(role, ())) for role in roles} | {"bytes": self.bytes}


@dataclass(frozen=True, slots=True)
class Check:
    """The first pass over the records; ``documents`` reads those, perhaps quietly."""

    checked: Checked
    reader: Reader
    documents: Reader

    @property
    def problems(self) -> Problems:
        """The problems of the study."""
        return self.reader.problems

    def has_faults(self, role: str) -> bool:
        """Return whether files of a role have problems: what is missing may be in bad lines."""
        files = self.checked.bundle.layout.files.get(role, ())
        of_pages = role == "documents"
        return any(
            file in files or (of_pages and file.startswith(PAGES)) for file in self.problems.files
        )

    def known(self, location: Location, field: str, name: str, hint: str = "") -> bool:
        """Return whether there is such a query or document; add a problem otherwise."""
        one, many, other = "document", "documents", "query"
        if field == "query":
            one, many, other = "query", "queries", "document"
        known = self.checked.found.get(many, {})
        if name in known or self.has_faults(many):
            return name in known
        others = self.checked.found.get("documents" if field == "query" else "queries", {})
        unknown = ProblemKind.NO_QUERY if field == "query" else ProblemKind.NO_DOCUMENT
        swapped = f" {shown(name)} is the id of a {other}." if name in others else ""
        self.problems.add(
            location,
            field,
            f"There is no {one} {shown(name)}.{swapped}",
            f"Add the {one}, or correct its id; the ids look like "
            f"{shown(next(iter(known), ''))}{hint}.",
            ProblemKind.SWAPPED_IDS if swapped else unknown,
        )
        return False


@dataclass(frozen=True, slots=True)
class StoredComparison:
    """A checked study and the stored study of the same slug; contradictions are problems."""

    session: Session
    study: Study
    checked: Checked
    problems: Problems


class Writing:
    """Where the new records of a study are written; ``rest`` ends a portion of the work."""

    def __init__(
        self,
        session: Session,
        study_id: int,
        checked: Checked,
        rendered: dict[str, str],
        rest: Callable[[], None],
    ) -> None:
        self.session, self.study_id, self.checked, self.rest = session, study_id, checked, rest
        self.rendered = rendered
        self._positions: dict[object, Iterator[int]] = {}

    @cached_property
    def queries(self) -> dict[str, int]:
        """Ids of the queries, which are written already, by name."""
        found = stored.query_numbers(self.session, self.study_id)
        self.rest()
        return found

    @cached_property
    def documents(self) -> dict[str, int]:
        """Ids of the documents, which are written already, by name."""
        found = stored.document_numbers(self.session, self.study_id)
        self.rest()
        return found

    @cached_property
    def candidate_counts(self) -> Counter[int]:
        """The number of candidates by id of the query."""
        statement = (
            select(Candidate.query_id, func.count())
            .join(Query, Query.id == Candidate.query_id)
            .where(Query.study_id == self.study_id)
            .group_by(Candidate.query_id)
        )
        return Counter({row[0]: row[1] for row in self.session.execute(statement)})

    def next_position(self, model: stored.Positioned) -> int:
        """Return the next position among the rows of the study; the first is after those stored."""
        if model not in self._positions:
            last = select(func.max(model.position)).where(model.study_id == self.study_id)
            found = self.session.scalar(last)
            self._positions[model] = count(0 if found is None else found + 1)
        return next(self._positions[model])


class Kind(Generic[K, F, R]):
    """A kind of record: where it is read, how it is checked, compared and written.

    ``role`` names it in study.toml and in reports, ``one`` and ``many`` in messages. Its file has
    one of ``names``, or else a word among ``words`` in its name. ``fields`` has its fields' names.
    Of a ``staged`` kind only digests are kept, and the records are read twice. A kind that
    ``merges`` takes identical records once.
    """

    role: str
    one: str
    many: str
    names: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    folder: str | None = None  # whose files belong to it too
    fields: Aliases | None = None
    id_field = "id"
    staged = False
    merges = True
    model: type[Base]
    record_type: Callable[..., R]
    key: Callable[[R], K] = staticmethod(attrgetter("id"))  # what identifies a record

    def read(self, bundle: Bundle, reader: Reader) -> Found[R]:
        """Yield the records of the study's files with their locations."""
        raise NotImplementedError

    def kept(self, record: R) -> F:
        """Return what is kept of a record."""
        return cast(F, record)

    def stored(self, session: Session, study_id: int) -> Mapping[K, F]:
        """Return what the database has, in the form in which records are kept."""
        raise NotImplementedError

    def row(self, write: Writing, record: R) -> Row:
        """Return the row of a record."""
        raise NotImplementedError

    def rows(self, write: Writing, new: frozenset[K], staged: Iterable[Any]) -> Iterator[Row]:
        """Yield the rows of the new records, which are ``staged`` or kept."""
        kept = write.checked[self]
        records: Iterable[Any] = (kept[key] for key in kept if key in new)
        for record in starmap(self.record_type, staged) if self.staged else records:
            yield self.row(write, record)

    def read_from(self, layout: Layout) -> str:
        """Return the files it is read from, as text for people."""
        return ", ".join(layout.files.get(self.role, ()))

    def same(self, before: F, now: F) -> bool:
        """Return whether two records of one key do not contradict each other."""
        return before == now

    def is_sound(self, check: Check, location: Location, record: R) -> bool:
        """Return whether a record can be kept; add a problem otherwise."""
        return True

    def on_kept(self, check: Check, location: Location, record: R) -> None:
        """Note what other kinds need of a record that is kept."""

    def finish(self, check: Check) -> None:
        """Check the records together when all were read."""

    def title(self, key: K) -> str:
        """Return a stored record in words."""
        return f"{self.one} {key!r}"

    def location(self, checked: Checked, key: K) -> Location:
        """Return where a record, or its kind, is written."""
        layout = checked.bundle.layout
        return Location(layout.file(self.role) or layout.rows[0])

    def check(self, check: Check) -> None:
        """Read and check every record: unique ids, known references, nothing empty."""
        found = check.checked[self]
        for location, record in self.read(check.checked.bundle, check.reader):
            self.take(check, found, location, record)
        self.finish(check)

    def take(self, check: Check, taken: dict[K, F], location: Location, record: R) -> None:
        """Check a record and keep it, unless it repeats another one."""
        if not self.is_sound(check, location, record):
            return
        key, kept = self.key(record), self.kept(record)
        if key in taken:
            if self.merges and self.same(taken[key], kept):
                check.checked.duplicates[self.many] += 1
                return
            problem = f"The {self.one} {_twice(key)}, with different content."
            fix = "Keep the right one, and remove the other."
            check.problems.add(location, self.id_field, problem, fix)
        taken[key] = kept
        self.on_kept(check, location, record)

    def added(self, compare: StoredComparison) -> frozenset[K]:
        """Return the keys of new records; a stored one with other content is a problem."""
        given = compare.checked[self]
        existing = self.stored(compare.session, compare.study.id)
        for key in given.keys() & existing.keys():
            if not self.same(existing[key], given[key]):
                compare.problems.add(
                    self.location(compare.checked, key),
                    None,
                    f"The {self.title(key)} already exists with different content.",
                    "Restore the imported content, or use another id.",
                )
        return frozenset(given.keys() - existing.keys())


class SideFile(Kind[Any, Any, Any]):
    """A kind without a table: other kinds read its file, which may also be sent beside a study.

    Such a file counts instead of one among the study's files, under the name ``added_as``.
    ``hint`` says in the form what it is.
    """

    added_as: str
    hint: str

    def settings_with(self, settings: StudySettings) -> StudySettings:
        """Return the settings of a study that has such a file."""
        return settings


def _twice(key: object) -> str:
    if not isinstance(key, tuple):
        return f"{shown(key)} appears twice"
    query, *names = key
    return f"{shown(', '.join(names))} appears twice for query {shown(query)}"
