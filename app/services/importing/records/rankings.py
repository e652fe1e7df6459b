"""Rankings of systems, for judging lists: JSON Lines or TREC runs."""

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

from topkapi.app.services.importing.problems import Location
from topkapi.app.services.importing.records.candidates import columns
from topkapi.app.services.importing.records.names import RANKING_NAMES
from topkapi.app.services.importing.records.shapes import shape_of
from topkapi.app.services.importing.records.tables import records
from topkapi.app.services.importing.records.types import RankingRecord
from topkapi.app.services.importing.records.values import (
    BadValue,
    identifier,
    kind_of,
    number_of,
    shown,
)
from topkapi.app.services.importing.sources.reader import Reader

Rankings = Iterator[tuple[Location, RankingRecord]]
_REQUIRED = ("query", "system", "documents")


def read_rankings(reader: Reader, path: str) -> Rankings:
    """Return the rankings of a file; its first line decides the format."""
    shape = shape_of(reader, path, RANKING_NAMES, _REQUIRED)
    if shape.has_fields:
        return records(reader, path, shape, RANKING_NAMES, _REQUIRED, _from_object)
    return _from_run(reader, path)


def _from_object(record: dict[str, Any]) -> RankingRecord:
    documents = record.get("documents")
    if not isinstance(documents, list) or not documents:
        raise BadValue(
            "documents", f"This is {kind_of(documents)}.", "List document ids from best to worst."
        )
    return _ranking(
        identifier(record.get("query"), "query"),
        identifier(record.get("system"), "system"),
        [identifier(document, "documents") for document in documents],
    )


def _ranking(query: str, system: str, documents: list[str]) -> RankingRecord:
    if len(set(documents)) != len(documents):
        twice = next(name for name, count in Counter(documents).items() if count > 1)
        raise BadValue(
            "documents", f"{shown(twice)} appears twice in the list.", "Remove one of them."
        )
    return RankingRecord(query, system, tuple(documents))


def _from_run(reader: Reader, path: str) -> Rankings:
    """Yield the lists of a run, ordered by score and then rank, as evaluation programs do."""
    lists: dict[tuple[str, str], tuple[Location, list[tuple[float, int, str]]]] = {}
    for location, line in reader.lines(path):
        try:
            query, _, document, rank, score, system = columns(
                line, 6, "query, Q0, document, rank, score, system"
            )
            key = identifier(query, "query"), identifier(system, "system")
            entry = -_score(score), _rank(rank), identifier(document, "document")
        except BadValue as error:
            reader.problems.add(location, error.field, error.problem, error.fix)
            continue
        lists.setdefault(key, (location, []))[1].append(entry)
    for (query, system), (location, entries) in lists.items():
        try:
            yield location, _ranking(query, system, [name for *_, name in sorted(entries)])
        except BadValue as error:
            reader.problems.add(location, error.field, error.problem, error.fix)


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
