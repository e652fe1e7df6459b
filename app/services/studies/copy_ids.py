"""New ids for the rows of a copied study: in columns, and inside plans and other JSON values."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Table

from topkapi.app.db.models import Assignment, Document, PracticeItem, Query, Ranking, User
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.plan_digest import plan_digest

Ids = dict[str, dict[int, int]]  # table -> old id -> new id
_LISTED = {"people": User.__tablename__, "queries": Query.__tablename__}


def renumbered(table: Table, row: dict[str, Any], ids: Ids) -> dict[str, Any]:
    """Return the row with the new ids of everything it refers to; raise ValueError if unknown."""
    for key in table.foreign_keys:
        known = ids.get(key.column.table.name)
        if known is not None and row[key.parent.name] is not None:
            row[key.parent.name] = _id(known, row[key.parent.name], key.parent.nullable or False)
    if table.name == Ranking.__tablename__:
        row["documents"] = _items(row["documents"], ids[Document.__tablename__])
    if table.name == PracticeItem.__tablename__:
        for side in ("left", "right"):
            row[side] = _items(row[side], ids[Document.__tablename__])
    if table.name == Assignment.__tablename__:
        _renumber_work(row, ids)
    return row


def _renumber_work(row: dict[str, Any], ids: Ids) -> None:
    documents = ids[Document.__tablename__]
    rankings = ids[Ranking.__tablename__]
    items = rankings if row["tool"] is Tool.LISTS else documents
    plan = {**row["plan"], "order": _items(row["plan"]["order"], documents)}
    if "lists" in plan:
        plan["lists"] = [
            {
                **each,
                "id": _id(rankings, each["id"]),
                "documents": _items(each["documents"], documents),
            }
            for each in plan["lists"]
        ]
        plan["pairs"] = _items(plan["pairs"], rankings)
    elif "pairs" in plan:  # of an adjudication
        plan["pairs"] = _items(plan["pairs"], documents)
    if "gold" in plan:
        plan["gold"] = _items(plan["gold"], documents)
    row["plan"], row["plan_digest"] = plan, plan_digest(plan)
    row["offered"] = _offered(row["offered"], items)


def _offered(offered: Mapping[str, Any] | None, items: dict[int, int]) -> dict[str, Any] | None:
    """Return a pending question or final ranking with its new ids."""
    if offered is None:
        return None
    found = dict(offered)
    for name in ("pair", "ranking"):
        if name in found:
            found[name] = _items(found[name], items)
    if found.get("confidence"):
        confidence = dict(found["confidence"])
        confidence["ranking"] = _items(confidence["ranking"], items)
        confidence["pages"] = [[_id(items, page[0]), *page[1:]] for page in confidence["pages"]]
        found["confidence"] = confidence
    return found


def renumbered_rotations(value: Any, ids: Ids) -> Any:
    """Return stored rotations with the new ids of people and queries; None if one is unknown."""
    try:
        return _rotations(value, ids)
    except ValueError:
        return None


def _rotations(value: Any, ids: Ids) -> Any:
    if isinstance(value, list):
        return [_rotations(each, ids) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _items(each, ids[_LISTED[name]]) if name in _LISTED else _rotations(each, ids)
        for name, each in value.items()
    }


def _items(values: list[Any], known: dict[int, int]) -> list[Any]:
    return [_items(each, known) if isinstance(each, list) else _id(known, each) for each in values]


def _id(known: dict[int, int], old: int, may_be_absent: bool = False) -> Any:
    if old not in known and not may_be_absent:
        raise ValueError(f"there is no row with the id {old}")
    return known.get(old)
