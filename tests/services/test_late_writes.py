import logging
from collections.abc import Iterator
from functools import partial

import pytest
from sqlalchemy import insert, select, update
from sqlalchemy.engine import Engine

from tests.factories import make_user
from tests.locks import all_writing_locked
from topkapi.app.db import engine
from topkapi.app.db.base import now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import SignInAttempt, User
from topkapi.app.services import late_writes
from topkapi.app.services.late_writes import LateWrite, LateWrites

pytestmark = pytest.mark.both


@pytest.fixture
def late(sessions: Sessions) -> Iterator[LateWrites]:
    late = LateWrites(sessions)
    yield late
    late.close()


def rename(user: User, name: str) -> LateWrite:
    return LateWrite(update(User).where(User.id == user.id).values(name=name))


def attempt(email: str | None) -> LateWrite:
    return LateWrite(insert(SignInAttempt).values(email=email, address="here", at=now()))


def emails(sessions: Sessions) -> set[str]:
    with sessions.read() as session:
        return set(session.scalars(select(SignInAttempt.email)))


def test_a_write_that_meets_a_lock_is_kept_and_done_later(
    sessions: Sessions, late: LateWrites, database_url: str
) -> None:
    with sessions.write.begin() as session:
        user = make_user(session)
    with all_writing_locked(database_url):
        late.add("name", rename(user, "Older"))
        late.add("name", rename(user, "Newer"))
        assert not late.flush()
    assert late.flush()
    with sessions.read() as session:
        assert session.get_one(User, user.id).name == "Newer"


def test_closing_writes_what_is_left(sessions: Sessions, late: LateWrites) -> None:
    late.add(1, attempt("a@x.example"))
    late.close()
    assert emails(sessions) == {"a@x.example"}


def test_an_impossible_write_keeps_none_of_the_others_back(
    sessions: Sessions, late: LateWrites, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        for number, email in enumerate(("a@x.example", None, "b@x.example")):
            late.add(number, attempt(email))
        late.close()
    assert emails(sessions) == {"a@x.example", "b@x.example"}
    assert "was dropped" in caplog.text


def test_a_bounded_number_waits(
    sessions: Sessions, late: LateWrites, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert engine
    monkeypatch.setattr(late_writes, "MOST", 3)
    monkeypatch.setattr(late, "_start", lambda: None)
    gone: list[int] = []
    for number in range(5):
        write = attempt(f"{number}@x.example")
        late.add(number, LateWrite(write.statement, partial(gone.append, number)))
    assert gone == [0, 1]
    assert late.flush()
    assert emails(sessions) == {f"{number}@x.example" for number in (2, 3, 4)}


def test_an_ordinary_write_waits_as_long_as_before(sessions: Sessions, late: LateWrites) -> None:
    """Check that the short lock timeout of a late write is reset on its connection."""
    late.add(1, attempt("a@x.example"))
    assert late.flush()
    sqlite = sessions.write.kw["bind"].dialect.name == "sqlite"
    asked = "PRAGMA busy_timeout" if sqlite else "SHOW lock_timeout"
    with sessions.write.begin() as session:
        found = session.connection().exec_driver_sql(asked).scalar_one()
    assert str(found) == (str(engine.BUSY_MS) if sqlite else "0")
