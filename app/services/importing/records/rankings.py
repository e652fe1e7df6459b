"""Rankings of systems, for judging lists: JSON Lines, TREC runs, or tables of them."""

import math
from collections.abc import Iterator
from typing import Any

from topkapi.app.services.importing.problems import BadValue, Location
from topkapi.app.services.importing.records.candidates import columns
from topkapi.app.services.importing.records.names import RANKING_NAMES, RUN_NAMES
from topkapi.app.services.importing.records.shapes import shape_of
from topkapi.app.services.importing.records.tables import records
from topkapi.app.services.importing.records.types import RankingRecord
from topkapi.app.services.importing.records.values import identifier, kind_of, number_of, shown
from topkapi.app.services.importing.sources.reader import Reader

Rankings = Iterator[tuple[Location, RankingRecord]]
Entry = tuple[float, int, str]  # the score, negated; the rank; the document
Entries = Iterator[tuple[Location, tuple[tuple[str, str], Entry]]]
_REQUIRED = ("query", "system", "documents")
_COLUMNS = ("query", "document", "rank", "score", "system")


def read_rankings(reader: Reader, path: str) -> Rankings:
    """Return the rankings of a file; its first line decides the format."""
    shape = shape_of(reader, path, RANKING_NAMES, _REQUIRED)
    if shape.has_fields:
        return records(reader, path, shape, RANKING_NAMES, _REQUIRED, _from_object)
    table = shape_of(reader, path, RUN_NAMES, _COLUMNS)
    if table.kind == "table":
        return _from_run(records(reader, path, table, RUN_NAMES, _COLUMNS, _from_row))
    return _from_run(_run_lines(reader, path))


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


def _from_run(entries: Entries) -> Rankings:
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
    return key, (-_score(score), _rank(rank), identifier(document, "document"))


def _score(text: str) -> float:
    try:
        score = number_of(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise BadValue("score", f"{shown(text)} is not a score.", "Use a finite number.")
    return score


def _rank(text: str) -> int:
    try:
        number_of(text)
        return int(text)
    except ValueError:
        raise BadValue("rank", f"{shown(text)} is not a rank.", "Use a whole number.") from None
