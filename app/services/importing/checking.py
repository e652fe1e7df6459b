"""The first pass over a study: check everything, keep little.

Documents are not held in memory: only a digest of each is kept, to compare with the second pass and
with a study that was imported before.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field, replace

from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.training.practice import MAX_QUESTIONS, PracticeQuestion, check_question
from topkapi.app.services.fence import limits
from topkapi.app.services.importing.bundle import Bundle, find_bundle
from topkapi.app.services.importing.diagnosing import causes_of
from topkapi.app.services.importing.media import Media
from topkapi.app.services.importing.options import WHOLE, ReadOptions
from topkapi.app.services.importing.problems import Kind, Location, Problems, StudyRefused
from topkapi.app.services.importing.records.contents import content_hash
from topkapi.app.services.importing.records.pages import PAGES, file_type
from topkapi.app.services.importing.records.types import (
    CandidateRecord,
    DocumentRecord,
    GoldRecord,
    PracticeRecord,
    QueryRecord,
    RankingRecord,
)
from topkapi.app.services.importing.records.values import shown
from topkapi.app.services.importing.selecting import part_notes, select_part
from topkapi.app.services.importing.sources.folders import Source
from topkapi.app.services.importing.sources.reader import Progress, Reader, no_progress
from topkapi.app.services.pages.pdf import PDF

Digest = bytes


@dataclass(slots=True)
class Checked:
    """A study that passed every check, as digests of its parts."""

    bundle: Bundle
    queries: dict[str, QueryRecord] = field(default_factory=dict)
    documents: dict[str, Digest] = field(default_factory=dict)
    candidates: dict[str, dict[str, Digest]] = field(default_factory=dict)
    rankings: dict[tuple[str, str], Digest] = field(default_factory=dict)
    cuts: dict[tuple[str, str], int] = field(default_factory=dict)  # rankings that end early
    practice: dict[str, PracticeQuestion] = field(default_factory=dict)
    gold: dict[tuple[str, str, str], GoldRecord] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)  # path -> content hash
    document_paths: set[str] = field(default_factory=set)
    bytes: int = 0
    locations: dict[str, Location] = field(default_factory=dict)  # of queries, for later problems
    duplicates: Counter[str] = field(default_factory=Counter)  # identical lines that were merged
    unread: dict[str, Counter[str]] = field(default_factory=dict)  # fields by file
    notes: list[str] = field(default_factory=list)
    media: Media = field(default_factory=Media)

    def counts(self) -> dict[str, int]:
        """Return how much was read."""
        return {
            "queries": len(self.queries),
            "documents": len(self.documents),
            "candidates": sum(map(len, self.candidates.values())),
            "rankings": len(self.rankings),
            "bytes": self.bytes,
        }

    @property
    def content_hash(self) -> str:
        """Hash of everything that was read; equal studies have equal hashes."""
        head = self.bundle.head
        digest = hashlib.sha256()
        parts: Iterable[object] = (
            [head.name, head.slug, head.guidelines, head.settings.as_json()],
            [astuple(query) for query in self.queries.values()],
            {name: value.hex() for name, value in self.documents.items()},
            {
                q: {d: value.hex() for d, value in found.items()}
                for q, found in self.candidates.items()
            },
            [[*key, value.hex()] for key, value in self.rankings.items()],
            self.files,
            *([[name, *astuple(each)] for name, each in self.practice.items()]),
            *([list(self.gold.values())] if self.gold else []),
        )
        for part in parts:
            digest.update(json.dumps(part, sort_keys=True).encode())
        return digest.hexdigest()


def digest_of(*parts: object) -> Digest:
    """Return a short digest that is equal for equal parts.

    It is also equal after a round trip of the parts through the database.
    """
    return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=12).digest()


def document_digest(record: DocumentRecord, content: str) -> Digest:
    """Return the digest of a document whose content has the hash ``content``."""
    return digest_of(content, record.title, record.url, record.path)


def candidate_digest(grade: int | None, features: dict[str, float] | None) -> Digest:
    """Return the digest of what is known about a candidate."""
    values = features and {name: float(value) for name, value in features.items()}
    return digest_of(grade, values)


def check_study(
    source: Source, progress: Progress = no_progress, options: ReadOptions = WHOLE
) -> Checked:
    """Check the whole study; raise StudyRefused with up to 20 problems at once."""
    problems = Problems()
    reader = Reader(source, problems, doing="checking", progress=progress)
    with diagnosing(reader), reader.media.fence:
        return _check_all(reader, problems, options)


@contextmanager
def diagnosing(reader: Reader) -> Iterator[None]:
    """Add to a refusal the likely cause for each file."""
    try:
        yield
    except StudyRefused as refused:
        refused.causes = tuple(causes_of(reader, refused.problems))
        raise


def _check_all(reader: Reader, problems: Problems, options: ReadOptions) -> Checked:
    bundle = find_bundle(reader, options)
    problems.refuse_if_any()
    assert bundle is not None
    checked = Checked(bundle, media=reader.media)
    if bundle.is_collection or options.takes_part:
        part = select_part(bundle, reader, options)
        problems.refuse_if_any()
        if part is None:  # no candidate fits a query: say why, not what else is wrong
            return _checked(checked, reader, problems, reader.quiet())
        checked = Checked(replace(bundle, part=part), notes=[*part_notes(part)], media=reader.media)
    return _checked(checked, reader, problems, reader)


def _checked(
    checked: Checked, reader: Reader, problems: Problems, reader_of_documents: Reader
) -> Checked:
    checker, bundle = _Checker(checked, problems), checked.bundle
    with counting(checked):
        checker.queries(bundle.queries(reader))
        checker.documents(bundle.documents(reader_of_documents), reader_of_documents.problems)
        checker.candidates(bundle.candidates(reader))
        checker.rankings(bundle.rankings(reader))
        checker.practice(bundle.practice(reader))
        checker.gold(bundle.gold(reader))
        checker.files(reader)
        problems.refuse_if_any()
    checked.unread = reader.unread
    return checked


@contextmanager
def counting(checked: Checked) -> Iterator[None]:
    """Add to a refusal how much was read before it."""
    try:
        yield
    except StudyRefused as refused:
        refused.read = checked.counts()
        raise


class _Checker:
    """Checks records against each other: unique ids, known references, nothing empty."""

    def __init__(self, checked: Checked, problems: Problems) -> None:
        self.checked = checked
        self._problems = problems

    def queries(self, found: Iterable[tuple[Location, QueryRecord]]) -> None:
        for location, query in found:
            if self._is_repeated("queries", self.checked.queries.get(query.id), query):
                continue
            if query.id in self.checked.queries:
                self._twice(location, "id", "query", query.id)
            self.checked.queries[query.id] = query
            self.checked.locations[query.id] = location
        if not self.checked.queries and not self._problems:
            file = self.checked.bundle.layout.queries or self.checked.bundle.layout.candidates
            self._problems.add(Location(file), None, "There is no query.", "Add at least one.")

    def documents(
        self, found: Iterable[tuple[Location, DocumentRecord]], problems: Problems
    ) -> None:
        for location, document in found:
            if not document.data:
                fix = "Add content, or leave out candidates without it: --leave-out missing."
                where = "path" if document.path else "text"
                problems.add(location, where, "The page is empty.", fix)
            digest = content_hash(document.media_type, document.data)
            whole = document_digest(document, digest)
            if self._is_repeated("documents", self.checked.documents.get(document.id), whole):
                continue
            if document.id in self.checked.documents:
                self._twice(location, "id", "document", document.id)
            self.checked.documents[document.id] = whole
            self.checked.bytes += len(document.data)
            if document.path:
                self.checked.document_paths.add(document.path)
            if document.path and document.media_type != PDF:  # a PDF is shown by its pictures
                self.checked.files[document.path] = digest
        if not self.checked.documents and not self._problems:
            file = self.checked.bundle.layout.documents or PAGES
            self._problems.add(Location(file), None, "There is no document.", "Add at least one.")

    def candidates(self, found: Iterable[tuple[Location, CandidateRecord]]) -> None:
        missing: dict[str, Location] = {}
        location = None
        for location, candidate in found:
            query, document, grade, features = candidate
            if not self._known(location, "query", query, self.checked.queries):
                continue
            if document not in self.checked.documents:
                missing.setdefault(document, location)
                continue
            offered = self.checked.candidates.setdefault(query, {})
            digest = candidate_digest(grade, features)
            if self._is_repeated("candidates", offered.get(document), digest):
                continue
            if document in offered:
                self._twice(
                    location, "document", "candidate", document, f" for query {shown(query)}"
                )
            offered[document] = digest
            if len(offered) == limits.MAX_CANDIDATES + 1:
                self._problems.add(
                    location,
                    "query",
                    f"Query {shown(query)} has more than {limits.MAX_CANDIDATES:,} candidates.",
                    "Remove some; an assessor cannot compare that many.",
                )
        self._report_missing(missing)
        layout = self.checked.bundle.layout
        if location is None and not self._problems:
            header = ", only a header line" * (layout.candidate_format in ("csv", "tsv", "qrels"))
            problem = f"There are no candidates in this file{header}."
            self._problems.add(Location(layout.candidates), None, problem, "Add them.")
        self._no_query_without_candidates()

    def _report_missing(self, missing: dict[str, Location]) -> None:
        """Report documents that candidates name: together, if others are known and few are not."""
        known = {name: 1 for offered in self.checked.candidates.values() for name in offered}
        if len(missing) < 3 or not known or missing.keys() & self.checked.queries.keys():
            for name, location in missing.items():
                self._known(location, "document", name, self.checked.documents)
            return
        more = f" and {len(missing) - 3:,} more" if len(missing) > 3 else ""
        self._problems.add(
            next(iter(missing.values())),
            "document",
            f"{len(missing):,} of the {len(missing) + len(known):,} documents of the candidates "
            f"are missing: {', '.join(map(shown, [*missing][:3]))}{more}.",
            f"Add them, or correct the ids, which look like {shown(next(iter(known)))}; or leave "
            "these candidates out with --leave-out missing.",
        )

    def _no_query_without_candidates(self) -> None:
        if self._problems:
            return  # the missing candidates may be those that could not be read
        for query in self.checked.queries:
            if query not in self.checked.candidates:
                self._problems.add(
                    self.checked.locations[query],
                    "id",
                    f"Query {shown(query)} has no candidates.",
                    f"Add some to {self.checked.bundle.layout.candidates}, or remove the query.",
                )

    def rankings(self, found: Iterable[tuple[Location, RankingRecord]]) -> None:
        for location, ranking in found:
            key = ranking.query, ranking.system
            if key in self.checked.rankings:
                where = f" for query {shown(ranking.query)}"
                self._twice(location, "system", "ranking", ranking.system, where)
            self._known(location, "query", ranking.query, self.checked.queries)
            documents = ranking.documents[: self._sound(ranking.documents)]
            if len(documents) < len(ranking.documents):
                self.checked.cuts[key] = len(documents)
            for document, count in Counter(documents).items():
                self._known(location, "documents", document, self.checked.documents)
                if count > 1:
                    problem = f"{shown(document)} appears twice in the list."
                    self._problems.add(location, "documents", problem, "Remove one of them.")
            self.checked.rankings[key] = digest_of(documents)
        self._lists_need_rankings()

    def _sound(self, documents: Sequence[str]) -> int:
        """Return how many documents to keep: below what is shown, those before the first fault."""
        seen: set[str] = set()
        for rank, name in enumerate(documents):
            fault = name in seen or name not in self.checked.documents
            if fault and rank >= self.checked.bundle.head.settings.k:
                return rank
            seen.add(name)
        return len(documents)

    def _lists_need_rankings(self) -> None:
        head = self.checked.bundle.head
        if Tool.LISTS in head.settings.tools and not self.checked.rankings and not self._problems:
            self._problems.add(
                head.location,
                "tools",
                "The tool 'lists' compares rankings, but there are none.",
                "Add rankings.jsonl, or remove 'lists' from tools.",
            )

    def practice(self, found: Iterable[tuple[Location, PracticeRecord]]) -> None:
        for location, (name, question) in found:
            if name in self.checked.practice:
                self._twice(location, "id", "practice question", name)
            self._check_practice(location, question)
            self.checked.practice[name] = question
            if len(self.checked.practice) == MAX_QUESTIONS + 1:
                problem = f"There are more than {MAX_QUESTIONS} practice questions."
                self._problems.add(location, None, problem, "Remove some.")
        self._enough_practice()

    def _check_practice(self, location: Location, question: PracticeQuestion) -> None:
        fields = ("document",) if question.tool is Tool.GRADES else ("left", "right")
        for field_name, pages in zip(fields, (question.left, question.right), strict=False):
            for page in pages:
                self._known(location, field_name, page, self.checked.documents)
        try:
            check_question(question, self.checked.bundle.head.settings)
        except Invalid as error:
            self._problems.add(location, error.field, str(error), "")

    def _enough_practice(self) -> None:
        """Refuse a qualification that asks for more answers than there are questions."""
        head, asked = self.checked.bundle.head, len(self.checked.practice)
        needed = head.settings.training_needed or 0
        if needed > asked and not self._problems:
            self._problems.add(
                head.location,
                "training_needed",
                f"The qualification needs {needed} right answers of {asked} practice questions.",
                "Add questions to practice.jsonl, or lower training_needed.",
            )

    def gold(self, found: Iterable[tuple[Location, GoldRecord]]) -> None:
        for location, pair in found:
            if not self._known(location, "query", pair.query, self.checked.queries):
                continue
            known = [self._is_candidate(location, pair, side) for side in ("left", "right")]
            if not all(known):
                continue
            before = self.checked.gold.get(pair.key)
            if self._is_repeated("gold pairs", before and before.facts, pair.facts):
                continue
            if before is not None:
                name, where = f"{pair.left}, {pair.right}", f" for query {shown(pair.query)}"
                self._twice(location, "answer", "gold pair", name, where)
            self.checked.gold[pair.key] = pair
            self._can_be_given(location, pair)

    def _is_candidate(self, location: Location, pair: GoldRecord, side: str) -> bool:
        name, offered = getattr(pair, side), self.checked.candidates.get(pair.query, {})
        if not self._known(location, side, name, self.checked.documents):
            return False
        if name not in offered:
            self._problems.add(
                location,
                side,
                f"The document {shown(name)} is no candidate of query {shown(pair.query)}.",
                f"Add it to {self.checked.bundle.layout.candidates}, or correct the id.",
            )
        return name in offered

    def _can_be_given(self, location: Location, pair: GoldRecord) -> None:
        """Refuse a right answer that assessors cannot give."""
        settings = self.checked.bundle.head.settings
        if Tool.PAIRS not in settings.tools:
            problem = "Gold pairs are compared with answers to pairs, which the study does not ask."
            self._problems.add(location, None, problem, "Add 'pairs' to tools, or remove the file.")
        if pair.answer == "tie" and not settings.allow_ties:
            problem = "The right answer is a tie, but the study offers none."
            self._problems.add(location, "answer", problem, "Set allow_ties, or remove the pair.")

    def files(self, reader: Reader) -> None:
        """Check every file under pages/ that is not a document; pages may refer to it."""
        for path in self.checked.bundle.layout.pages:
            if path in self.checked.files or path in self.checked.document_paths:
                continue
            if len(path) > limits.MAX_PATH:
                self._problems.add(
                    Location(path[:80]),
                    None,
                    f"The path exceeds {limits.MAX_PATH:,} characters.",
                    "Shorten it.",
                )
            data = reader.content(path)
            self.checked.files[path] = content_hash(file_type(path), data)
            self.checked.bytes += len(data)

    def _is_repeated(self, kind: str, before: object, now: object) -> bool:
        """Count and skip a record that is identical to an earlier one of the same id."""
        if before is None or before != now:
            return False
        self.checked.duplicates[kind] += 1
        return True

    def _twice(self, location: Location, field: str, kind: str, name: str, where: str = "") -> None:
        self._problems.add(
            location,
            field,
            f"The {kind} {shown(name)} appears twice{where}, with different content.",
            "Keep the right one, and remove the other.",
        )

    def _known(
        self, location: Location, field: str, name: str, known: dict[str, object] | object
    ) -> bool:
        assert isinstance(known, dict)
        if name in known:
            return True
        kind, other = ("query", "document") if field == "query" else ("document", "query")
        others = self.checked.documents if field == "query" else self.checked.queries
        unknown = Kind.NO_QUERY if field == "query" else Kind.NO_DOCUMENT
        is_swapped = name in others
        swapped = f" {shown(name)} is the id of a {other}." if is_swapped else ""
        example = next(iter(known), "")
        self._problems.add(
            location,
            field,
            f"There is no {kind} {shown(name)}.{swapped}",
            f"Add the {kind}, or correct its id; the ids look like {shown(example)}.",
            Kind.SWAPPED_IDS if is_swapped else unknown,
        )
        return False
