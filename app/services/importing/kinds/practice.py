"""Practice questions of the training: practice.jsonl."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.models import PracticeItem
from topkapi.app.db.queries.studies.importing import document_numbers
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.training.practice import (
    MAX_EXPLANATION,
    MAX_QUESTIONS,
    PracticeQuestion,
    check_question,
)
from topkapi.app.services.fence import limits
from topkapi.app.services.importing.bundle import Bundle
from topkapi.app.services.importing.kinds.base import Check, Found, Kind, Row, Writing
from topkapi.app.services.importing.problems import Location
from topkapi.app.services.importing.records.names import Aliases
from topkapi.app.services.importing.records.shapes import Shape
from topkapi.app.services.importing.records.tables import records
from topkapi.app.services.importing.records.types import PracticeRecord
from topkapi.app.services.importing.sources.reader import Reader
from topkapi.app.services.values import BadValue, identifier, kind_of, text_value

_SIDES = frozenset({"left", "right"})
_REQUIRED = ("id", "query", "answer", "explanation")
_LONGEST_LIST = 100
PRACTICE_NAMES: Aliases = dict.fromkeys(
    ("id", "query", "description", "document", "left", "right", "answer", "explanation"), ()
)


def _from_object(record: dict[str, Any]) -> PracticeRecord:
    """Return a practice question; its pages decide the tool."""
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


class PracticeKind(Kind[str, PracticeRecord, PracticeRecord]):
    """Practice questions; they need no query of the study."""

    role = "practice"
    one, many = "practice question", "practice"
    names = frozenset({"practice"})
    merges = False
    model = PracticeItem

    def read(self, bundle: Bundle, reader: Reader) -> Found[PracticeRecord]:
        path = bundle.layout.file(self.role)
        if path is None:
            return iter(())
        return records(reader, path, Shape("jsonl"), PRACTICE_NAMES, _REQUIRED, _from_object)

    def is_sound(self, check: Check, location: Location, record: PracticeRecord) -> bool:
        question = record.question
        fields = ("document",) if question.tool is Tool.GRADES else ("left", "right")
        for field, pages in zip(fields, (question.left, question.right), strict=False):
            for page in pages:
                check.known(location, field, page)
        try:
            check_question(question, check.checked.bundle.head.settings)
        except Invalid as error:
            check.problems.add(location, error.field, str(error), "")
        return True

    def on_kept(self, check: Check, location: Location, record: PracticeRecord) -> None:
        if len(check.checked[self]) == MAX_QUESTIONS + 1:
            problem = f"There are more than {MAX_QUESTIONS} practice questions."
            check.problems.add(location, None, problem, "Remove some.")

    def finish(self, check: Check) -> None:
        """Refuse a qualification that asks for more answers than there are questions."""
        head, asked = check.checked.bundle.head, len(check.checked[self])
        needed = head.settings.training_needed or 0
        if needed > asked and not check.problems:
            check.problems.add(
                head.location,
                "training_needed",
                f"The qualification needs {needed} right answers of {asked} practice questions.",
                "Add questions to practice.jsonl, or lower training_needed.",
            )

    def stored(self, session: Session, study_id: int) -> dict[str, PracticeRecord]:
        names = {number: name for name, number in document_numbers(session, study_id).items()}
        items = session.scalars(select(PracticeItem).where(PracticeItem.study_id == study_id))
        records = (PracticeRecord(item.external_id, question_of(item, names)) for item in items)
        return {record.id: record for record in records}

    def row(self, write: Writing, record: PracticeRecord) -> Row:
        question = record.question
        return {
            "study_id": write.study_id,
            "external_id": record.id,
            "position": write.next_position(PracticeItem),
            "tool": question.tool,
            "query": question.query,
            "description": question.description,
            "left": [write.documents[page] for page in question.left],
            "right": [write.documents[page] for page in question.right],
            "answers": list(question.answers),
            "explanation": question.explanation,
        }


def question_of(item: PracticeItem, names: Mapping[int, str]) -> PracticeQuestion:
    """Return a stored question with its pages by name."""
    left, right = (tuple(names[number] for number in side) for side in (item.left, item.right))
    about = (item.tool, item.query, item.description)
    return PracticeQuestion(*about, left, right, tuple(item.answers), item.explanation)


PRACTICE = PracticeKind()
