"""Gold pairs, whose right answers are known: gold.jsonl."""

from collections.abc import Iterator
from typing import Any

from topkapi.app.domain.pairs.known import GOLD_ANSWERS
from topkapi.app.domain.training.practice import MAX_EXPLANATION
from topkapi.app.services.importing.problems import Location
from topkapi.app.services.importing.records.names import GOLD_NAMES
from topkapi.app.services.importing.records.shapes import Shape
from topkapi.app.services.importing.records.tables import records
from topkapi.app.services.importing.records.types import GoldRecord
from topkapi.app.services.importing.records.values import BadValue, identifier, shown, text_value
from topkapi.app.services.importing.sources.reader import Reader

_REQUIRED = ("query", "left", "right", "answer")


def read_gold(reader: Reader, path: str) -> Iterator[tuple[Location, GoldRecord]]:
    """Return the gold pairs of a file."""
    return records(reader, path, Shape("jsonl"), GOLD_NAMES, _REQUIRED, _from_object)


def _from_object(record: dict[str, Any]) -> GoldRecord:
    query = identifier(record.get("query"), "query")
    left, right = (identifier(record.get(side), side) for side in ("left", "right"))
    if left == right:
        raise BadValue("right", f"Both pages are {shown(left)}.", "Name two different documents.")
    answer = record.get("answer")
    if not isinstance(answer, str) or answer not in GOLD_ANSWERS:
        raise BadValue(
            "answer",
            f"{shown(answer)} is not a right answer.",
            f"Use one of {', '.join(GOLD_ANSWERS)}.",
        )
    explanation = text_value(record.get("explanation"), "explanation", MAX_EXPLANATION)
    return GoldRecord(query, left, right, answer, explanation)
