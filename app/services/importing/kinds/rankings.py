"""Rankings of systems, for judging lists: JSON Lines, TREC runs, or tables of them."""

import math
from collections import Counter
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Query, Ranking
from topkapi.app.db.queries.studies.importing import document_numbers
from topkapi.app.domain.enums import Tool
from topkapi.app.services.importing.bundle import Bundle
from topkapi.app.services.importing.kinds.base import (
    Check,
    Digest,
    Found,
    Kind,
    Row,
    Writing,
    digest_of,
)
from topkapi.app.services.importing.problems import Location
from topkapi.app.services.importing.records.names import DOCUMENT, QUERY, Aliases
from topkapi.app.services.importing.records.shapes import shape_of
from topkapi.app.services.importing.records.tables import columns, records
from topkapi.app.services.importing.records.types import RankingRecord
from topkapi.app.services.importing.sources.reader import Reader
from topkapi.app.services.values import BadValue, identifier, kind_of, number_of, shown

Key = tuple[str, str]  # query and system
Entry = tuple[float, int, str]  # the score, negated; the rank; the document
Entries = Iterator[tuple[Location, tuple[tuple[str, str], Entry]]]
_REQUIRED = ("query", "system", "documents")
RANKING_NAMES: Aliases = {
    "query": QUERY,
    "system": ("run", "tag", "run_id"),
    "documents": ("docs", "doc_ids", "ranking"),
}
RUN_NAMES: Aliases = {
    "query": QUERY,
    "document": DOCUMENT,
    "system": RANKING_NAMES["system"],
    **dict.fromkeys(("rank", "score"), ()),
}
_COLUMNS = ("query", "document", "rank", "score", "system")


def read_rankings(reader: Reader, path: str) -> Found[RankingRecord]:
    """Return the rankings of a file; its first line decides the format."""
    shape = shape_of(reader, path, RANKING_NAMES, _REQUIRED)
    if shape.has_fields:
        return records(reader, path, shape, RANKING_NAMES, _REQUIRED, _from_object)
    return _from_run(run_entries(reader, path))


def run_entries(reader: Reader, path: str) -> Entries:
    """Return the lines of a TREC run, or of a table of one."""
    table = shape_of(reader, path, RUN_NAMES, _COLUMNS)
    if table.kind == "table":
        return records(reader, path, table, RUN_NAMES, _COLUMNS, _from_row)
    return _run_lines(reader, path)


def _from_object(record: dict[str, Any]) -> RankingRecord:
    documents = record.get("documents")
    if not isinstance(documents, list) or not documents:
        raise BadValue(
            "documents", f"This is {kind_of(documents)}.", "List document ids from best to worst."
        )
    return RankingRecord(
        identifier(record.get("query"), "query"),
        identifier(record.get("system"), "system"),
        tuple(identifier(document, "documents") for document in documents),
    )


def _from_run(entries: Entries) -> Found[RankingRecord]:
    """Yield the lists of a run, ordered by score and then rank, as evaluation programs do."""
    lists: dict[tuple[str, str], tuple[Location, list[Entry]]] = {}
    for location, (key, entry) in entries:
        lists.setdefault(key, (location, []))[1].append(entry)
    for (query, system), (location, found) in lists.items():
        yield location, RankingRecord(query, system, tuple(name for *_, name in sorted(found)))


def _run_lines(reader: Reader, path: str) -> Entries:
    for location, line in reader.lines(path):
        try:
            query, _, document, rank, score, system = columns(
                line, 6, "query, Q0, document, rank, score, system"
            )
            yield location, _entry(query, document, rank, score, system)
        except BadValue as error:
            reader.problems.add_value(location, error)


def _from_row(record: dict[str, Any]) -> tuple[tuple[str, str], Entry]:
    values = (record.get(name) for name in ("query", "document", "rank", "score", "system"))
    return _entry(*("" if value is None else str(value) for value in values))


def _entry(
    query: str, document: str, rank: str, score: str, system: str
) -> tuple[tuple[str, str], Entry]:
    key = identifier(query, "query"), identifier(system, "system")
    return key, (-score_of(score, "score"), _rank(rank), identifier(document, "document"))


def score_of(text: object, field: str) -> float:
    """Return the score that a text or number is, or refuse it."""
    try:
        score = number_of(str(text))
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise BadValue(field, f"{shown(text)} is not a score.", "Use a finite number.")
    return score


def _rank(text: str) -> int:
    try:
        number_of(text)
        return int(text)
    except ValueError:
        raise BadValue("rank", f"{shown(text)} is not a rank.", "Use a whole number.") from None


class RankingKind(Kind[Key, Digest, RankingRecord]):
    """Rankings of all systems, file by file."""

    role = many = "rankings"
    one = "ranking"
    names = frozenset({"rankings"})
    folder = "rankings/"
    fields = RANKING_NAMES
    id_field = "system"
    staged, merges = True, False
    model, record_type = Ranking, RankingRecord
    key = staticmethod(attrgetter("query", "system"))

    def read(self, bundle: Bundle, reader: Reader) -> Found[RankingRecord]:
        for path in bundle.layout.files.get(self.role, ()):
            for location, ranking in read_rankings(reader, path):
                if bundle.has_query(ranking.query):
                    yield location, ranking

    def kept(self, record: RankingRecord) -> Digest:
        return digest_of(record.documents)

    def take(
        self, check: Check, found: dict[Key, Digest], location: Location, record: RankingRecord
    ) -> None:
        """Cut a list below what is shown, before its first fault."""
        documents = record.documents[: _sound(check, record.documents)]
        if len(documents) < len(record.documents):
            check.checked.cuts[self.key(record)] = len(documents)
        super().take(check, found, location, record._replace(documents=documents))

    def is_sound(self, check: Check, location: Location, record: RankingRecord) -> bool:
        check.known(location, "query", record.query)
        for document, count in Counter(record.documents).items():
            check.known(location, "documents", document)
            if count > 1:
                problem = f"{shown(document)} appears twice in the list."
                check.problems.add(location, "documents", problem, "Remove one of them.")
        return True

    def title(self, key: Key) -> str:
        return f"ranking of {key[1]!r} for query {key[0]!r}"

    def finish(self, check: Check) -> None:
        head = check.checked.bundle.head
        if Tool.LISTS in head.settings.tools and not check.checked[self] and not check.problems:
            check.problems.add(
                head.location,
                "tools",
                "The tool 'lists' compares rankings, but there are none.",
                "Add rankings.jsonl, or remove 'lists' from tools.",
            )

    def stored(self, session: Session, study_id: int) -> dict[Key, Digest]:
        names = {number: name for name, number in document_numbers(session, study_id).items()}
        facts = select(Query.external_id, Ranking.system, Ranking.documents).join(Query)
        found = session.execute(facts.where(Query.study_id == study_id))
        return {
            (query, system): digest_of([names[number] for number in numbers])
            for query, system, numbers in found
        }

    def row(self, write: Writing, record: RankingRecord) -> Row:
        documents = record.documents[: write.checked.cuts.get(self.key(record))]
        return {
            "query_id": write.queries[record.query],
            "system": record.system,
            "documents": [write.documents[name] for name in documents],
        }


def _sound(check: Check, documents: tuple[str, ...]) -> int:
    """Return how many documents to keep: below what is shown, those before the first fault."""
    seen: set[str] = set()
    known = check.checked.found["documents"]
    for rank, name in enumerate(documents):
        fault = name in seen or name not in known
        if fault and rank >= check.checked.bundle.head.settings.k:
            return rank
        seen.add(name)
    return len(documents)


RANKINGS = RankingKind()
