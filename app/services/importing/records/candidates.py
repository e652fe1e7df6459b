"""Candidates: JSON Lines, a TREC run, TREC qrels, or LETOR lines."""

from collections.abc import Iterator
from typing import Any, Literal

from topkapi.app.services.importing.problems import Location
from topkapi.app.services.importing.records import letor
from topkapi.app.services.importing.records.jsonl import records
from topkapi.app.services.importing.records.types import CandidateRecord
from topkapi.app.services.importing.records.values import (
    BadValue,
    features,
    grade,
    identifier,
    written_grade,
)
from topkapi.app.services.importing.sources.reader import Reader

Candidates = Iterator[tuple[Location, CandidateRecord]]
CandidateFormat = Literal["jsonl", "letor", "qrels", "run"]
_KNOWN = frozenset({"query", "document", "grade", "features"})


def candidate_format(reader: Reader, path: str) -> CandidateFormat | None:
    """Return the format of a file, detected from its first line, or None if unknown."""
    line = reader.first_line(path)
    if line.startswith("{"):
        return "jsonl"
    if letor.looks_like_letor(line):
        return "letor"
    by_columns: dict[int, CandidateFormat] = {4: "qrels", 6: "run"}
    return by_columns.get(len(line.split()))


def read_candidates(
    reader: Reader, path: str, format: CandidateFormat, *, as_cards: bool = False
) -> Candidates:
    """Return the candidates of a file."""
    if format == "jsonl":
        return records(reader, path, _KNOWN, _from_object)
    if format == "letor":
        return letor.read_candidates(reader, path, as_cards=as_cards)
    return _columns(reader, path, format)


def _from_object(record: dict[str, Any]) -> CandidateRecord:
    return CandidateRecord(
        identifier(record.get("query"), "query"),
        identifier(record.get("document"), "document"),
        grade(record.get("grade"), "grade"),
        features(record.get("features"), "features"),
    )


def _columns(reader: Reader, path: str, format: CandidateFormat) -> Candidates:
    for location, line in reader.lines(path):
        try:
            yield location, _from_qrels(line) if format == "qrels" else _from_run(line)
        except BadValue as error:
            reader.problems.add(location, error.field, error.problem, error.fix)


def _from_qrels(line: str) -> CandidateRecord:
    query, _, document, known = columns(line, 4, "query, 0, document, grade")
    return CandidateRecord(
        identifier(query, "query"), identifier(document, "document"), written_grade(known, "grade")
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
