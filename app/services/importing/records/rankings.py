"""Rankings of systems, for judging lists: JSON Lines or TREC runs."""

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

from topkapi.app.services.importing.problems import Place
from topkapi.app.services.importing.records.candidates import columns
from topkapi.app.services.importing.records.jsonl import records
from topkapi.app.services.importing.records.types import RankingRecord
from topkapi.app.services.importing.records.values import BadValue, identifier, kind_of, shown
from topkapi.app.services.importing.sources.reader import Reader

Rankings = Iterator[tuple[Place, RankingRecord]]
_KNOWN = frozenset({"query", "system", "documents"})


def read_rankings(reader: Reader, path: str) -> Rankings:
    """The lists of a file of either format, told apart by its first line."""
    if reader.first_line(path).startswith("{"):
        return records(reader, path, _KNOWN, _from_object)
    return _from_run(reader, path)


def _from_object(record: dict[str, Any]) -> RankingRecord:
    documents = record.get("documents")
    if not isinstance(documents, list) or not documents:
        raise BadValue(
            "documents", f"This is {kind_of(documents)}.", "List documents from best to worst."
        )
    return _ranking(
        identifier(record.get("query"), "query"),
        identifier(record.get("system"), "system"),
        [identifier(document, "documents") for document in documents],
    )


def _ranking(query: str, system: str, documents: list[str]) -> RankingRecord:
    if len(set(documents)) != len(documents):
        twice = next(name for name, count in Counter(documents).items() if count > 1)
        raise BadValue("documents", f"{shown(twice)} stands twice in the list.", "Keep it once.")
    return RankingRecord(query, system, tuple(documents))


def _from_run(reader: Reader, path: str) -> Rankings:
    """A run: lists ordered by score, equal scores by rank, as evaluation programs do."""
    lists: dict[tuple[str, str], tuple[Place, list[tuple[float, int, str]]]] = {}
    for place, line in reader.lines(path):
        try:
            query, _, document, rank, score, system = columns(
                line, 6, "query, Q0, document, rank, score, system"
            )
            key = identifier(query, "query"), identifier(system, "system")
            entry = -_score(score), _rank(rank), identifier(document, "document")
        except BadValue as error:
            reader.problems.add(place, error.field, error.problem, error.mend)
            continue
        lists.setdefault(key, (place, []))[1].append(entry)
    for (query, system), (place, entries) in lists.items():
        try:
            yield place, _ranking(query, system, [name for *_, name in sorted(entries)])
        except BadValue as error:
            reader.problems.add(place, error.field, error.problem, error.mend)


def _score(text: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise BadValue("score", f"{shown(text)} is not a score.", "Give a finite number.")
    return score


def _rank(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise BadValue("rank", f"{shown(text)} is not a rank.", "Give a whole number.") from None
