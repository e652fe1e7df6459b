"""The part of a collection that becomes a study: some queries, and the candidates of each.

A collection has more queries than were judged and more documents than are candidates. What nobody
would judge is left out.
"""

from collections.abc import Iterator
from dataclasses import replace

from topkapi.app.services.importing.bundle import Bundle, Part
from topkapi.app.services.importing.options import ReadOptions
from topkapi.app.services.importing.problems import counted
from topkapi.app.services.importing.sources.reader import Reader


def select_part(bundle: Bundle, reader: Reader, options: ReadOptions) -> Part | None:
    """Return the part to import; None if no query has candidates, which the check reports."""
    quiet = reader.quiet()
    asked = list(dict.fromkeys(query.id for _, query in bundle.queries(quiet)))
    offered: dict[str, dict[str, None]] = {}
    known, unknown, left_out = set(asked), 0, set[tuple[str, str]]()
    readable = _readable(bundle, reader) if options.leave_out else None
    for _, candidate in bundle.candidates(quiet):
        if candidate.query not in known:
            unknown += 1
        elif readable is not None and candidate.document not in readable:
            left_out.add((candidate.query, candidate.document))
            continue
        found = offered.setdefault(candidate.query, {})
        if options.candidates is None or len(found) < options.candidates:
            found[candidate.document] = None
    judged = [query for query in asked if query in offered]
    taken = {query: frozenset(offered[query]) for query in judged[: options.queries]}
    if not taken:
        return None
    practised = (question.pages for _, (_, question) in bundle.practice(quiet))
    wanted = frozenset().union(*taken.values(), *_ranked(bundle, quiet, taken), *practised)
    return Part(taken, wanted, len(asked), len(judged), unknown, len(left_out))


def _readable(bundle: Bundle, reader: Reader) -> set[str]:
    """Return the ids of candidates whose documents have content; other faults are problems."""
    named = frozenset(candidate.document for _, candidate in bundle.candidates(reader.quiet()))
    found = replace(bundle, part=Part({}, named, 0, 0, 0)).documents(reader)
    return {document.id for _, document in found if document.data}


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
    if part.left_out:
        left = counted(part.left_out, "candidate")
        yield f"{left} left out: their documents are missing or empty"
    yield "documents that are candidates of no query and of no practice question were left out"


def _ranked(
    bundle: Bundle, quiet: Reader, taken: dict[str, frozenset[str]]
) -> Iterator[tuple[str, ...]]:
    for _, ranking in bundle.rankings(quiet):
        if ranking.query in taken:
            yield ranking.documents[: bundle.head.settings.k]
