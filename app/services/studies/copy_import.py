"""Reading a full copy of a study back: new ids for every row, people matched by e-mail address.

Ids also occur inside plans, pending questions, rankings and rotations; they are renumbered too.
"""

import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from sqlalchemy import Table, insert, select
from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.orm import Session
from sqlalchemy.sql.schema import ScalarElementColumnDefault

from topkapi.app.db.base import Base, now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import (
    Assignment,
    Content,
    Document,
    PracticeItem,
    Query,
    Ranking,
    Study,
    User,
)
from topkapi.app.db.queries.studies import study_tables
from topkapi.app.db.queries.studies.importing import lock_imports, new_contents
from topkapi.app.db.queries.studies.studies import study_of_slug
from topkapi.app.db.row_files import DAMAGE, DamagedTable, Row, member, read_rows, row_of
from topkapi.app.db.search import index_documents
from topkapi.app.domain import addresses
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.domain.errors import Conflict
from topkapi.app.domain.plan_digest import plan_digest
from topkapi.app.services import audit
from topkapi.app.services.importing import ImportReport
from topkapi.app.services.importing.problems import Location, StudyRefused, counted, refusal
from topkapi.app.services.studies.full_copy import FORMAT, HEADER, PEOPLE

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
    converted = dict(offered)
    for name in ("pair", "ranking"):
        if name in converted:
            converted[name] = _items(converted[name], items)
    if converted.get("confidence"):
        confidence = dict(converted["confidence"])
        confidence["ranking"] = _items(confidence["ranking"], items)
        confidence["pages"] = [[_id(items, page[0]), *page[1:]] for page in confidence["pages"]]
        converted["confidence"] = confidence
    return converted


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


def is_copy(path: Path) -> bool:
    """Return whether the file is a full copy of a study."""
    try:
        with ZipFile(path) as archive:
            return HEADER in archive.namelist()
    except (OSError, BadZipFile, ValueError, NotImplementedError):
        return False


def read_copy(
    session: Session,
    path: Path,
    *,
    name: str | None = None,
    slug: str | None = None,
    actor_id: int | None = None,
) -> ImportReport:
    """Write the study of a full copy, as ``slug`` if given; raise StudyRefused if it is damaged.

    ``name`` is the name of the file for messages. The caller commits.
    """
    shown = name or path.name
    lock_imports(session)
    try:
        with ZipFile(path) as archive:
            return _CopyReader(session, archive, shown).read(slug, actor_id)
    except DamagedTable as error:
        raise _damaged(Location(member(error.table), error.line), error.why) from error
    except (*DAMAGE, TypeError) as error:
        raise _damaged(Location(shown), str(error)) from error


def import_copy(
    sessions: Sessions,
    path: Path,
    *,
    name: str | None = None,
    slug: str | None = None,
    actor_id: int | None = None,
    dry_run: bool = False,
) -> ImportReport:
    """Write a study as `read_copy` does, and commit; a dry run reads all, too, and rolls back."""
    with sessions.write() as session:
        report = read_copy(session, path, name=name, slug=slug, actor_id=actor_id)
        if dry_run:
            session.rollback()
            return replace(report, dry_run=True)
        session.commit()
    return report


@dataclass(slots=True)
class _CopyReader:
    """Inserts the rows of a copy, parents first."""

    session: Session
    archive: ZipFile
    name: str
    ids: Ids = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    expected: dict[str, int] = field(default_factory=dict)
    new_people: int = 0

    def read(self, slug: str | None, actor_id: int | None) -> ImportReport:
        header = json.loads(self.archive.read(HEADER))
        if header["format"] != FORMAT:
            raise refusal(
                Location(HEADER),
                "format",
                f"The copy has format {header['format']}; this version reads {FORMAT}.",
                "Read it with the version of Topkapi that wrote it.",
            )
        wanted, self.expected = slug or str(header["study"]), header["rows"]
        self._refuse_taken(wanted)
        self._contents()
        self._people()
        for table in _in_order():
            self._table(table, wanted)
        return self._finish(actor_id)

    def _refuse_taken(self, slug: str) -> None:
        if study_of_slug(self.session, slug) is not None:
            raise Conflict(
                f"The study {slug!r} already exists, and a full copy can only be imported as a "
                "whole. Nothing was written. Import it under another name: topkapi study import "
                "FILE --slug NAME."
            )

    def _contents(self) -> None:
        table = Base.metadata.tables[Content.__tablename__]
        for batch in self._rows(table.name, lambda found: _typed(table, found)):
            self.session.execute(new_contents(self.session), batch)

    def _people(self) -> None:
        """Match people by e-mail address; new ones have no password until they are invited."""
        known = self.ids.setdefault(User.__tablename__, {})
        for person in chain.from_iterable(self._rows(PEOPLE, lambda found: found)):
            if addresses.is_erased(person["email"]):
                known[person["id"]] = self._erased_person()
                continue
            statement = select(User).where(User.email == person["email"])
            user = self.session.scalar(statement)
            if user is None:
                role = Role(person["role"])
                role = Role.ASSESSOR if role is Role.ADMIN else role
                machine = person.get("machine", person["email"].endswith(f"@{addresses.MACHINE}"))
                user = User(
                    email=person["email"], name=person["name"], role=role, machine=bool(machine)
                )
                self.session.add(user)
                self.session.flush()
                self.new_people += 1
            known[person["id"]] = user.id

    def _erased_person(self) -> int:
        """Create an erased person: the pseudonym of a copy may be somebody else's here."""
        email = f"{secrets.token_hex(8)}@{addresses.ERASED}"
        user = User(email=email, name="", role=Role.ASSESSOR, disabled_at=now())
        self.session.add(user)
        self.session.flush()
        user.email, user.name = f"person-{user.id}@{addresses.ERASED}", f"Person {user.id}"
        self.new_people += 1
        return user.id

    def _table(self, table: Table, slug: str) -> None:
        known = self.ids.setdefault(table.name, {})
        if table.name not in self.expected and f"{table.name}.jsonl" not in self.archive.namelist():
            return  # a table that was added since the copy was written

        def convert(found: Row) -> Row:
            row = renumbered(table, _typed(table, found), self.ids)
            if table.name == Study.__tablename__:
                row |= {"slug": slug, "rotations": None, "full_copy": None}
                self._rotations = found.get("rotations")
            return row

        for batch in self._rows(table.name, convert):
            self._insert(table, batch, known)

    _rotations: Row | None = None

    def _insert(self, table: Table, rows: list[Row], known: dict[int, int]) -> None:
        try:
            if "id" not in table.columns:
                self.session.execute(insert(table), rows)
                return
            old = [row.pop("id") for row in rows]
            statement = insert(table).returning(table.c.id, sort_by_parameter_order=True)
            known.update(zip(old, self.session.scalars(statement, rows), strict=True))
        except (DataError, IntegrityError) as error:
            raise _damaged(Location(f"{table.name}.jsonl"), f"{error.orig}") from error

    def _rows(self, name: str, convert: Callable[[Row], Row]) -> Iterator[list[Row]]:
        """Yield the converted rows of a member in batches."""
        self.counts[name] = self.expected[name]
        return read_rows(self.archive, name, convert, self.expected[name])

    def _finish(self, actor_id: int | None) -> ImportReport:
        study = self.session.get_one(Study, next(iter(self.ids[Study.__tablename__].values())))
        study.rotations = renumbered_rotations(self._rotations, self.ids)
        index_documents(self.session, study.id)
        facts = {name: count for name, count in self.counts.items() if count}
        audit.record(self.session, actor_id, "study.restore", study.slug, **facts)
        return self._report(study)

    def _report(self, study: Study) -> ImportReport:
        settings, counts = study.settings, self.counts
        return ImportReport(
            slug=study.slug,
            name=study.name,
            action="restore",
            dry_run=False,
            tools=tuple(tool.value for tool in settings.tools),
            k=settings.k,
            sorter=settings.sorter,
            queries=counts["queries"],
            documents=counts["documents"],
            candidates=counts["candidates"],
            practice=counts.get("practice_items", 0),
            rankings=counts["rankings"],
            files=counts["study_files"],
            bytes=sum(info.file_size for info in self.archive.infolist()),
            new_queries=counts["queries"],
            new_documents=counts["documents"],
            new_candidates=counts["candidates"],
            unused_documents=0,
            read_from={"study": f"{self.name} (full copy)"},
            ignored=(),
            edits=(),
            notes=tuple(self._notes()),
            gold=counts.get("gold_pairs", 0),
        )

    def _notes(self) -> Iterator[str]:
        yield (
            f"{counted(self.counts['assignments'], 'assignment')} with "
            f"{counted(self.counts['judgments'], 'log entry', 'log entries')} restored"
        )
        if self.new_people:
            yield (
                f"{counted(self.new_people, 'account')} created without a password; invite these "
                "people before they continue"
            )


def _in_order() -> list[Table]:
    """Return the tables of a study; plans contain ids of rankings, so work comes after these."""
    late: set[str] = {Assignment.__tablename__}
    for table in study_tables.tables_of_study():
        if any(key.column.table.name in late for key in table.foreign_keys):
            late.add(table.name)
    return sorted(study_tables.tables_of_study(), key=lambda table: table.name in late)


def _typed(table: Table, row: Row) -> Row:
    """Return the row with its column types; columns added since the copy get their defaults."""
    for column in table.columns:
        default = column.default
        if column.name not in row and column.nullable:
            row[column.name] = None
        elif column.name not in row and isinstance(default, ScalarElementColumnDefault):
            row[column.name] = default.arg
    return row_of(table, row)


def _damaged(location: Location, why: str) -> StudyRefused:
    return refusal(
        location,
        None,
        f"The full copy is damaged, or was changed: {why}.",
        "Use the file as it was downloaded; nothing was written.",
    )
