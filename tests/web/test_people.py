import re
from collections.abc import Iterator
from datetime import timedelta

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import select

from tests.clients import form_token, open_client
from tests.factories import (
    PASSWORD,
    Enter,
    make_assignment,
    make_study,
    make_user,
    queries_of,
    sign_in,
    token_headers,
    work_on,
)
from tests.services.test_dashboard import usual
from topkapi.app.db.base import now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import ApiToken, Assignment, AuditEvent, Study, User
from topkapi.app.db.queries.accounts.people import SORTS
from topkapi.app.domain.enums import Role
from topkapi.app.services import audit
from topkapi.app.services.accounts import invitations
from topkapi.app.web.audit.sentences import SENTENCES, sentence_of
from topkapi.app.web.common.cookies import CSRF_HEADER


@pytest.fixture
def admin(enter: Enter) -> User:
    """Create an administrator and sign in."""
    return enter(role=Role.ADMIN, name="Maren Oduya", email="maren@x.example")


@pytest.fixture
def stranger(app: FastAPI) -> Iterator[httpx.Client]:
    """Provide a second browser, not signed in."""
    with open_client(app) as client:
        yield client


def invite(client: httpx.Client, email: str = "ansa@x.example") -> str:
    reply = client.post("/people", data={"email": email, "name": "Ansa", "role": "assessor"})
    assert reply.status_code == 201, reply.text
    return link_in(reply)


def link_in(reply: httpx.Response) -> str:
    (found,) = re.findall(r'value="(http[^"]+/invitations/[^"]+)"', reply.text)
    assert isinstance(found, str)
    return found


def accept(browser: httpx.Client, url: str, **form: str) -> httpx.Response:
    return browser.post(url, data={"csrf_token": form_token(browser.get(url)), **form})


@pytest.mark.usefixtures("admin")
def test_an_invited_person_sets_a_password_and_is_in(
    client: httpx.Client, stranger: httpx.Client
) -> None:
    url = invite(client)
    reply = accept(stranger, url, name="Ansa Lehto", password=PASSWORD)
    assert (reply.status_code, reply.headers["location"]) == (303, "/")
    assert "Ansa Lehto" in stranger.get("/").text
    stranger.cookies.clear()
    assert stranger.get(url).status_code == 403


@pytest.mark.usefixtures("admin")
def test_a_weak_password_is_asked_for_again(
    client: httpx.Client, stranger: httpx.Client, sessions: Sessions
) -> None:
    url = invite(client)
    reply = accept(stranger, url, name="Ansa", password="short")
    assert reply.status_code == 422
    assert "at least 10 characters" in reply.text
    assert accept(stranger, url, name="Ansa", password=PASSWORD).status_code == 303
    with sessions.read() as session:
        assert (
            session.scalars(select(User).where(User.email == "ansa@x.example")).one().password_hash
        )


@pytest.mark.usefixtures("admin")
def test_the_address_of_a_link_is_not_passed_on(
    client: httpx.Client, stranger: httpx.Client
) -> None:
    assert stranger.get(invite(client)).headers["referrer-policy"] == "no-referrer"


@pytest.mark.usefixtures("admin")
def test_a_form_with_a_mistake_is_shown_again_with_what_was_typed(
    client: httpx.Client, sessions: Sessions
) -> None:
    reply = client.post("/people", data={"email": "no address", "name": "Bao", "role": "admin"})
    assert reply.status_code == 422
    assert 'value="no address"' in reply.text
    assert "is not an e-mail address" in reply.text
    invite(client)
    again = client.post(
        "/people", data={"email": "ansa@x.example", "name": "A", "role": "assessor"}
    )
    assert again.status_code == 409
    assert "already an account for ansa@x.example" in again.text
    with sessions.read() as session:
        assert len(session.scalars(select(User)).all()) == 2


@pytest.mark.usefixtures("admin")
def test_people_are_found_sorted_and_counted(client: httpx.Client) -> None:
    for name in ("bao@x.example", "chidi@x.example"):
        invite(client, name)
    page = client.get("/people", params={"search": "BAO"}).text
    assert "bao@x.example" in page
    assert "chidi@x.example" not in page
    assert "1 to 1 of 1 person" in page
    assert "Nobody found" in client.get("/people", params={"search": "%"}).text
    descending = client.get("/people", params={"sort": "-email"}).text
    assert descending.index("maren@x.example") < descending.index("bao@x.example")
    assert client.get("/people", params={"sort": "password_hash"}).status_code == 422
    for name in SORTS:
        assert client.get("/people", params={"sort": f"-{name}"}).status_code == 200


def test_role_disabling_and_enabling_by_the_page(
    admin: User, client: httpx.Client, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        person = make_user(session)
    for act, form in (("role", {"role": "researcher"}), ("disable", {}), ("enable", {})):
        reply = client.post(f"/people/{person.id}/{act}", data=form)
        assert reply.status_code == 303, reply.text
    with sessions.read() as session:
        assert session.get_one(User, person.id).role is Role.RESEARCHER
        acts = session.scalars(
            select(AuditEvent.action).where(AuditEvent.user_id == admin.id)
        ).all()
    assert set(acts) == {"user.change_role", "user.disable", "user.enable"}


def test_a_token_is_shown_once_and_revoked_for_its_owner_only(
    admin: User, client: httpx.Client, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        person = make_user(session)
    reply = client.post(f"/people/{person.id}/tokens", data={"name": "notebook"})
    token = re.search(r"topkapi_[\w-]+", reply.text)
    assert token
    assert token.group() not in client.get(f"/people/{person.id}").text
    headers = {"Authorization": f"Bearer {token.group()}"}
    assert client.get("/api/v1/me", headers=headers).json()["email"] == person.email
    with sessions.read() as session:
        row = session.scalars(select(ApiToken)).one()
    assert client.post(f"/people/{admin.id}/tokens/{row.id}/revoke").status_code == 404
    assert client.post(f"/people/{person.id}/tokens/{row.id}/revoke").status_code == 303
    assert client.get("/api/v1/me", headers=headers).status_code == 401


@pytest.mark.usefixtures("admin")
def test_a_reset_by_link_revokes_tokens_and_the_pages_say_so(
    client: httpx.Client, stranger: httpx.Client, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        person = make_user(session, password=PASSWORD)
        headers = token_headers(session, person)
    assert "revokes every token" in client.get(f"/people/{person.id}").text
    link = link_in(client.post(f"/people/{person.id}/link"))
    assert "revokes all your API tokens" in stranger.get(link).text
    assert stranger.get("/api/v1/me", headers=headers).status_code == 200
    accept(stranger, link, name="Ansa", password="another long password")
    assert stranger.get("/api/v1/me", headers=headers).status_code == 401
    log = client.get("/audit", params={"subject": person.email}).text
    assert "Revoked the token “test”" in log


@pytest.mark.usefixtures("admin")
def test_a_link_does_not_replace_the_one_time_code(
    client: httpx.Client, stranger: httpx.Client, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        person = make_user(session, role=Role.ADMIN, password=PASSWORD)
        person.totp_salt = "a salt of 22 letters.."
    link = link_in(client.post(f"/people/{person.id}/link"))
    accept(stranger, link, name="Maren", password="another long password")
    assert stranger.get("/").headers["location"].startswith("/sign-in")


def test_writes_need_the_token_of_our_own_pages(admin: User, client: httpx.Client) -> None:
    client.headers.pop(CSRF_HEADER)
    assert client.post(f"/people/{admin.id}/disable").status_code == 403


@pytest.mark.thorough
def test_the_audit_log_is_filtered_and_paged(
    admin: User, client: httpx.Client, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        for number in range(60):
            invitations.invite(
                session,
                email=f"p{number}@x.example",
                name="Ansa",
                role=Role.ASSESSOR,
                actor_id=admin.id,
            )
    page = client.get("/audit", params={"action": "user.invite", "person": str(admin.id)}).text
    assert "1 to 50 of 60 actions" in page
    assert "user.create" not in re.sub(r"<select.*?</select>", "", page, flags=re.DOTALL)
    assert (
        "51 to 60 of 60 actions"
        in client.get("/audit", params={"action": "user.invite", "page": "99"}).text
    )
    one = client.get("/audit", params={"subject": "p7@x.example"}).text
    assert "1 to 2 of 2 actions" in one
    assert "Nothing found" in client.get("/audit", params={"person": "0"}).text
    with sessions.write.begin() as session:
        audit.record(session, admin.id, "user.sign_in", "p7@x.example")
    for action, count in (("", 2), ("all", 3), ("user.sign_in", 1)):
        page = client.get("/audit", params={"subject": "p7@x.example", "action": action}).text
        assert f"1 to {count} of {count} action" in page
        assert ("Show sign-ins" in page) is (not action)
    assert "Created the account of Ansa (assessor)" in one
    kinds = {*SENTENCES, "crowd.enter", "study.rebalance", "user.invite", "user.of_long_ago"}
    details: tuple[dict[str, object], ...] = ({}, {"assessors": "many", "person": None})
    with sessions.write.begin() as session:
        for action in kinds:
            for detail in details:
                session.add(AuditEvent(action=action, subject="p7@x.example", detail=detail))
    for action in kinds:
        page = client.get("/audit", params={"action": action, "person": "0"}).text
        assert "1 to 2 of 2 actions" in page, action


def test_the_audit_log_writes_names_as_they_are_and_settings_in_words() -> None:
    flagged = sentence_of("flag.add", "flowers", {"query": "q_12"}, {})
    downloaded = sentence_of("study.download", "flowers", {"file": "flowers.qrels_prefs"}, {})
    changed = sentence_of("study.settings", "flowers", {"stop_at": [], "k": []}, {})
    assert flagged == "Flagged a question of q_12"
    assert downloaded == "Downloaded flowers.qrels_prefs"
    assert changed == "Changed settings: stop at, k"


@pytest.mark.parametrize(
    ("public", "host", "start"),
    [
        ("", "localhost:8000", "http://localhost:8000/invitations/"),
        ("", "evil.example", "/invitations/"),
        ("https://labels.example", "evil.example", "https://labels.example/invitations/"),
    ],
)
def test_a_link_does_not_lead_where_the_request_says(
    app: FastAPI, sessions: Sessions, public: str, host: str, start: str
) -> None:
    app.state.settings = app.state.settings.model_copy(update={"public_url": public})
    with sessions.write.begin() as session:
        admin = make_user(session, role=Role.ADMIN)
        token = token_headers(session, admin)
    with open_client(app) as client:
        sign_in(app, client, admin)
        form = {"email": "new@example.org", "name": "New", "role": "assessor"}
        page = client.post("/people", data=form, headers={"Host": host})
        headers = {"Host": host, **token}
        made = client.post(f"/api/v1/users/{admin.id}/link", headers=headers).json()
    assert f'value="{start}' in page.text
    assert made["url"].startswith(start)


@pytest.mark.usefixtures("admin")
def test_a_person_is_erased_after_the_address_was_entered(
    client: httpx.Client, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        person = make_user(session, email="ansa@x.example", name="Ansa Lehto")
    path = f"/people/{person.id}"
    refused = client.post(f"{path}/erase", data={"email": "bao@x.example"})
    assert refused.status_code == 409
    assert "enter the e-mail address ansa@x.example" in refused.text
    assert client.post(f"{path}/erase", data={"email": "ansa@x.example"}).status_code == 303
    page = client.get(path).text
    assert "Ansa" not in page
    assert f"person-{person.id}@erased.invalid" in page
    assert re.search("Erase permanently|>Enable<", page) is None


@pytest.mark.usefixtures("admin")
def test_only_what_a_person_needs_is_a_primary_button(
    client: httpx.Client, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        free, busy = (make_user(session, password=PASSWORD) for _ in range(2))
        study = make_study(session)
        make_assignment(session, user=busy, query=queries_of(session, study)[0])

    def primary(person: User) -> list[str]:
        page = client.get(f"/people/{person.id}").text
        return re.findall(r'btn--primary"[^>]*>\s*([^<]*?)\s*<', page)

    assert primary(free) == ["Assign work"]
    assert primary(busy) == []
    assert client.get(f"/people/{busy.id}").text.count("No warning") == 1
    with sessions.write.begin() as session:
        session.get_one(Study, study.id).created_at -= timedelta(days=3)
    page = client.get(f"/people/{busy.id}").text
    assert primary(busy) == ["Check the work"]
    assert "&amp;state=open" in page
    assert page.count("as not begun") == 1
    assert "No warning" not in page


@pytest.mark.usefixtures("admin")
def test_who_is_slow_and_has_finished_is_checked_in_finished_work(
    client: httpx.Client, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        study = make_study(session, queries=9)
        usual(session, study)
        slow = make_user(session, password=PASSWORD)
        sums = {"answered": 30, "active_ms": 1_800_000, "last_entry_at": now()}
        row = work_on(session, study, slow, 5, **sums)

    def checked() -> str:
        page = client.get(f"/people/{slow.id}").text
        assert "60.0 s per answer" in page
        found = re.search(r'state=(\w+)">Check the work', page)
        return found[1] if found else page

    assert checked() == "open"
    with sessions.write.begin() as session:
        session.get_one(Assignment, row.id).finished_at = now()
    assert checked() == "finished"
