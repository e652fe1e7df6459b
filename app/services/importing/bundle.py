"""The files of a study: where each kind of record is read from. Records can be read repeatedly."""

from collections.abc import Iterator
from dataclasses import dataclass

from topkapi.app.services.importing.layout import Layout, find_layout, single_layout
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
    PracticeRecord,
    QueryRecord,
    RankingRecord,
)
from topkapi.app.services.importing.settings import StudyHead, head_of_file, read_head
from topkapi.app.services.importing.sources.reader import Reader


@dataclass(frozen=True, slots=True)
class Bundle:
    """The settings of a study and the files that hold its records."""

    head: StudyHead
    layout: Layout

    def queries(self, reader: Reader) -> Iterator[tuple[Location, QueryRecord]]:
        """Yield the queries of their own file, or else the query ids of the LETOR file."""
        if self.layout.queries is not None:
            yield from queries.read_queries(reader, self.layout.queries)
            return
        last = None
        for location, row in letor.read_rows(
            reader.quiet(), self.layout.candidates, name_rows=self.layout.as_cards
        ):
            if row.query != last:
                last = row.query
                yield location, QueryRecord(row.query, f"Query {row.query}")

    def documents(self, reader: Reader) -> Iterator[tuple[Location, DocumentRecord]]:
        """Return the documents: from their own file, from pages/, or as feature cards."""
        if self.layout.documents is not None:
            return documents.read_documents(reader, self.layout.documents)
        if self.layout.pages:
            return documents.read_pages(reader)
        return letor.read_cards(reader, self.layout.candidates)

    def candidates(self, reader: Reader) -> Iterator[tuple[Location, CandidateRecord]]:
        """Return the candidates in file order."""
        layout = self.layout
        # Cards were read from the same lines, so their problems have been reported.
        reporting = reader.quiet() if layout.as_cards else reader
        return candidates.read_candidates(
            reporting, layout.candidates, layout.candidate_format, as_cards=layout.as_cards
        )

    def rankings(self, reader: Reader) -> Iterator[tuple[Location, RankingRecord]]:
        """Yield the rankings of all systems, file by file."""
        for path in self.layout.rankings:
            yield from rankings.read_rankings(reader, path)

    def practice(self, reader: Reader) -> Iterator[tuple[Location, PracticeRecord]]:
        """Yield the practice questions, if there are any."""
        if self.layout.practice is not None:
            yield from practice.read_practice(reader, self.layout.practice)


def find_bundle(reader: Reader) -> Bundle | None:
    """Find the files of the study; return None and add problems if some are missing."""
    if reader.source.single:
        layout = single_layout(reader)
        return Bundle(head_of_file(reader.source.name), layout) if layout else None
    head = read_head(reader)
    named = head.files if head else {}
    layout = find_layout(reader, named, head.location if head else Location(reader.source.name))
    return Bundle(head, layout) if head and layout else None
