import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.cases import each_case
from tests.factories import PASSWORD, make_user
from topkapi.app.db.models import AuditEvent, User
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import Conflict, Invalid, NotFound, SignInNeeded
from topkapi.app.services.accounts import passwords, tokens, users


def acts(session: Session) -> list[tuple[str, str]]:
    session.flush()
    rows = session.scalars(select(AuditEvent).order_by(AuditEvent.id))
    return [(row.action, row.subject) for row in rows]


def create(session: Session, email: str = "Chidi@Eze.example", **given: str) -> User:
    return users.create_user(
        session,
        email=email,
        name=given.get("name", " Chidi  Eze "),
        role=Role.ASSESSOR,
        password=given.get("password", PASSWORD),
    )


def test_an_account_is_made_tidily_and_noted(session: Session) -> None:
    user = create(session)
    assert (user.email, user.name) == ("chidi@eze.example", "Chidi Eze")
    assert passwords.matches(user.password_hash, PASSWORD)
    assert PASSWORD not in str(user.password_hash)
    assert acts(session) == [("user.create", "chidi@eze.example")]


def test_an_address_has_one_account_whatever_its_case(session: Session) -> None:
    create(session)
    with pytest.raises(Conflict, match="already"):
        create(session, "CHIDI@eze.example")


@each_case("email", ["", "chidi", "a b@c.d", "x@", "@y", "a@b@c", "a" * 251 + "@b.c"])
def test_what_is_no_address_is_refused(session: Session, email: str) -> None:
    with pytest.raises(Invalid) as refusal:
        create(session, email)
    assert refusal.value.field == "email"


@pytest.mark.parametrize(
    ("field", "value"), [("name", "  "), ("password", "short"), ("password", "x" * 1001)]
)
def test_other_wrong_values_are_refused_by_name(session: Session, field: str, value: str) -> None:
    with pytest.raises(Invalid) as refusal:
        create(session, **{field: value})
    assert refusal.value.field == field


def test_a_new_password_ends_old_sign_ins(session: Session) -> None:
    user = create(session)
    before = user.session_version
    users.set_password(session, user, "another long password")
    assert user.session_version > before
    assert not passwords.matches(user.password_hash, PASSWORD)
    assert acts(session)[-1] == ("user.set_password", user.email)


def test_disabling_ends_sign_ins_and_enabling_does_not_bring_them_back(session: Session) -> None:
    user = create(session)
    before = user.session_version
    users.disable_user(session, user)
    users.enable_user(session, user)
    assert user.disabled_at is None
    assert user.session_version > before
    assert [action for action, _ in acts(session)][1:] == ["user.disable", "user.enable"]


def test_the_last_administrator_stays(session: Session) -> None:
    first = make_user(session, role=Role.ADMIN)
    with pytest.raises(Conflict, match="last administrator"):
        users.disable_user(session, first)
    with pytest.raises(Conflict, match="last administrator"):
        users.change_role(session, first, Role.ASSESSOR)
    make_user(session, role=Role.ADMIN)
    users.change_role(session, first, Role.RESEARCHER, actor_id=first.id)
    assert first.role is Role.RESEARCHER
    event = session.scalars(select(AuditEvent)).one()
    assert event.detail == {"before": "admin", "after": "researcher"}
    assert event.user_id == first.id


def test_an_unknown_person_is_named(session: Session) -> None:
    with pytest.raises(NotFound, match=r"nobody@example\.org"):
        users.user_of_email(session, "Nobody@example.org")


def test_a_token_is_shown_once_and_stored_as_a_hash(session: Session) -> None:
    user = make_user(session)
    row, plain = tokens.issue_token(session, user, "notebook")
    assert plain not in (row.token_hash, row.name)
    assert tokens.owner_of(session, plain).user.id == user.id


def test_a_revoked_token_is_refused(session: Session) -> None:
    row, plain = tokens.issue_token(session, make_user(session), "notebook")
    tokens.revoke_token(session, row.id)
    with pytest.raises(SignInNeeded):
        tokens.owner_of(session, plain)
    assert [action for action, _ in acts(session)] == ["token.issue", "token.revoke"]


def test_the_token_of_a_disabled_person_is_refused(session: Session) -> None:
    user = make_user(session)
    _, plain = tokens.issue_token(session, user, "notebook")
    users.disable_user(session, user)
    with pytest.raises(SignInNeeded):
        tokens.owner_of(session, plain)


@pytest.mark.parametrize("how", ["password", "disable"])
def test_tokens_end_with_a_new_password_and_with_disabling(session: Session, how: str) -> None:
    user = make_user(session, password=PASSWORD)
    _, plain = tokens.issue_token(session, user, "notebook")
    _, others = tokens.issue_token(session, make_user(session), "notebook")
    if how == "password":
        users.set_password(session, user, "another long password")
    else:
        users.disable_user(session, user)
        users.enable_user(session, user)
    with pytest.raises(SignInNeeded):
        tokens.owner_of(session, plain)
    assert tokens.owner_of(session, others)
    event = session.scalars(select(AuditEvent).where(AuditEvent.subject == user.email)).all()
    assert {"tokens_revoked": 1} in [row.detail for row in event]
    assert "token.revoke" in dict(acts(session))


def test_signing_out_ends_no_token(session: Session) -> None:
    user = make_user(session)
    _, plain = tokens.issue_token(session, user, "notebook")
    users.end_sessions(user)
    assert tokens.owner_of(session, plain).user.id == user.id


@pytest.mark.parametrize("password", ["password12", "chidi@eze.example", "Chidi Eze 1"])
def test_a_guessable_password_is_refused_for_new_accounts_and_changes(
    session: Session, password: str
) -> None:
    user = create(session)
    with pytest.raises(Invalid):
        users.set_password(session, user, password)
    with pytest.raises(Invalid):
        create(session, "chidi2@eze.example", password=password)


@pytest.mark.parametrize("name", ["", " ", "x" * 101])
def test_a_token_has_a_name(session: Session, name: str) -> None:
    with pytest.raises(Invalid):
        tokens.issue_token(session, make_user(session), name)


def test_an_unknown_token_cannot_be_revoked(session: Session) -> None:
    with pytest.raises(NotFound):
        tokens.revoke_token(session, 77)
