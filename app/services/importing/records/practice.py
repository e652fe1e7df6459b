"""Questions with known answers: practice.jsonl of the training, gold.jsonl of gold pairs."""

from collections.abc import Iterator
from typing import Any

from topkapi.app.domain.enums import Tool
from topkapi.app.domain.pairs.known import GOLD_ANSWERS
from topkapi.app.domain.training.practice import MAX_EXPLANATION, PracticeQuestion
from topkapi.app.services.fence import limits
from topkapi.app.services.importing.problems import BadValue, Location
from topkapi.app.services.importing.records.names import GOLD_NAMES, PRACTICE_NAMES
from topkapi.app.services.importing.records.shapes import Shape
from topkapi.app.services.importing.records.tables import records
from topkapi.app.services.importing.records.types import GoldRecord, PracticeRecord
from topkapi.app.services.importing.records.values import identifier, kind_of, shown, text_value
from topkapi.app.services.importing.sources.reader import Reader

_SIDES = frozenset({"left", "right"})
_REQUIRED = ("id", "query", "answer", "explanation")
_LONGEST_LIST = 100


def read_practice(reader: Reader, path: str) -> Iterator[tuple[Location, PracticeRecord]]:
    """Return the practice questions of a file; their pages decide the tool."""
    return records(reader, path, Shape("jsonl"), PRACTICE_NAMES, _REQUIRED, _from_object)


def _from_object(record: dict[str, Any]) -> PracticeRecord:
    tool, left, right = _pages(record)
    question = PracticeQuestion(
        tool=tool,
        query=text_value(record.get("query"), "query", limits.MAX_QUERY, required=True),
        description=text_value(record.get("description"), "description", limits.MAX_QUERY),
        left=left,
        right=right,
        answers=_answers(record.get("answer")),
        explanation=text_value(
            record.get("explanation"), "explanation", MAX_EXPLANATION, required=True
        ),
    )
    return PracticeRecord(identifier(record.get("id"), "id"), question)


def _pages(record: dict[str, Any]) -> tuple[Tool, tuple[str, ...], tuple[str, ...]]:
    """Return tool and pages: a document (T2), two documents (T1) or two lists of them (T3)."""
    given = {name for name in (*_SIDES, "document") if record.get(name) is not None}
    if given == {"document"}:
        return Tool.GRADES, (identifier(record["document"], "document"),), ()
    if given != _SIDES:
        raise BadValue(
            "document",
            "The question has no pages, or too many.",
            "Set document, or left and right.",
        )
    sides = record["left"], record["right"]
    if all(isinstance(side, list) for side in sides):
        return Tool.LISTS, _listed(sides[0], "left"), _listed(sides[1], "right")
    left, right = identifier(sides[0], "left"), identifier(sides[1], "right")
    return Tool.PAIRS, (left,), (right,)


def _listed(side: list[object], field: str) -> tuple[str, ...]:
    if not 1 <= len(side) <= _LONGEST_LIST:
        raise BadValue(
            field, f"The list has {len(side)} pages.", f"Use 1 to {_LONGEST_LIST}, best first."
        )
    return tuple(identifier(name, field) for name in side)


def _answers(given: object) -> tuple[str, ...]:
    """Return the right answers; a list means that each of them is right."""
    listed = given if isinstance(given, list) else [given]
    if not listed or not all(isinstance(each, str) and each for each in listed):
        raise BadValue(
            "answer", f"This is {kind_of(given)}.", "Write an answer, or a list of them."
        )
    return tuple(dict.fromkeys(listed))


_GOLD_REQUIRED = ("query", "left", "right", "answer")


def read_gold(reader: Reader, path: str) -> Iterator[tuple[Location, GoldRecord]]:
    """Return the gold pairs of a file."""
    return records(reader, path, Shape("jsonl"), GOLD_NAMES, _GOLD_REQUIRED, _gold_from_object)


def _gold_from_object(record: dict[str, Any]) -> GoldRecord:
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
