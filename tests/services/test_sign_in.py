from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Literal

import pytest
from argon2 import PasswordHasher
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tests.cases import each_case
from tests.factories import PASSWORD, authenticator_on, make_user
from tests.locks import all_writing_locked, be_impatient
from tests.waiting import WATCHDOG
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import SignInAttempt, User
from topkapi.app.domain.errors import Forbidden, TooManyAttempts, WrongCredentials
from topkapi.app.services.accounts import passwords, throttling, users
from topkapi.app.services.accounts.sign_in import Authenticator, Device, Visitor
from topkapi.app.services.accounts.throttling import (
    TRIES_PER_ADDRESS,
    TRIES_PER_EMAIL,
    TRIES_PER_SOURCE,
    Attempt,
    remaining_sentence,
    source_of,
)
from topkapi.app.services.accounts.totp import Codes
from topkapi.app.services.late_writes import LateWrites

pytestmark = pytest.mark.both

HERE = Visitor("127.0.0.1", on_loopback=True)
AWAY = Visitor("203.0.113.9", on_loopback=False)
NOON = datetime(2026, 11, 3, 12, tzinfo=UTC)


@pytest.fixture
def ansa(sessions: Sessions) -> User:
    with sessions.write.begin() as session:
        return make_user(session, email="ansa@lehto.example", password=PASSWORD)


@pytest.fixture
def late(sessions: Sessions) -> Iterator[LateWrites]:
    late = LateWrites(sessions)
    yield late
    late.close()


@pytest.fixture
def door(sessions: Sessions, late: LateWrites) -> Authenticator:
    return Authenticator(sessions, late, Codes("secret"))


def fail(
    door: Authenticator,
    at: datetime = NOON,
    email: str = "ansa@lehto.example",
    visitor: Visitor = AWAY,
    device: Device | None = None,
) -> str:
    with pytest.raises(WrongCredentials) as refusal:
        door.sign_in(email, "not the password", visitor, device, at)
    return str(refusal.value)


def stranger(number: int) -> Visitor:
    return Visitor(f"198.51.100.{number}", on_loopback=False)


def test_the_right_password_signs_in_whatever_the_case_of_the_address(
    door: Authenticator, ansa: User
) -> None:
    assert door.sign_in(" Ansa@Lehto.example ", PASSWORD, AWAY).id == ansa.id


def test_a_wrong_password_and_an_unknown_address_are_refused_alike(
    door: Authenticator, ansa: User
) -> None:
    assert ansa
    assert fail(door) == fail(door, email="nobody@example.org")


def test_an_unknown_address_costs_the_same_work(
    door: Authenticator, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    class Counting(PasswordHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
            done.append(str(hash))
            return super().verify(hash, password)

    monkeypatch.setattr(passwords, "HASHER", Counting(time_cost=1, memory_cost=8, parallelism=1))
    fail(door, email="nobody@example.org")
    assert len(done) == 1


def test_the_tries_left_are_counted_down_in_words(door: Authenticator, ansa: User) -> None:
    assert ansa
    messages = [fail(door, NOON + timedelta(seconds=i)) for i in range(TRIES_PER_SOURCE)]
    assert messages[1] == (
        "The e-mail address or the password is incorrect. "
        "Three attempts left before a wait of one minute."
    )
    assert messages[3].endswith("One attempt left before a wait of one minute.")
    assert messages[4].endswith("Wait one minute before the next attempt.")


def test_after_too_many_tries_even_the_right_password_waits(
    door: Authenticator, ansa: User
) -> None:
    for _ in range(TRIES_PER_SOURCE):
        fail(door)
    with pytest.raises(TooManyAttempts) as refusal:
        door.sign_in(ansa.email, PASSWORD, AWAY, at=NOON + timedelta(seconds=21))
    assert refusal.value.wait_seconds == 40
    assert "Try again in 40 seconds" in str(refusal.value)
    assert door.sign_in(ansa.email, PASSWORD, AWAY, at=NOON + timedelta(seconds=61))


def test_waiting_tries_do_not_lengthen_the_wait(door: Authenticator, ansa: User) -> None:
    for _ in range(TRIES_PER_SOURCE):
        fail(door)
    for second in range(1, 59, 10):
        with pytest.raises(TooManyAttempts):
            door.sign_in(ansa.email, "x", AWAY, at=NOON + timedelta(seconds=second))
    assert door.sign_in(ansa.email, PASSWORD, AWAY, at=NOON + timedelta(seconds=61))


def test_a_success_forgets_the_failures_of_its_source_alone(
    sessions: Sessions, door: Authenticator, late: LateWrites, ansa: User
) -> None:
    for _ in range(TRIES_PER_SOURCE - 1):
        fail(door)
    fail(door, visitor=stranger(1))
    door.sign_in(ansa.email, PASSWORD, AWAY, at=NOON)
    assert "Four attempts left" in fail(door, NOON + timedelta(seconds=1))
    late.close()
    with sessions.read() as session:
        left = session.scalars(select(SignInAttempt.address).order_by(SignInAttempt.address)).all()
    assert left == ["198.51.100.1", AWAY.address]


def test_a_stranger_elsewhere_locks_nobody_out(door: Authenticator, ansa: User) -> None:
    times = [NOON + timedelta(seconds=61 * minute) for minute in range(14)]
    for at in [NOON] * (TRIES_PER_SOURCE - 1) + times:
        fail(door, at, visitor=stranger(1))
    with pytest.raises(TooManyAttempts):
        door.sign_in(ansa.email, "x", stranger(1), at=times[-1])
    assert door.sign_in(ansa.email, PASSWORD, HERE, at=times[-1])


def test_many_strangers_slow_down_each_other_but_no_known_device(
    door: Authenticator, ansa: User
) -> None:
    for number in range(TRIES_PER_EMAIL):
        fail(door, visitor=stranger(number))
    with pytest.raises(TooManyAttempts):
        door.sign_in(ansa.email, PASSWORD, HERE, at=NOON)
    others = Device("others", (ansa.id + 1,))
    with pytest.raises(TooManyAttempts):
        door.sign_in(ansa.email, PASSWORD, HERE, others, NOON)
    hers = Device("hers", (ansa.id,))
    assert door.sign_in(ansa.email, PASSWORD, stranger(1), hers, NOON)


def test_a_known_device_has_the_same_few_tries(door: Authenticator, ansa: User) -> None:
    hers = Device("hers", (ansa.id,))
    for _ in range(TRIES_PER_SOURCE):
        fail(door, device=hers)
    with pytest.raises(TooManyAttempts):
        door.sign_in(ansa.email, PASSWORD, HERE, hers, NOON)
    assert door.sign_in(ansa.email, PASSWORD, AWAY, at=NOON)


@each_case(
    ("address", "device", "source"),
    [
        ("203.0.113.9", None, "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", None, "2001:db8:1:2::/64"),
        ("unknown", None, "unknown"),
        ("203.0.113.9", "abc", "device:abc"),
    ],
)
def test_sources(address: str, device: str | None, source: str) -> None:
    assert source_of(address, device) == source


def test_workers_share_their_counts(sessions: Sessions, ansa: User) -> None:
    for _ in range(TRIES_PER_SOURCE):
        with authenticator_on(sessions) as door:
            fail(door)
    with authenticator_on(sessions) as door, pytest.raises(TooManyAttempts):
        door.sign_in(ansa.email, PASSWORD, AWAY, at=NOON)


def test_tries_at_once_at_two_workers_are_bounded_too(sessions: Sessions, ansa: User) -> None:
    with authenticator_on(sessions) as one, authenticator_on(sessions) as other:

        def attempt(number: int) -> type[Exception]:
            with pytest.raises((WrongCredentials, TooManyAttempts)) as refusal:
                (one, other)[number % 2].sign_in(ansa.email, "x", AWAY, at=NOON)
            return refusal.type

        with ThreadPoolExecutor(8) as pool:
            kinds = list(pool.map(attempt, range(32)))
    assert TRIES_PER_SOURCE <= kinds.count(WrongCredentials) <= 2 * TRIES_PER_SOURCE
    with authenticator_on(sessions) as third, pytest.raises(TooManyAttempts):
        third.sign_in(ansa.email, PASSWORD, AWAY, at=NOON)


def test_signing_in_waits_for_no_lock_and_is_throttled_all_the_same(
    database_url: str, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    be_impatient(database_url, monkeypatch)
    with sessions.write.begin() as session:
        user = make_user(session, email="ansa@lehto.example", password=PASSWORD)
    with authenticator_on(sessions) as door, all_writing_locked(database_url):
        fail(door)
        assert door.sign_in(user.email, PASSWORD, AWAY, at=NOON).id == user.id
        later = NOON + timedelta(seconds=1)
        for _ in range(TRIES_PER_SOURCE):
            fail(door, later)
        with pytest.raises(TooManyAttempts):
            door.sign_in(user.email, PASSWORD, AWAY, at=later)
    with sessions.read() as session:  # written after the lock was released
        assert session.scalar(select(func.count(SignInAttempt.id))) == TRIES_PER_SOURCE
    sessions.write.kw["bind"].dispose()


def test_tries_from_before_the_clock_was_set_back_are_no_longer_counted(
    door: Authenticator, ansa: User
) -> None:
    for _ in range(TRIES_PER_SOURCE):
        fail(door)
    assert door.sign_in(ansa.email, PASSWORD, AWAY, at=NOON - timedelta(hours=1))


def test_one_address_cannot_try_many_people(door: Authenticator) -> None:
    for number in range(TRIES_PER_ADDRESS):
        fail(door, email=f"person{number}@example.org")
    with pytest.raises(TooManyAttempts):
        door.sign_in("another@example.org", "x", AWAY, at=NOON)
    with pytest.raises(WrongCredentials):
        door.sign_in("another@example.org", "x", HERE, at=NOON)


def test_tries_at_once_do_not_slip_past_the_limit(door: Authenticator, ansa: User) -> None:
    def attempt(_: int) -> type[Exception]:
        with pytest.raises((WrongCredentials, TooManyAttempts)) as refusal:
            door.sign_in(ansa.email, "x", AWAY, at=NOON)
        return refusal.type

    with ThreadPoolExecutor(8) as pool:
        kinds = list(pool.map(attempt, range(16)))
    assert kinds.count(WrongCredentials) == TRIES_PER_SOURCE


def test_nobody_waits_while_the_tries_of_another_are_read(
    door: Authenticator, ansa: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, go_on = Event(), Event()

    def slow(session: Session, email: str, *given: object) -> set[Attempt]:
        if email == ansa.email:
            reading.set()
            assert go_on.wait(WATCHDOG)
        return attempts(session, email, *given)  # type: ignore[arg-type]

    attempts = throttling.attempts
    monkeypatch.setattr(throttling, "attempts", slow)
    with ThreadPoolExecutor(2) as pool:
        slowly = pool.submit(fail, door)
        assert reading.wait(WATCHDOG)
        quickly = pool.submit(fail, door, email="bao@example.org", visitor=stranger(1))
        try:
            assert "Four attempts left" in quickly.result(WATCHDOG)
        finally:
            go_on.set()
        assert "Four attempts left" in slowly.result()


def test_a_disabled_person_is_told_so_only_with_the_right_password(
    sessions: Sessions, door: Authenticator, ansa: User
) -> None:
    with sessions.write.begin() as session:
        users.disable_user(session, session.get_one(User, ansa.id))
    assert "is incorrect" in fail(door)
    with pytest.raises(Forbidden, match="disabled"):
        door.sign_in(ansa.email, PASSWORD, AWAY)


def test_someone_without_a_password_cannot_sign_in(sessions: Sessions, door: Authenticator) -> None:
    with sessions.write.begin() as session:
        make_user(session, email="new@example.org")
    fail(door, email="new@example.org")


def test_demo_accounts_work_on_this_machine_only(sessions: Sessions, door: Authenticator) -> None:
    with sessions.write.begin() as session:
        demo = make_user(session, password=PASSWORD, demo=True)
    assert door.sign_in(demo.email, PASSWORD, HERE).id == demo.id
    with pytest.raises(Forbidden, match="demo"):
        door.sign_in(demo.email, PASSWORD, AWAY)


def test_a_hash_of_lower_cost_is_made_anew(
    sessions: Sessions,
    door: Authenticator,
    late: LateWrites,
    ansa: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = ansa.password_hash
    monkeypatch.setattr(
        passwords, "HASHER", PasswordHasher(time_cost=2, memory_cost=8, parallelism=1)
    )
    door.sign_in(ansa.email, PASSWORD, HERE)
    late.close()
    with sessions.read() as session:
        after = session.get_one(User, ansa.id).password_hash
    assert after != before
    assert passwords.matches(after, PASSWORD)


@pytest.mark.parametrize(
    ("left", "start"), [(0, "Wait one minute"), (1, "One attempt left "), (29, "29 attempts left ")]
)
def test_sentences_of_tries(left: int, start: str) -> None:
    assert remaining_sentence(left).startswith(start)
