from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest
from argon2 import PasswordHasher
from sqlalchemy import func, select

from app.db.engine import Sessions
from app.db.models import SignInAttempt, User
from app.domain.errors import Forbidden, TooManyAttempts, WrongCredentials
from app.services import accounts, passwords
from app.services.sign_in import Visitor, sign_in
from app.services.throttling import TRIES_PER_ADDRESS, TRIES_PER_EMAIL, tries_left_sentence
from tests.factories import PASSWORD, make_user

HERE = Visitor("127.0.0.1", on_loopback=True)
AWAY = Visitor("203.0.113.9", on_loopback=False)
NOON = datetime(2026, 11, 3, 12, tzinfo=UTC)


@pytest.fixture
def ansa(sessions: Sessions) -> User:
    with sessions.write.begin() as session:
        return make_user(session, email="ansa@lehto.example", password=PASSWORD)


def fail(sessions: Sessions, at: datetime = NOON, email: str = "ansa@lehto.example") -> str:
    with pytest.raises(WrongCredentials) as refusal:
        sign_in(sessions, email, "not the password", AWAY, at)
    return str(refusal.value)


def test_the_right_password_signs_in_whatever_the_case_of_the_address(
    sessions: Sessions, ansa: User
) -> None:
    assert sign_in(sessions, " Ansa@Lehto.example ", PASSWORD, AWAY).id == ansa.id


def test_a_wrong_password_and_an_unknown_address_are_refused_alike(
    sessions: Sessions, ansa: User
) -> None:
    assert ansa
    assert fail(sessions) == fail(sessions, email="nobody@example.org")


def test_an_unknown_address_costs_the_same_work(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    class Counting(PasswordHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
            done.append(str(hash))
            return super().verify(hash, password)

    monkeypatch.setattr(passwords, "HASHER", Counting(time_cost=1, memory_cost=8, parallelism=1))
    fail(sessions, email="nobody@example.org")
    assert len(done) == 1


def test_the_tries_left_are_counted_down_in_words(sessions: Sessions, ansa: User) -> None:
    assert ansa
    said = [fail(sessions, NOON + timedelta(seconds=i)) for i in range(TRIES_PER_EMAIL)]
    assert said[1] == (
        "The address or the password is not right. Three more tries, then a wait of one minute."
    )
    assert said[3].endswith("One more try, then a wait of one minute.")
    assert said[4].endswith("Wait one minute before the next try.")


def test_after_too_many_tries_even_the_right_password_waits(sessions: Sessions, ansa: User) -> None:
    for _ in range(TRIES_PER_EMAIL):
        fail(sessions)
    with pytest.raises(TooManyAttempts) as refusal:
        sign_in(sessions, ansa.email, PASSWORD, HERE, NOON + timedelta(seconds=20))
    assert refusal.value.wait_seconds == 40
    assert "Wait 40 seconds" in str(refusal.value)
    assert sign_in(sessions, ansa.email, PASSWORD, HERE, NOON + timedelta(seconds=61))


def test_waiting_tries_do_not_lengthen_the_wait(sessions: Sessions, ansa: User) -> None:
    for _ in range(TRIES_PER_EMAIL):
        fail(sessions)
    for second in range(1, 59, 10):
        with pytest.raises(TooManyAttempts):
            sign_in(sessions, ansa.email, "x", AWAY, NOON + timedelta(seconds=second))
    assert sign_in(sessions, ansa.email, PASSWORD, HERE, NOON + timedelta(seconds=61))


def test_a_success_forgets_the_failures(sessions: Sessions, ansa: User) -> None:
    for _ in range(TRIES_PER_EMAIL - 1):
        fail(sessions)
    sign_in(sessions, ansa.email, PASSWORD, HERE, NOON)
    with sessions.read() as session:
        assert session.scalar(select(func.count(SignInAttempt.id))) == 0
    assert "Four more tries" in fail(sessions)


def test_one_address_cannot_try_many_people(sessions: Sessions) -> None:
    for number in range(TRIES_PER_ADDRESS):
        fail(sessions, email=f"person{number}@example.org")
    with pytest.raises(TooManyAttempts):
        sign_in(sessions, "another@example.org", "x", AWAY, NOON)
    with pytest.raises(WrongCredentials):
        sign_in(sessions, "another@example.org", "x", HERE, NOON)


def test_tries_at_once_do_not_slip_past_the_limit(sessions: Sessions, ansa: User) -> None:
    def attempt(_: int) -> type[Exception]:
        with pytest.raises((WrongCredentials, TooManyAttempts)) as refusal:
            sign_in(sessions, ansa.email, "x", AWAY, NOON)
        return refusal.type

    with ThreadPoolExecutor(8) as pool:
        kinds = list(pool.map(attempt, range(16)))
    assert kinds.count(WrongCredentials) == TRIES_PER_EMAIL


def test_a_disabled_person_is_told_so_only_with_the_right_password(
    sessions: Sessions, ansa: User
) -> None:
    with sessions.write.begin() as session:
        accounts.disable_user(session, session.get_one(User, ansa.id))
    assert "not right" in fail(sessions)
    with pytest.raises(Forbidden, match="disabled"):
        sign_in(sessions, ansa.email, PASSWORD, AWAY)


def test_someone_without_a_password_cannot_sign_in(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        make_user(session, email="new@example.org")
    fail(sessions, email="new@example.org")


def test_demo_accounts_work_on_this_machine_only(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        demo = make_user(session, password=PASSWORD, demo=True)
    assert sign_in(sessions, demo.email, PASSWORD, HERE).id == demo.id
    with pytest.raises(Forbidden, match="demo"):
        sign_in(sessions, demo.email, PASSWORD, AWAY)


def test_a_hash_of_lower_cost_is_made_anew(
    sessions: Sessions, ansa: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ansa.password_hash
    monkeypatch.setattr(
        passwords, "HASHER", PasswordHasher(time_cost=2, memory_cost=8, parallelism=1)
    )
    sign_in(sessions, ansa.email, PASSWORD, HERE)
    with sessions.read() as session:
        after = session.get_one(User, ansa.id).password_hash
    assert after != before
    assert passwords.matches(after, PASSWORD)


@pytest.mark.parametrize(
    ("left", "start"), [(0, "Wait one minute"), (1, "One more try,"), (29, "29 more tries,")]
)
def test_sentences_of_tries(left: int, start: str) -> None:
    assert tries_left_sentence(left).startswith(start)
