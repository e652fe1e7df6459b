"""A study in its files: where each kind of record is read from, as often as one wants to."""

from collections.abc import Iterator
from dataclasses import dataclass

from topkapi.app.services.importing.layout import Layout, find_layout, single_layout
from topkapi.app.services.importing.problems import Place
from topkapi.app.services.importing.records import candidates, documents, letor, queries, rankings
from topkapi.app.services.importing.records.types import (
    CandidateRecord,
    DocumentRecord,
    QueryRecord,
    RankingRecord,
)
from topkapi.app.services.importing.settings import StudyHead, head_of_file, read_head
from topkapi.app.services.importing.sources.reader import Reader


@dataclass(frozen=True, slots=True)
class Bundle:
    """The head of a study and the places of its records."""

    head: StudyHead
    layout: Layout

    def queries(self, reader: Reader) -> Iterator[tuple[Place, QueryRecord]]:
        """The queries: those of their file, or the ids in a LETOR file."""
        if self.layout.queries is not None:
            yield from queries.read_queries(reader, self.layout.queries)
            return
        last = None
        for place, row in letor.read_rows(
            reader.quiet(), self.layout.candidates, name_rows=self.layout.as_cards
        ):
            if row.query != last:
                last = row.query
                yield place, QueryRecord(row.query, f"Query {row.query}")

    def documents(self, reader: Reader) -> Iterator[tuple[Place, DocumentRecord]]:
        """The documents: those of their file, the pages, or cards of features."""
        if self.layout.documents is not None:
            return documents.read_documents(reader, self.layout.documents)
        if self.layout.pages:
            return documents.read_pages(reader)
        return letor.read_cards(reader, self.layout.candidates)

    def candidates(self, reader: Reader) -> Iterator[tuple[Place, CandidateRecord]]:
        """The candidates in the order of their file."""
        layout = self.layout
        heard = reader.quiet() if layout.as_cards else reader  # cards were read from the same lines
        return candidates.read_candidates(
            heard, layout.candidates, layout.candidate_format, as_cards=layout.as_cards
        )

    def rankings(self, reader: Reader) -> Iterator[tuple[Place, RankingRecord]]:
        """The lists of systems, file by file."""
        for path in self.layout.rankings:
            yield from rankings.read_rankings(reader, path)


def find_bundle(reader: Reader) -> Bundle | None:
    """What the source holds, or None and problems."""
    if reader.source.single:
        layout = single_layout(reader)
        return Bundle(head_of_file(reader.source.name), layout) if layout else None
    head = read_head(reader)
    named = head.files if head else {}
    layout = find_layout(reader, named, head.place if head else Place(reader.source.name))
    return Bundle(head, layout) if head and layout else None
