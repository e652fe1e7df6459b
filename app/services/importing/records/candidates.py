"""Candidates: records with named fields, a TREC run, TREC qrels, or LETOR lines."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from topkapi.app.services.importing.problems import BadValue, Location
from topkapi.app.services.importing.records import letor
from topkapi.app.services.importing.records.names import CANDIDATE_NAMES, is_header
from topkapi.app.services.importing.records.shapes import shape_of
from topkapi.app.services.importing.records.tables import records
from topkapi.app.services.importing.records.types import CandidateRecord
from topkapi.app.services.importing.records.values import features, grade, identifier
from topkapi.app.services.importing.sources.reader import Reader

Candidates = Iterator[tuple[Location, CandidateRecord]]
CandidateFormat = Literal["csv", "json", "jsonl", "letor", "parquet", "qrels", "run", "tsv"]
_REQUIRED = ("query", "document")
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
) -> Candidates:
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
        features(record.get("features"), "features"),
    )


def _known_grade(record: dict[str, Any]) -> int | None:
    """Return the grade; without one a score counts that is a whole number, as in BEIR."""
    known, score = record.get("grade"), record.get("score")
    whole = known is not None or (score is not None and _is_number(str(score).removesuffix(".0")))
    return grade(score if known is None else known, "grade") if whole else None


def _is_number(text: str) -> bool:
    return text.lstrip("-+").isdigit()


def _columns(reader: Reader, path: str, format: CandidateFormat) -> Candidates:
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
    query, _, document, known = columns(" ".join(cells), 4, "query, 0, document, grade")
    return CandidateRecord(
        identifier(query, "query"), identifier(document, "document"), grade(known, "grade")
    )


def _from_run(line: str) -> CandidateRecord:
    query, _, document, *_rest = columns(line, 6, "query, Q0, document, rank, score, system")
    return CandidateRecord(identifier(query, "query"), identifier(document, "document"))


def columns(line: str, count: int, meaning: str) -> list[str]:
    """Split a line into ``count`` columns; raise BadValue if it has another number."""
    found = line.split()
    if len(found) != count:
        raise BadValue(
            "columns", f"The line has {len(found)} columns, not {count}.", f"Write {meaning}."
        )
    return found
