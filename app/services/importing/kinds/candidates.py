"""Candidates: records with named fields, a TREC run, TREC qrels, or LETOR lines."""

import re
from collections import Counter
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, Candidate, CrowdWorker, Document, Query
from topkapi.app.services.fence import limits
from topkapi.app.services.importing.bundle import Bundle, CandidateFormat, Layout
from topkapi.app.services.importing.kinds.base import (
    Check,
    Digest,
    Found,
    Kind,
    Row,
    StoredComparison,
    Writing,
    digest_of,
)
from topkapi.app.services.importing.kinds.prior import PRIOR, prior_scores, with_score
from topkapi.app.services.importing.kinds.rankings import read_rankings, score_of
from topkapi.app.services.importing.problems import Location
from topkapi.app.services.importing.records import letor
from topkapi.app.services.importing.records.names import DOCUMENT, QUERY, Aliases, is_header
from topkapi.app.services.importing.records.shapes import shape_of
from topkapi.app.services.importing.records.smart import smart_id
from topkapi.app.services.importing.records.tables import columns, records
from topkapi.app.services.importing.records.types import CandidateRecord
from topkapi.app.services.importing.sources.reader import Reader
from topkapi.app.services.values import BadValue, Features, features, grade, identifier, shown

Key = tuple[str, str]  # query and document
_REQUIRED = ("query", "document")
CANDIDATE_NAMES: Aliases = {
    "query": QUERY,
    "document": DOCUMENT,
    "grade": ("relevance", "rel", "label", "judgment"),
    "score": (),
    "features": (),
    PRIOR: (),
}
_LISTED = re.compile(r"[0-9]+ 0*[1-9][0-9]* 0 0(\.0+)?")  # query, document, and nothing else
_BY_COLUMNS: dict[int, CandidateFormat] = {3: "qrels", 4: "qrels", 6: "run"}


def candidate_format(reader: Reader, path: str) -> CandidateFormat | None:
    """Return the format of a file, detected from its first line, or None if unknown."""
    shape = shape_of(reader, path, CANDIDATE_NAMES, _REQUIRED)
    if shape.kind == "table":
        return "tsv" if shape.delimiter == "\t" else "csv"
    if shape.kind != "lines":
        return shape.kind
    line = reader.first_line(path)
    if letor.looks_like_letor(line) or letor.group_file(reader, path):
        return "letor"
    cells = line.split()
    header = is_header(cells, CANDIDATE_NAMES, _REQUIRED)
    looks_like_qrels = len(cells) != 3 or _is_number(cells[2]) or header
    return _BY_COLUMNS.get(len(cells)) if looks_like_qrels else None


def read_candidates(
    reader: Reader, paths: Sequence[str], format: CandidateFormat, *, as_cards: bool = False
) -> Found[CandidateRecord]:
    """Return the candidates of a file, or of several LETOR files."""
    path = paths[0]
    if format == "letor":
        return letor.read_candidates(reader, paths, as_cards=as_cards)
    if format in ("qrels", "run"):
        return _columns(reader, path, format)
    shape = shape_of(reader, path, CANDIDATE_NAMES, _REQUIRED)
    return records(reader, path, shape, CANDIDATE_NAMES, _REQUIRED, _from_object)


def _from_object(record: dict[str, Any]) -> CandidateRecord:
    return CandidateRecord(
        identifier(record.get("query"), "query"),
        identifier(record.get("document"), "document"),
        _known_grade(record),
        _features(record),
    )


def _features(record: dict[str, Any]) -> Features | None:
    """Return the features; the field `prior` is one of them."""
    found, score = features(record.get("features"), "features"), record.get(PRIOR)
    return found if score in (None, "") else {**(found or {}), PRIOR: score_of(score, PRIOR)}


def _known_grade(record: dict[str, Any]) -> int | None:
    """Return the grade; without one a score counts that is a whole number, as in BEIR."""
    known, score = record.get("grade"), record.get("score")
    whole = known is not None or (score is not None and _is_number(str(score).removesuffix(".0")))
    return grade(score if known is None else known, "grade") if whole else None


def _is_number(text: str) -> bool:
    return text.lstrip("-+").isdigit()


def _columns(reader: Reader, path: str, format: CandidateFormat) -> Found[CandidateRecord]:
    for location, line in reader.lines(path):
        if location.line == 1 and is_header(line.split(), CANDIDATE_NAMES, _REQUIRED):
            continue
        try:
            yield location, _from_qrels(line) if format == "qrels" else _from_run(line)
        except BadValue as error:
            reader.problems.add_value(location, error)


def _from_qrels(line: str) -> CandidateRecord:
    cells = line.split()
    if len(cells) == 3:
        cells.insert(1, "0")
    if _LISTED.fullmatch(" ".join(cells)):  # CACM and CISI list what is relevant
        cells = [smart_id(cells[0]), "0", cells[1], "1"]
    query, _, document, known = columns(" ".join(cells), 4, "query, 0, document, grade")
    return CandidateRecord(
        identifier(query, "query"), identifier(document, "document"), grade(known, "grade")
    )


def _from_run(line: str) -> CandidateRecord:
    query, _, document, *_rest = columns(line, 6, "query, Q0, document, rank, score, system")
    return CandidateRecord(identifier(query, "query"), identifier(document, "document"))


class CandidateKind(Kind[Key, Digest, CandidateRecord]):
    """Candidates: the pages to judge for a query, in file order or from a pool of runs."""

    role = many = "candidates"
    one = "candidate"
    names = frozenset({"candidates", "qrels", "run", "letor"})
    words = names | {"qrel"}
    fields = CANDIDATE_NAMES
    id_field = "document"
    staged = True
    model, record_type = Candidate, CandidateRecord
    key = staticmethod(attrgetter("query", "document"))

    def read(self, bundle: Bundle, reader: Reader) -> Found[CandidateRecord]:
        layout = bundle.layout
        every = _pooled(layout, reader) if layout.pool else _rows(layout, reader)
        scores = prior_scores(layout, reader)
        return (
            (location, with_score(record, scores))
            for location, record in every
            if bundle.offers(record.query, record.document)
        )

    def read_from(self, layout: Layout) -> str:
        if layout.pool:
            return f"the first {layout.pool} of {', '.join(layout.runs)}"
        return f"{', '.join(layout.rows)} ({layout.candidate_format})"

    def kept(self, record: CandidateRecord) -> Digest:
        return _digest(record.grade, record.features)

    def is_sound(self, check: Check, location: Location, record: CandidateRecord) -> bool:
        if not check.known(location, "query", record.query):
            return False
        if record.document not in check.checked.found["documents"]:
            check.checked.missing.setdefault(record.document, location)
            return False
        return True

    def title(self, key: Key) -> str:
        return f"candidate {key[1]!r} of query {key[0]!r}"

    def on_kept(self, check: Check, location: Location, record: CandidateRecord) -> None:
        counts = check.checked.candidates_of
        counts[record.query] += 1
        if counts[record.query] == limits.MAX_CANDIDATES + 1:
            check.problems.add(
                location,
                "query",
                f"Query {shown(record.query)} has more than {limits.MAX_CANDIDATES:,} candidates.",
                "Remove some; an assessor cannot compare that many.",
            )

    def finish(self, check: Check) -> None:
        _report_missing(check, dict.fromkeys(document for _, document in check.checked[self]))
        layout = check.checked.bundle.layout
        if not check.checked[self] and not check.problems:
            header = ", only a header line" * (layout.candidate_format in ("csv", "tsv", "qrels"))
            problem = f"There are no candidates in this file{header}."
            check.problems.add(Location(layout.rows[0]), None, problem, "Add them.")
        if not check.problems:  # else the missing candidates may be those that could not be read
            _no_query_without_candidates(check)

    def stored(self, session: Session, study_id: int) -> dict[Key, Digest]:
        statement = (
            select(Query.external_id, Document.external_id, Candidate.grade, Candidate.features)
            .join(Query, Query.id == Candidate.query_id)
            .join(Document, Document.id == Candidate.document_id)
            .where(Query.study_id == study_id)
            .execution_options(yield_per=2000)
        )
        facts = session.execute(statement)
        return {(query, name): _digest(known, found) for query, name, known, found in facts}

    def added(self, compare: StoredComparison) -> frozenset[Key]:
        """Return the new candidates; a query that a crowd judges gets none."""
        added = super().added(compare)
        new = Counter(query for query, _ in added)
        for query in new.keys() & _crowd_queries(compare.session, compare.study.id):
            compare.problems.add(
                Location(compare.checked.bundle.layout.rows[0]),
                "document",
                f"People joined through an entry link to judge query {shown(query)}; {new[query]} "
                "new candidates cannot be added, because they do not return.",
                "All assessors of a query judge the same pages: add a new query instead.",
            )
        return added

    def row(self, write: Writing, record: CandidateRecord) -> Row:
        query = write.queries[record.query]
        write.candidate_counts[query] += 1
        return {
            "query_id": query,
            "document_id": write.documents[record.document],
            "position": write.candidate_counts[query] - 1,
            "grade": record.grade,
            "features": record.features,
        }


def _rows(layout: Layout, reader: Reader) -> Found[CandidateRecord]:
    # Cards were read from the same lines, so their problems have been reported.
    reporting = reader.quiet() if layout.as_cards else reader
    return read_candidates(
        reporting, layout.rows, layout.candidate_format, as_cards=layout.as_cards
    )


def _pooled(layout: Layout, reader: Reader) -> Found[CandidateRecord]:
    """Yield the first documents of each run, with what the candidates file knows of them."""
    rows = _rows(layout, reader) if layout.rows[0] not in layout.runs else iter(())
    known = {found[:2]: found for _, found in rows}
    pools: dict[str, tuple[Location, list[tuple[int, int, str]]]] = {}
    for number, path in enumerate(layout.runs):
        for location, ranking in read_rankings(reader, path):
            pool = pools.setdefault(ranking.query, (location, []))[1]
            first = enumerate(ranking.documents[: layout.pool])
            pool += [(rank, number, document) for rank, document in first]
    for query, (location, pool) in pools.items():
        for document in dict.fromkeys(document for *_, document in sorted(pool)):
            new = CandidateRecord(query, document)
            yield location, known.get((query, document), new)


def _digest(grade: int | None, features: dict[str, float] | None) -> Digest:
    """Return the digest of what is known about a candidate."""
    values = features and {name: float(value) for name, value in features.items()}
    return digest_of(grade, values)


def _report_missing(check: Check, known: dict[str, None]) -> None:
    """Report documents that candidates name: together, if others are known and few are not."""
    missing = check.checked.missing
    if check.has_faults("documents"):
        return
    if len(missing) < 3 or not known or missing.keys() & check.checked.found["queries"].keys():
        hint = "; or leave these candidates out with --leave-out missing" if known else ""
        for name, location in missing.items():
            check.known(location, "document", name, hint)
        return
    more = f" and {len(missing) - 3:,} more" if len(missing) > 3 else ""
    check.problems.add(
        next(iter(missing.values())),
        "document",
        f"{len(missing):,} of the {len(missing) + len(known):,} documents of the candidates "
        f"are missing: {', '.join(map(shown, [*missing][:3]))}{more}.",
        f"Add them, or correct the ids, which look like {shown(next(iter(known)))}; or leave "
        "these candidates out with --leave-out missing.",
    )


def _no_query_without_candidates(check: Check) -> None:
    for query, location in check.checked.locations.items():
        if query not in check.checked.candidates_of:
            check.problems.add(
                location,
                "id",
                f"Query {shown(query)} has no candidates.",
                f"Add some to {check.checked.bundle.layout.rows[0]}, or remove the query.",
            )


CANDIDATES = CandidateKind()


def _crowd_queries(session: Session, study_id: int) -> frozenset[str]:
    """Return queries assigned to people who came through an entry link."""
    statement = (
        select(Query.external_id)
        .join(Assignment, Assignment.query_id == Query.id)
        .join(CrowdWorker, CrowdWorker.user_id == Assignment.user_id)
        .where(Query.study_id == study_id, Assignment.withdrawn_at.is_(None))
    )
    return frozenset(session.scalars(statement))
