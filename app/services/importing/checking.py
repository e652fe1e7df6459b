"""The first pass over a study: check everything, keep little.

Documents are not held in memory: only a digest of each is kept, to compare with the second pass and
with a study that was imported before.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from topkapi.app.services.importing.bundle import WHOLE, Bundle, Part, ReadOptions
from topkapi.app.services.importing.diagnosing import causes_of
from topkapi.app.services.importing.kinds import KINDS
from topkapi.app.services.importing.kinds.base import Check, Checked
from topkapi.app.services.importing.kinds.candidates import CANDIDATES
from topkapi.app.services.importing.kinds.documents import DOCUMENTS
from topkapi.app.services.importing.kinds.practice import PRACTICE
from topkapi.app.services.importing.kinds.queries import QUERIES
from topkapi.app.services.importing.kinds.rankings import RANKINGS
from topkapi.app.services.importing.layout.finding import find_bundle
from topkapi.app.services.importing.problems import Problems, StudyRefused, counted
from topkapi.app.services.importing.sources.folders import Source
from topkapi.app.services.importing.sources.reader import Progress, Reader, no_progress


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
    with checked.counting():
        for kind in KINDS:
            kind.check(Check(checked, reader, reader_of_documents))
        problems.refuse_if_any()
    checked.unread = reader.unread
    return checked


def select_part(bundle: Bundle, reader: Reader, options: ReadOptions) -> Part | None:
    """Return the part to import; None if no query has candidates, which the check reports."""
    quiet = reader.quiet()
    asked = list(dict.fromkeys(query.id for _, query in QUERIES.read(bundle, quiet)))
    offered: dict[str, dict[str, None]] = {}
    known, unknown, left_out = set(asked), 0, set[tuple[str, str]]()
    readable = _readable(bundle, reader) if options.leave_out else None
    for _, candidate in CANDIDATES.read(bundle, quiet):
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
    practised = (question.pages for _, (_, question) in PRACTICE.read(bundle, quiet))
    wanted = frozenset().union(*taken.values(), *_ranked(bundle, quiet, taken), *practised)
    return Part(taken, wanted, len(asked), len(judged), unknown, len(left_out))


def _readable(bundle: Bundle, reader: Reader) -> set[str]:
    """Return the ids of candidates whose documents have content; other faults are problems."""
    named = frozenset(
        candidate.document for _, candidate in CANDIDATES.read(bundle, reader.quiet())
    )
    found = DOCUMENTS.read(replace(bundle, part=Part({}, named, 0, 0, 0)), reader)
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
    yield "only documents that a query or practice question uses were taken"


def _ranked(
    bundle: Bundle, quiet: Reader, taken: dict[str, frozenset[str]]
) -> Iterator[tuple[str, ...]]:
    for _, ranking in RANKINGS.read(bundle, quiet):
        if ranking.query in taken:
            yield ranking.documents[: bundle.head.settings.k]
