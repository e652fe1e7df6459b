"""One-time codes: asked for at sign-in, valid once, throttled, and useless to a stolen database."""

import re
import struct
from base64 import b32decode
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from hmac import digest

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.factories import PASSWORD, make_user
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import AuditEvent, RecoveryCode, User
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import CodeNeeded, Conflict, Invalid, TooManyAttempts
from topkapi.app.services.accounts import totp
from topkapi.app.services.accounts.sign_in import Authenticator, Visitor
from topkapi.app.services.accounts.totp import (
    RECOVERY_CODES,
    SECONDS,
    Codes,
    recovery_codes_left,
    renew_recovery_codes,
    turn_off,
)
from topkapi.app.services.late_writes import LateWrites

CODES, SALT = Codes("secret"), "a salt of 22 letters.."
AWAY = Visitor("203.0.113.9", on_loopback=False)
NOON = datetime(2026, 11, 3, 12, tzinfo=UTC)


def code_of(user_id: int, at: datetime, codes: Codes = CODES) -> str:
    """Return the code of RFC 6238, computed by the formula of RFC 4226."""
    step = struct.pack(">Q", int(at.timestamp()) // SECONDS)
    found = digest(b32decode(codes.secret_of(user_id, SALT)), step, sha1)
    place = found[-1] & 15
    return f"{(struct.unpack('>I', found[place : place + 4])[0] & 0x7FFFFFFF) % 10**6:06}"


@given(st.datetimes(datetime(2020, 1, 1), datetime(2100, 1, 1)), st.integers(-3, 3))
def test_a_code_is_valid_for_its_step_and_those_beside_it(when: datetime, away: int) -> None:
    at = when.replace(tzinfo=UTC)
    shown = at + timedelta(seconds=away * SECONDS)
    near = {code_of(7, at + timedelta(seconds=each * SECONDS)) for each in (-1, 0, 1)}
    found = CODES.step_of(7, SALT, code_of(7, shown), at)
    assert (found is not None) is (code_of(7, shown) in near)
    if abs(away) <= 1 and len(near) == 3:
        assert found == int(shown.timestamp()) // SECONDS


@pytest.fixture
def maren(sessions: Sessions) -> User:
    with sessions.write.begin() as session:
        user = make_user(session, role=Role.ADMIN, password=PASSWORD, email="maren@x.example")
        user.totp_salt = SALT
        return user


def test_a_code_signs_in_once(sessions: Sessions, maren: User) -> None:
    late = LateWrites(sessions)
    doors = [Authenticator(sessions, late, CODES) for _worker in range(2)]

    def refusal(code: str, seconds: int) -> str:
        at = NOON + timedelta(seconds=seconds)
        with pytest.raises(CodeNeeded) as found:
            doors[0].sign_in(maren.email, PASSWORD, AWAY, at=at, code=code)
        return str(found.value)

    assert "Enter your password again" in refusal("", 0)
    assert "is incorrect. Three attempts left" in refusal("12345", 1)
    right = code_of(maren.id, NOON)
    typed = f" {right[:3]} {right[3:]}"
    assert doors[1].sign_in(maren.email, PASSWORD, AWAY, at=NOON, code=typed).id == maren.id
    assert "was used already" in refusal(right, 2)
    assert "was used already" in refusal(code_of(maren.id, NOON - timedelta(seconds=SECONDS)), 3)
    later = NOON + timedelta(seconds=SECONDS)
    code = code_of(maren.id, later)
    assert doors[0].sign_in(maren.email, PASSWORD, AWAY, at=later, code=code).id == maren.id
    late.close()
    with sessions.read() as session:
        actions = session.scalars(select(AuditEvent.action).order_by(AuditEvent.at)).all()
    assert (actions.count("user.refuse_code"), actions.count("user.sign_in")) == (3, 2)


@pytest.mark.parametrize("guess", ["guess ", "abcd-efgh-ijkl-mno"])
def test_codes_are_guessed_as_slowly_as_passwords(
    sessions: Sessions, maren: User, guess: str
) -> None:
    with sessions.write.begin() as session:
        recovery = renew_recovery_codes(session, maren)[0]
    late = LateWrites(sessions)
    door = Authenticator(sessions, late, CODES)
    for number in range(5):
        with pytest.raises(CodeNeeded):
            door.sign_in(maren.email, PASSWORD, AWAY, at=NOON, code=f"{guess}{number}")
    for code in (code_of(maren.id, NOON), recovery):
        with pytest.raises(TooManyAttempts):
            door.sign_in(maren.email, PASSWORD, AWAY, at=NOON, code=code)
    late.close()


def test_what_is_stored_gives_no_codes_without_the_secret_file() -> None:
    assert CODES.secret_of(7, SALT) != Codes("another secret").secret_of(7, SALT)
    assert CODES.secret_of(7, SALT) != CODES.secret_of(8, SALT)
    assert len(CODES.secret_of(7, SALT)) == 32


def test_codes_are_turned_on_with_a_code_and_off(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(totp, "now", lambda: NOON)
    maren, ansa = make_user(session, role=Role.ADMIN), make_user(session)
    with pytest.raises(Invalid, match="wrong or has expired"):
        CODES.turn_on(session, maren, SALT, "000000 no")
    with pytest.raises(Conflict, match="for administrators"):
        CODES.turn_on(session, ansa, SALT, code_of(ansa.id, NOON))
    with pytest.raises(Conflict, match="turn them on first"):
        renew_recovery_codes(session, maren)
    assert len(CODES.turn_on(session, maren, SALT, code_of(maren.id, NOON))) == RECOVERY_CODES
    assert maren.totp_step is not None, "the code that turned it on is used"
    for _twice in range(2):
        turn_off(session, maren)
    session.flush()
    session.refresh(maren)
    assert [maren.totp_salt, maren.totp_step] == [None, None]
    actions = session.scalars(select(AuditEvent.action).order_by(AuditEvent.id)).all()
    assert actions == ["user.totp_on", "user.recovery_codes", "user.totp_off"]
    assert recovery_codes_left(session, maren.id) == 0


@pytest.mark.both
def test_a_recovery_code_signs_in_once_and_only_its_owner(sessions: Sessions, maren: User) -> None:
    with sessions.write.begin() as session:
        other = make_user(session, role=Role.ADMIN, password=PASSWORD, email="idris@x.example")
        other.totp_salt = SALT
        old, theirs = (renew_recovery_codes(session, each) for each in (maren, other))
        first, second, *_ = codes = renew_recovery_codes(session, maren)
        stored = session.scalars(select(RecoveryCode.code_hash)).all()
    assert len({*old, *codes}) == 2 * RECOVERY_CODES == len(stored)
    assert all(re.fullmatch(r"([a-z2-7]{4}-){3}[a-z2-7]{4}", code) for code in codes)
    assert not {*codes, *(code.replace("-", "") for code in codes)} & {*stored}
    late = LateWrites(sessions)
    doors = [Authenticator(sessions, late, CODES) for _worker in range(2)]

    def sign_in(code: str, door: int = 0, seconds: int = 0) -> int:
        at = NOON + timedelta(hours=seconds)
        return doors[door].sign_in(maren.email, PASSWORD, AWAY, at=at, code=code).id

    assert sign_in(first) == maren.id
    for number, wrong in enumerate((first, old[0], theirs[0], "", second[:-1]), start=1):
        with pytest.raises(CodeNeeded):
            sign_in(wrong, 1, number)
    assert sign_in(f" {second.upper().replace('-', ' ')} ", 1, 6) == maren.id
    with sessions.read() as session:
        assert recovery_codes_left(session, maren.id) == RECOVERY_CODES - 2
        assert recovery_codes_left(session, other.id) == RECOVERY_CODES
        found = select(AuditEvent.detail).where(AuditEvent.action == "user.use_recovery_code")
        assert [detail["left"] for detail in session.scalars(found)] == [9, 8]
    late.close()
