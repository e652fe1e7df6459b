"""The files of a study: where each kind of record is read from. Records can be read repeatedly."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from topkapi.app.services.importing.layout import Layout, find_layout, single_layout
from topkapi.app.services.importing.options import WHOLE, ReadOptions
from topkapi.app.services.importing.problems import Location
from topkapi.app.services.importing.records import (
    candidates,
    documents,
    letor,
    practice,
    queries,
    rankings,
)
from topkapi.app.services.importing.records.types import (
    CandidateRecord,
    DocumentRecord,
    GoldRecord,
    PracticeRecord,
    QueryRecord,
    RankingRecord,
)
from topkapi.app.services.importing.settings import (
    ImportedHead,
    head_of_file,
    read_head,
    under_name,
)
from topkapi.app.services.importing.sources.reader import Reader


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

    def queries(self, reader: Reader) -> Iterator[tuple[Location, QueryRecord]]:
        """Yield the queries of their own file, or else the query ids of the LETOR file."""
        for location, query in self._queries(reader):
            if self.part is None or query.id in self.part.candidates:
                yield location, query

    def _queries(self, reader: Reader) -> Iterator[tuple[Location, QueryRecord]]:
        if self.layout.queries is not None:
            yield from queries.read_queries(reader, self.layout.queries)
            return
        last = None
        for location, row in letor.read_rows(
            reader.quiet(), self.layout.rows, name_rows=self.layout.as_cards, ids_only=True
        ):
            if row.query != last:
                last = row.query
                yield location, QueryRecord(row.query, f"Query {row.query}")

    def documents(self, reader: Reader) -> Iterator[tuple[Location, DocumentRecord]]:
        """Return the documents: from their own file, from pages/, or as feature cards."""
        wanted = None if self.part is None else self.part.documents
        if self.layout.documents is not None:
            return documents.read_documents(reader, self.layout.documents, wanted)
        if self.layout.pages:
            return documents.read_pages(reader, wanted)
        cards = letor.read_cards(reader, self.layout.rows)
        return ((at, card) for at, card in cards if wanted is None or card.id in wanted)

    def candidates(self, reader: Reader) -> Iterator[tuple[Location, CandidateRecord]]:
        """Yield the candidates in file order, or those of the pool by their best rank."""
        for location, candidate in self._pooled(reader) if self.layout.pool else self._rows(reader):
            offered = None if self.part is None else self.part.candidates.get(candidate.query, ())
            if offered is None or candidate.document in offered:
                yield location, candidate

    def _rows(self, reader: Reader) -> Iterator[tuple[Location, CandidateRecord]]:
        layout = self.layout
        # Cards were read from the same lines, so their problems have been reported.
        reporting = reader.quiet() if layout.as_cards else reader
        return candidates.read_candidates(
            reporting, layout.rows, layout.candidate_format, as_cards=layout.as_cards
        )

    def _pooled(self, reader: Reader) -> Iterator[tuple[Location, CandidateRecord]]:
        """Yield the first documents of each run, with what the candidates file knows of them."""
        layout = self.layout
        rows = self._rows(reader) if layout.candidates not in layout.runs else iter(())
        known = {(found.query, found.document): found for _, found in rows}
        pools: dict[str, tuple[Location, list[tuple[int, int, str]]]] = {}
        for number, path in enumerate(layout.runs):
            for location, ranking in rankings.read_rankings(reader, path):
                pool = pools.setdefault(ranking.query, (location, []))[1]
                first = enumerate(ranking.documents[: layout.pool])
                pool += [(rank, number, document) for rank, document in first]
        for query, (location, pool) in pools.items():
            for document in dict.fromkeys(document for *_, document in sorted(pool)):
                new = CandidateRecord(query, document)
                yield location, known.get((query, document), new)

    def rankings(self, reader: Reader) -> Iterator[tuple[Location, RankingRecord]]:
        """Yield the rankings of all systems, file by file."""
        for path in self.layout.rankings:
            for location, ranking in rankings.read_rankings(reader, path):
                if self.part is None or ranking.query in self.part.candidates:
                    yield location, ranking

    def practice(self, reader: Reader) -> Iterator[tuple[Location, PracticeRecord]]:
        """Yield the practice questions, if there are any."""
        if self.layout.practice is not None:
            yield from practice.read_practice(reader, self.layout.practice)

    def gold(self, reader: Reader) -> Iterator[tuple[Location, GoldRecord]]:
        """Yield the gold pairs, if there are any."""
        if self.layout.gold is None:
            return
        for location, pair in practice.read_gold(reader, self.layout.gold):
            known = None if self.part is None else self.part.candidates.get(pair.query, ())
            if known is None or {pair.left, pair.right} <= set(known):
                yield location, pair


def find_bundle(reader: Reader, options: ReadOptions = WHOLE) -> Bundle | None:
    """Find the files of the study; return None and add problems if some are missing."""
    bundle = _find(reader, options)
    if bundle is None:
        return None
    head = under_name(bundle.head, options.name, options.slug, reader.problems)
    return replace(bundle, head=head)


def _find(reader: Reader, options: ReadOptions) -> Bundle | None:
    if reader.source.single:
        layout = single_layout(reader)
        return Bundle(head_of_file(reader.source.name), layout) if layout else None
    head = read_head(reader)
    if head is None:  # its [files] may name what would seem to be missing
        return None
    layout = find_layout(reader, head.files, head.location, options)
    return Bundle(head, layout) if layout else None
