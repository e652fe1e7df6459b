"""The part of a collection that becomes a study: some queries, and the candidates of each.

A collection has more queries than were judged and more documents than are candidates. What nobody
would judge is left out.
"""

from collections.abc import Iterator

from topkapi.app.services.importing.bundle import Bundle, Part
from topkapi.app.services.importing.options import ReadOptions
from topkapi.app.services.importing.problems import counted
from topkapi.app.services.importing.sources.reader import Reader


def select_part(bundle: Bundle, reader: Reader, options: ReadOptions) -> Part | None:
    """Return the part to import; None if no query has candidates, which the check reports."""
    quiet = reader.quiet()
    asked = list(dict.fromkeys(query.id for _, query in bundle.queries(quiet)))
    offered: dict[str, dict[str, None]] = {}
    known, unknown = set(asked), 0
    for _, candidate in bundle.candidates(quiet):
        unknown += candidate.query not in known
        found = offered.setdefault(candidate.query, {})
        if options.candidates is None or len(found) < options.candidates:
            found[candidate.document] = None
    judged = [query for query in asked if query in offered]
    taken = {query: frozenset(offered[query]) for query in judged[: options.queries]}
    if not taken:
        return None
    practised = (question.pages for _, (_, question) in bundle.practice(quiet))
    wanted = frozenset().union(*taken.values(), *_ranked(bundle, quiet, taken), *practised)
    return Part(taken, wanted, len(asked), len(judged), unknown)


def part_notes(part: Part) -> Iterator[str]:
    """Yield what was taken and left out, as sentences."""
    taken = len(part.candidates)
    if taken < part.judged:
        yield f"{taken:,} of {part.judged:,} queries with candidates were taken, in file order"
    if part.judged < part.asked:
        left = counted(part.asked - part.judged, "query", "queries")
        yield f"{left} without candidates left out"
    if part.unknown:
        left = counted(part.unknown, "candidate line")
        yield f"{left} of queries that are not among the queries left out"
    yield "documents that are candidates of no query and of no practice question were left out"


def _ranked(
    bundle: Bundle, quiet: Reader, taken: dict[str, frozenset[str]]
) -> Iterator[tuple[str, ...]]:
    for _, ranking in bundle.rankings(quiet):
        if ranking.query in taken:
            yield ranking.documents
