"""The first reading of a study: everything is checked and little is kept.

Documents are not held in memory: of each, a mark is kept that tells whether the second reading, or
a study already imported, has the same one.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from topkapi.app.domain.enums import Tool
from topkapi.app.services.importing.bundle import Bundle, find_bundle
from topkapi.app.services.importing.problems import Place, Problems, StudyRefused
from topkapi.app.services.importing.records.contents import content_hash
from topkapi.app.services.importing.records.pages import PAGES, file_type
from topkapi.app.services.importing.records.types import (
    CandidateRecord,
    DocumentRecord,
    QueryRecord,
    RankingRecord,
)
from topkapi.app.services.importing.records.values import shown
from topkapi.app.services.importing.sources import limits
from topkapi.app.services.importing.sources.folders import Source
from topkapi.app.services.importing.sources.reader import Progress, Reader, no_progress

Mark = bytes


@dataclass(slots=True)
class Checked:
    """A study whose every line was found good, by marks of its parts."""

    bundle: Bundle
    queries: dict[str, QueryRecord] = field(default_factory=dict)
    documents: dict[str, Mark] = field(default_factory=dict)
    candidates: dict[str, dict[str, Mark]] = field(default_factory=dict)
    rankings: dict[tuple[str, str], Mark] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)  # path -> content hash
    document_paths: set[str] = field(default_factory=set)
    bytes: int = 0
    places: dict[str, Place] = field(default_factory=dict)  # of queries, for later refusals

    def counts(self) -> dict[str, int]:
        """How much was read."""
        return {
            "queries": len(self.queries),
            "documents": len(self.documents),
            "candidates": sum(map(len, self.candidates.values())),
            "rankings": len(self.rankings),
            "bytes": self.bytes,
        }

    @property
    def content_hash(self) -> str:
        """A hash of everything that was read; the same study has the same one."""
        head = self.bundle.head
        digest = hashlib.sha256()
        parts: Iterable[object] = (
            [head.name, head.slug, head.guidelines, head.settings.as_json()],
            list(self.queries.values()),
            {name: mark.hex() for name, mark in self.documents.items()},
            {q: {d: m.hex() for d, m in found.items()} for q, found in self.candidates.items()},
            [[*key, mark.hex()] for key, mark in self.rankings.items()],
            self.files,
        )
        for part in parts:
            digest.update(json.dumps(part, sort_keys=True).encode())
        return digest.hexdigest()


def mark_of(*parts: object) -> Mark:
    """A short mark; equal parts have equal marks, now and after a way through the database."""
    return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=12).digest()


def document_mark(record: DocumentRecord, digest: str) -> Mark:
    """The mark of a document with the content ``digest``."""
    return mark_of(digest, record.title, record.url, record.path)


def candidate_mark(grade: int | None, features: dict[str, float] | None) -> Mark:
    """The mark of what is known about a candidate."""
    values = features and {name: float(value) for name, value in features.items()}
    return mark_of(grade, values)


def check_study(source: Source, progress: Progress = no_progress) -> Checked:
    """Read the whole study; the first 20 problems are reported at once."""
    problems = Problems()
    reader = Reader(source, problems, doing="checking", progress=progress)
    bundle = find_bundle(reader)
    problems.refuse_if_any()
    assert bundle is not None
    checker = _Checker(Checked(bundle), problems)
    with counting(checker.checked):
        checker.queries(bundle.queries(reader))
        checker.documents(bundle.documents(reader))
        checker.candidates(bundle.candidates(reader))
        checker.rankings(bundle.rankings(reader))
        checker.files(reader)
        problems.refuse_if_any()
    return checker.checked


@contextmanager
def counting(checked: Checked) -> Iterator[None]:
    """Let a refusal say what was read until then."""
    try:
        yield
    except StudyRefused as refused:
        refused.read = checked.counts()
        raise


class _Checker:
    """Holds records against each other: ids once, references known, nothing empty."""

    def __init__(self, checked: Checked, problems: Problems) -> None:
        self.checked = checked
        self._problems = problems

    def queries(self, found: Iterable[tuple[Place, QueryRecord]]) -> None:
        for place, query in found:
            if query.id in self.checked.queries:
                self._twice(place, "id", "query", query.id)
            self.checked.queries[query.id] = query
            self.checked.places[query.id] = place
        if not self.checked.queries and not self._problems:
            file = self.checked.bundle.layout.queries or self.checked.bundle.layout.candidates
            self._problems.add(Place(file), None, "There is no query.", "Add one.")

    def documents(self, found: Iterable[tuple[Place, DocumentRecord]]) -> None:
        for place, document in found:
            if document.id in self.checked.documents:
                self._twice(place, "id", "document", document.id)
            digest = content_hash(document.media_type, document.data)
            self.checked.documents[document.id] = document_mark(document, digest)
            self.checked.bytes += len(document.data)
            if document.path:
                self.checked.files[document.path] = digest
                self.checked.document_paths.add(document.path)
        if not self.checked.documents and not self._problems:
            file = self.checked.bundle.layout.documents or PAGES
            self._problems.add(Place(file), None, "There is no document.", "Add some.")

    def candidates(self, found: Iterable[tuple[Place, CandidateRecord]]) -> None:
        for place, candidate in found:
            query, document, grade, features = candidate
            if not self._known(place, "query", query, self.checked.queries):
                continue
            if not self._known(place, "document", document, self.checked.documents):
                continue
            offered = self.checked.candidates.setdefault(query, {})
            if document in offered:
                self._twice(place, "document", "candidate", document, f" for query {shown(query)}")
            offered[document] = candidate_mark(grade, features)
            if len(offered) == limits.MAX_CANDIDATES + 1:
                self._problems.add(
                    place,
                    "query",
                    f"Query {shown(query)} has more than {limits.MAX_CANDIDATES:,} candidates.",
                    "Offer fewer; a person cannot compare so many.",
                )
        self._no_query_without_candidates()

    def _no_query_without_candidates(self) -> None:
        if self._problems:
            return  # the ones that are missing may be the ones that could not be read
        for query in self.checked.queries:
            if query not in self.checked.candidates:
                self._problems.add(
                    self.checked.places[query],
                    "id",
                    f"Query {shown(query)} has no candidates.",
                    f"Add some to {self.checked.bundle.layout.candidates}, or leave it out.",
                )

    def rankings(self, found: Iterable[tuple[Place, RankingRecord]]) -> None:
        for place, ranking in found:
            key = ranking.query, ranking.system
            if key in self.checked.rankings:
                where = f" for query {shown(ranking.query)}"
                self._twice(place, "system", "ranking", ranking.system, where)
            self._known(place, "query", ranking.query, self.checked.queries)
            for document in ranking.documents:
                self._known(place, "documents", document, self.checked.documents)
            self.checked.rankings[key] = mark_of(ranking.documents)
        self._lists_need_rankings()

    def _lists_need_rankings(self) -> None:
        head = self.checked.bundle.head
        if Tool.LISTS in head.settings.tools and not self.checked.rankings and not self._problems:
            self._problems.add(
                head.place,
                "tools",
                "The tool 'lists' compares rankings, and there are none.",
                "Add rankings.jsonl, or leave the tool out.",
            )

    def files(self, reader: Reader) -> None:
        """Everything under pages/ that is not a document is kept for the pages' sake."""
        for path in self.checked.bundle.layout.pages:
            if path in self.checked.files:
                continue
            if len(path) > limits.MAX_PATH:
                self._problems.add(Place(path[:80]), None, "The path is too long.", "Shorten it.")
            data = reader.content(path)
            self.checked.files[path] = content_hash(file_type(path), data)
            self.checked.bytes += len(data)

    def _twice(self, place: Place, field: str, kind: str, name: str, where: str = "") -> None:
        self._problems.add(
            place, field, f"The {kind} {shown(name)} was there before{where}.", "Keep one of them."
        )

    def _known(
        self, place: Place, field: str, name: str, known: dict[str, object] | object
    ) -> bool:
        assert isinstance(known, dict)
        if name in known:
            return True
        kind = "query" if field == "query" else "document"
        self._problems.add(
            place, field, f"There is no {kind} {shown(name)}.", f"Add the {kind}, or mend its id."
        )
        return False
