"""Insert the rows of a study in batches, in one transaction or several."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar, cast

from sqlalchemy import Executable, Table, insert, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from topkapi.app.db.base import Base
from topkapi.app.db.models import Content, Study
from topkapi.app.db.queries.studies.importing import query_numbers
from topkapi.app.services.guideline_history import record_version
from topkapi.app.services.importing.checking import hash_of_study
from topkapi.app.services.importing.comparing import Changes
from topkapi.app.services.importing.edits import head_json
from topkapi.app.services.importing.growing import continue_work
from topkapi.app.services.importing.kinds import KINDS
from topkapi.app.services.importing.kinds.base import Checked, Writing
from topkapi.app.services.importing.staging import Staging

_ROWS = 1000
_IMPORT_LOCK = 7_461_830_552  # key of the advisory lock that serializes imports on PostgreSQL

T = TypeVar("T")


def write_study(
    session: Session,
    checked: Checked,
    changes: Changes,
    staging: Staging,
    *,
    actor_id: int | None = None,
) -> Study:
    """Write the rows of ``changes``, whose contents are stored already."""
    study = changes.study or Study(slug=checked.bundle.head.slug)
    write_head(session, study, checked, changes, actor_id)
    _write_rows(session, checked, changes, staging, study.id)
    if changes.growing:
        numbers = query_numbers(session, study.id)
        continue_work(session, study, [numbers[name] for name in changes.growing])
    return study


def write_unfinished(
    session: Session,
    checked: Checked,
    changes: Changes,
    staging: Staging,
    *,
    slug: str,
    rest: Callable[[], None],
) -> None:
    """Write the rows of a new study under a ``slug`` that nobody sees; ``rest`` after each batch.

    `write_head` then gives it the slug of its files.
    """
    study = Study(slug=slug, name="")
    session.add(study)
    session.flush()
    number = study.id
    rest()
    _write_rows(session, checked, changes, staging, number, rest)


def lock_imports(session: Session) -> None:
    """Serialize imports on PostgreSQL: two that insert the same contents could deadlock."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _IMPORT_LOCK})


def write_head(
    session: Session, study: Study, checked: Checked, changes: Changes, actor_id: int | None
) -> None:
    """Write name, guidelines and settings of a study."""
    head, merged = checked.bundle.head, changes.merged
    study.slug, study.name = head.slug, merged.name
    study.settings = merged.settings
    study.imported = head_json(head)
    study.content_hash = hash_of_study(checked)
    session.add(study)
    session.flush()
    if changes.study is None or study.guidelines != merged.guidelines:
        record_version(session, study, merged.guidelines, source="import", actor_id=actor_id)


def new_contents(session: Session) -> Executable:
    """Return an insert that skips existing contents, in the dialect of the database."""
    if session.get_bind().dialect.name == "postgresql":
        return postgresql.insert(_table(Content)).on_conflict_do_nothing()
    return sqlite.insert(_table(Content)).on_conflict_do_nothing()


def _write_rows(
    session: Session,
    checked: Checked,
    changes: Changes,
    staging: Staging,
    study_id: int,
    rest: Callable[[], None] = lambda: None,
) -> None:
    """Write the new records of every kind; ``rest`` after each batch."""
    write = Writing(session, study_id, checked, staging.rendered, rest)
    for kind in KINDS:
        for batch in _batches(kind.rows(write, changes[kind], staging.staged(kind)), _ROWS):
            session.execute(insert(_table(kind.model)), batch)
            rest()


def _table(model: type[Base]) -> Table:
    return cast(Table, model.__table__)


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
