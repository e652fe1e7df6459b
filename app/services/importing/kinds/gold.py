"""Gold pairs, whose right answers are known: gold.jsonl."""

from operator import attrgetter
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased

from topkapi.app.db.models import Assignment, Document, GoldPair, Query
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.pairs.known import GOLD_ANSWERS
from topkapi.app.domain.training.practice import MAX_EXPLANATION
from topkapi.app.services.importing.bundle import Bundle
from topkapi.app.services.importing.kinds.base import (
    Check,
    Found,
    Kind,
    Row,
    StoredComparison,
    Writing,
)
from topkapi.app.services.importing.problems import Location
from topkapi.app.services.importing.records.names import QUERY, Aliases
from topkapi.app.services.importing.records.shapes import Shape
from topkapi.app.services.importing.records.tables import records
from topkapi.app.services.importing.records.types import GoldRecord
from topkapi.app.services.importing.sources.reader import Reader
from topkapi.app.services.values import BadValue, identifier, shown, text_value

Key = tuple[str, str, str]  # query and both pages
GOLD_NAMES: Aliases = {
    "query": QUERY,
    **dict.fromkeys(("left", "right", "answer", "explanation"), ()),
}
_REQUIRED = ("query", "left", "right", "answer")


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


class GoldKind(Kind[Key, GoldRecord, GoldRecord]):
    """Gold pairs of queries whose candidates are both pages."""

    role = "gold"
    one, many = "gold pair", "gold pairs"
    names = frozenset({"gold"})
    fields = GOLD_NAMES
    id_field = "answer"
    model = GoldPair
    key = staticmethod(attrgetter("key"))

    def read(self, bundle: Bundle, reader: Reader) -> Found[GoldRecord]:
        path = bundle.layout.file(self.role)
        if path is None:
            return
        found = records(reader, path, Shape("jsonl"), GOLD_NAMES, _REQUIRED, _from_object)
        for location, pair in found:
            if bundle.offers(pair.query, pair.left, pair.right):
                yield location, pair

    def same(self, before: GoldRecord, now: GoldRecord) -> bool:
        return before.facts == now.facts

    def is_sound(self, check: Check, location: Location, record: GoldRecord) -> bool:
        if not check.known(location, "query", record.query):
            return False
        known = [_is_candidate(check, location, record, side) for side in ("left", "right")]
        return all(known)

    def title(self, key: Key) -> str:
        return f"gold pair {key[1:]} of {key[0]!r}"

    def on_kept(self, check: Check, location: Location, record: GoldRecord) -> None:
        """Refuse a right answer that assessors cannot give."""
        settings = check.checked.bundle.head.settings
        if Tool.PAIRS not in settings.tools:
            problem = "Gold pairs are compared with answers to pairs, which the study does not ask."
            check.problems.add(location, None, problem, "Add 'pairs' to tools, or remove the file.")
        if record.answer == "tie" and not settings.allow_ties:
            problem = "The right answer is a tie, but the study offers none."
            check.problems.add(location, "answer", problem, "Set allow_ties, or remove the pair.")

    def stored(self, session: Session, study_id: int) -> dict[Key, GoldRecord]:
        facts = (GoldRecord(*row) for row in gold_facts(session, study_id))
        return {pair.key: pair for pair in facts}

    def added(self, compare: StoredComparison) -> frozenset[Key]:
        """Return the new gold pairs; refuse those of queries that somebody has begun."""
        added = super().added(compare)
        begun = _begun_queries(compare.session, compare.study.id) if added else frozenset()
        for key in sorted(added):
            if key[0] in begun:
                begun -= {key[0]}
                compare.problems.add(
                    self.location(compare.checked, key),
                    "query",
                    f"Work on query {shown(key[0])} has begun; gold pairs cannot be added to it.",
                    "Its answers were counted without them: remove them, or use them in new "
                    "queries.",
                )
        return added

    def row(self, write: Writing, record: GoldRecord) -> Row:
        return {
            "query_id": write.queries[record.query],
            "left_id": write.documents[record.left],
            "right_id": write.documents[record.right],
            "answer": record.answer,
            "explanation": record.explanation,
        }


def _is_candidate(check: Check, location: Location, pair: GoldRecord, side: str) -> bool:
    name = getattr(pair, side)
    if not check.known(location, side, name):
        return False
    found = (pair.query, name) in check.checked.found["candidates"]
    if found or check.has_faults("candidates"):
        return found
    check.problems.add(
        location,
        side,
        f"The document {shown(name)} is not a candidate for query {shown(pair.query)}.",
        f"Add it to {check.checked.bundle.layout.rows[0]}, or correct the id.",
    )
    return False


GOLD = GoldKind()


def gold_facts(session: Session, study_id: int) -> list[tuple[str, str, str, str, str]]:
    """Return query, left and right page by external id, answer and explanation of gold pairs."""
    left, right = aliased(Document), aliased(Document)
    statement = (
        select(
            *(Query.external_id, left.external_id, right.external_id),
            *(GoldPair.answer, GoldPair.explanation),
        )
        .join(Query, Query.id == GoldPair.query_id)
        .join(left, left.id == GoldPair.left_id)
        .join(right, right.id == GoldPair.right_id)
        .where(Query.study_id == study_id)
    )
    return [(row[0], row[1], row[2], row[3], row[4]) for row in session.execute(statement)]


def _begun_queries(session: Session, study_id: int) -> frozenset[str]:
    """Return queries that somebody has answered questions about."""
    statement = (
        select(Query.external_id)
        .join(Assignment, Assignment.query_id == Query.id)
        .where(Query.study_id == study_id, Assignment.last_entry_at.is_not(None))
    )
    return frozenset(session.scalars(statement))
