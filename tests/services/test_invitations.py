from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.factories import PASSWORD, make_user
from topkapi.app.db.base import now
from topkapi.app.db.models import AuditEvent, Invitation, User
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import BadToken, Conflict, Forbidden, Invalid, SignInNeeded
from topkapi.app.services.accounts import invitations, tokens, users
from topkapi.app.services.accounts.passwords import matches


def invite(session: Session) -> tuple[User, str]:
    return invitations.invite(
        session, email="Ansa@Lehto.example", name="Ansa", role=Role.ASSESSOR, actor_id=None
    )


def test_a_link_sets_name_and_password_once(session: Session) -> None:
    user, token = invite(session)
    assert user.email == "ansa@lehto.example"
    assert user.password_hash is None
    version = user.session_version
    accepted = invitations.accept(session, token, name=" Ansa  Lehto ", password=PASSWORD)
    assert accepted.name == "Ansa Lehto"
    assert matches(accepted.password_hash, PASSWORD)
    assert accepted.session_version == version + 1
    with pytest.raises(BadToken, match="already used"):
        invitations.accept(session, token, name="Again", password=PASSWORD)


def test_only_the_hash_of_a_link_is_kept(session: Session) -> None:
    _, token = invite(session)
    row = session.scalars(select(Invitation)).one()
    assert token not in (row.token_hash, str(row.id))
    assert len(row.token_hash) == 64


def test_a_link_ends_after_seven_days(session: Session) -> None:
    _, token = invite(session)
    late = now() + timedelta(days=7, seconds=1)
    assert invitations.owner_of(session, token, at=late - timedelta(hours=1)).name == "Ansa"
    with pytest.raises(BadToken):
        invitations.owner_of(session, token, at=late)


def test_a_new_link_ends_the_older_one(session: Session) -> None:
    user, old = invite(session)
    new = invitations.new_link(session, user)
    with pytest.raises(BadToken):
        invitations.owner_of(session, old)
    assert invitations.owner_of(session, new).id == user.id


def test_a_reset_keeps_the_old_password_until_the_link_is_used(session: Session) -> None:
    user = make_user(session, password=PASSWORD)
    token = invitations.new_link(session, user)
    assert matches(user.password_hash, PASSWORD)
    invitations.accept(session, token, name=user.name, password="another long password")
    assert not matches(user.password_hash, PASSWORD)
    acts = set(session.scalars(select(AuditEvent.action)))
    assert {"user.reset", "user.accept"} <= acts


def test_a_reset_revokes_tokens_and_says_so(session: Session) -> None:
    user = make_user(session, password=PASSWORD)
    _, plain = tokens.issue_token(session, user, "notebook")
    token = invitations.new_link(session, user)
    assert tokens.owner_of(session, plain)
    invitations.accept(session, token, name=user.name, password="another long password")
    with pytest.raises(SignInNeeded):
        tokens.owner_of(session, plain)
    event = session.scalars(select(AuditEvent).where(AuditEvent.action == "user.accept")).one()
    assert event.detail["tokens_revoked"] == 1


def test_a_first_password_keeps_the_tokens_made_before(session: Session) -> None:
    user, token = invite(session)
    _, plain = tokens.issue_token(session, user, "notebook")
    invitations.accept(session, token, name="Ansa", password=PASSWORD)
    assert tokens.owner_of(session, plain).user.id == user.id


@pytest.mark.parametrize("password", ["password12", "ansa@lehto.example"])
def test_a_guessable_password_is_refused(session: Session, password: str) -> None:
    _, token = invite(session)
    with pytest.raises(Invalid), session.begin_nested():
        invitations.accept(session, token, name="Ansa", password=password)


def test_a_weak_password_leaves_the_link_open(session: Session) -> None:
    user, token = invite(session)
    with pytest.raises(Invalid, match="at least 10"), session.begin_nested():
        invitations.accept(session, token, name="Ansa", password="short")
    assert user.password_hash is None
    assert invitations.owner_of(session, token).id == user.id


def test_a_disabled_person_gets_no_link_and_uses_none(session: Session) -> None:
    user, token = invite(session)
    users.disable_user(session, user)
    with pytest.raises(Forbidden):
        invitations.accept(session, token, name="Ansa", password=PASSWORD)
    with pytest.raises(Conflict, match="disabled"):
        invitations.new_link(session, user)


def test_nobody_is_invited_twice(session: Session) -> None:
    invite(session)
    with pytest.raises(Conflict, match="already an account"), session.begin_nested():
        invite(session)
