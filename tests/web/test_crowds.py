"""Entry links: consent first, one account per worker, and nothing for strangers to gain."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from html import unescape
from threading import Barrier
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import func, select, update

from tests.clients import form_token, open_client, open_clients
from tests.crowds import make_link
from tests.factories import Enter, make_assignment, make_study, make_user, sign_in, token_headers
from tests.services.test_training import pair
from tests.waiting import WATCHDOG
from topkapi.app.db.base import now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, AuditEvent, CrowdWorker, EntryLink, Query, Study, User
from topkapi.app.domain.crowds import NO_ASSIGNMENT, Arrival, Platform
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.accounts import tokens, users
from topkapi.app.services.accounts.erasing import erase_user
from topkapi.app.services.assignments.manual_assignment import assign_one, withdraw_many
from topkapi.app.services.crowds import entering
from topkapi.app.services.crowds.links import record_of, set_closed
from topkapi.app.services.training import practice

WORKER = {"PROLIFIC_PID": "5f1e", "SESSION_ID": "s1", "STUDY_ID": "st1"}


def linked(sessions: Sessions, **terms: Any) -> str:
    """Create a study of four queries and an entry link; return the token."""
    with sessions.write.begin() as session:
        study = make_study(session, slug="tulips", queries=4, documents=2, k=2, tools=(Tool.PAIRS,))
        return make_link(session, study, **terms)[1]


def consent(client: httpx.Client, token: str, values: dict[str, str]) -> dict[str, str]:
    """Open the consent page; return what its form sends, without a token if it has no form."""
    page = client.get(f"/enter/{token}", params=values)
    return {**values, "csrf_token": form_token(page) if 'name="csrf_token"' in page.text else ""}


def agree(client: httpx.Client, token: str, values: dict[str, str] = WORKER) -> httpx.Response:
    """Open the consent page and agree."""
    return client.post(f"/enter/{token}", data=consent(client, token, values))


@contextmanager
def browser(app: FastAPI, address: str = "127.0.0.1") -> Iterator[httpx.Client]:
    """Open another browser, without cookies."""
    with open_client(app, address=address) as client:
        yield client


def count(sessions: Sessions, table: type) -> int:
    with sessions.read() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def test_agreeing_makes_an_account_with_work_and_signs_it_in(
    client: httpx.Client, sessions: Sessions
) -> None:
    token = linked(sessions, share=2)
    page = client.get(f"/enter/{token}", params=WORKER)
    assert "<h1>Consent</h1>" in page.text
    assert page.headers["referrer-policy"] == "no-referrer"
    assert count(sessions, User) == 0
    reply = agree(client, token)
    assert reply.status_code == 303
    assert reply.headers["location"].startswith("/assignments/")
    assert client.get(reply.headers["location"]).status_code == 200
    with sessions.read() as session:
        worker = session.scalars(select(CrowdWorker)).one()
        user = session.get_one(User, worker.user_id)
        assert (worker.worker_id, worker.platform, worker.platform_study) == (
            *("5f1e", Platform.PROLIFIC, "st1"),
        )
        assert user.role is Role.ASSESSOR
        assert user.password_hash is None
        assert "5f1e" not in user.email + user.name
        assert session.scalar(select(func.count(Assignment.id))) == 2
        event = session.scalars(select(AuditEvent).where(AuditEvent.action == "crowd.enter")).one()
        assert event.user_id == user.id
        assert "5f1e" not in str(event.detail)
        link = session.get_one(EntryLink, worker.link_id)
        assert event.detail["consent"] == link.consent_digest[:12]


def test_the_same_worker_returns_to_the_same_place(
    app: FastAPI, client: httpx.Client, sessions: Sessions
) -> None:
    token = linked(sessions)
    first = agree(client, token).headers["location"]
    for worker, told in (("5f1e", False), ("other", True)):
        page = client.get(f"/enter/{token}", params={**WORKER, "PROLIFIC_PID": worker}).text
        assert ("An account is already signed in" in page) is told
    again = agree(client, token).headers["location"]  # the browser is known
    with browser(app) as other:
        elsewhere = agree(other, token).headers["location"]  # the submission is the same
    assert first == again == elsewhere
    assert (count(sessions, User), count(sessions, Assignment)) == (1, 1)


@pytest.mark.thorough
def test_a_worker_id_alone_opens_no_account(
    app: FastAPI, client: httpx.Client, sessions: Sessions
) -> None:
    token = linked(sessions)
    agree(client, token)
    with browser(app, "192.0.2.7") as stranger:
        for session_id in ("guess", ""):
            reply = agree(stranger, token, {**WORKER, "SESSION_ID": session_id})
            assert reply.status_code == 403
            assert "topkapi_session" not in stranger.cookies
        tries = [agree(stranger, token, {**WORKER, "SESSION_ID": f"g{n}"}) for n in range(5)]
        assert tries[-1].status_code == 429
        assert "retry-after" in tries[-1].headers
    assert agree(client, token).status_code == 303


def test_declining_and_looking_make_nothing(client: httpx.Client, sessions: Sessions) -> None:
    token = linked(sessions)
    assert client.get(f"/enter/{token}", params=WORKER).status_code == 200
    declined = client.get(f"/enter/{token}/declined")
    assert "Nothing was stored about you" in declined.text
    assert [count(sessions, table) for table in (User, CrowdWorker, Assignment)] == [0, 0, 0]


def test_a_preview_shows_the_text_and_takes_no_consent(
    client: httpx.Client, sessions: Sessions
) -> None:
    token = linked(sessions, platform=Platform.MTURK)
    preview = {"assignmentId": NO_ASSIGNMENT, "hitId": "H1", "workerId": "A1"}
    page = client.get(f"/enter/{token}", params={"assignmentId": NO_ASSIGNMENT})
    assert page.status_code == 200
    assert "This is a preview" in page.text
    assert "I agree" not in page.text
    client.get("/sign-in")
    assert agree(client, token, preview).status_code == 403  # no form, so no CSRF token
    assert count(sessions, User) == 0
    accepted = {"assignmentId": "3X", "hitId": "H1", "workerId": "A1"}
    assert agree(client, token, accepted).status_code == 303


ODD = ("", "a" * 65, "a b", "../x", "=cmd()", "ä", "<b>", "a\n", "'--", "-a", "\0", "a@b")


def test_odd_worker_ids_are_refused(client: httpx.Client, sessions: Sessions) -> None:
    token = linked(sessions, platform=Platform.OTHER)
    for worker in ODD:
        reply = client.get(f"/enter/{token}", params={"worker": worker})
        assert reply.status_code == 422
        assert "I agree" not in reply.text
    assert count(sessions, User) == 0


def test_a_form_with_an_odd_worker_id_is_refused(client: httpx.Client, sessions: Sessions) -> None:
    token = linked(sessions, platform=Platform.OTHER)
    sent = {"csrf_token": form_token(client.get(f"/enter/{token}", params={"worker": "w1"}))}
    for worker in ("x" * 65, "a b", "\0", ""):
        reply = client.post(f"/enter/{token}", data={**sent, "worker": worker})
        assert reply.status_code == 422
    big = {**sent, "worker": "w" * 40_000}
    assert client.post(f"/enter/{token}", data=big).status_code == 413
    assert client.post(f"/enter/{token}", data={"worker": "w1"}).status_code == 403
    assert count(sessions, User) == 0


def test_a_guessed_closed_or_archived_link_lets_nobody_in(
    app: FastAPI, client: httpx.Client, sessions: Sessions
) -> None:
    token = linked(sessions)
    assert client.get("/enter/guessed", params=WORKER).status_code == 403
    agree(client, token)
    with sessions.write.begin() as session:
        study = session.scalars(select(Study)).one()
        set_closed(session, study, session.scalars(select(EntryLink.id)).one(), closed=True)
    newcomer = {**WORKER, "PROLIFIC_PID": "other", "SESSION_ID": "s2"}
    with browser(app) as other:
        page = other.get(f"/enter/{token}", params=newcomer)
        assert page.status_code == 409
        assert "<h1>This study is full</h1>" in page.text
        other.get("/sign-in")
        assert agree(other, token, newcomer).status_code in (403, 409)
    assert agree(client, token).status_code == 303  # people who began may finish
    with sessions.write.begin() as session:
        session.scalars(select(Study)).one().archived_at = now()
    assert client.get(f"/enter/{token}", params=WORKER).status_code == 403
    assert count(sessions, User) == 1


def test_a_full_link_does_not_tell_who_takes_part(
    app: FastAPI, client: httpx.Client, sessions: Sessions
) -> None:
    token = linked(sessions, most_people=1)
    agree(client, token)
    pages, replies = [], []
    for worker in (WORKER["PROLIFIC_PID"], "0" * len(WORKER["PROLIFIC_PID"])):
        with browser(app) as stranger:
            values = {**WORKER, "PROLIFIC_PID": worker, "SESSION_ID": "guessed"}
            page = stranger.get(f"/enter/{token}", params=values)
            text = page.text.replace(f'value="{worker}"', "")
            pages.append((page.status_code, re.sub("[0-9a-f]{16,}", "", text)))
            reply = agree(stranger, token, values)
            replies.append((reply.status_code, re.sub("[0-9a-f]{16,}", "", reply.text)))
    assert pages[0] == pages[1]
    assert pages[0][0] == 409
    assert replies[0] == replies[1]
    assert agree(client, token).status_code == 303, "who has begun goes on"


def test_a_limit_of_people_and_the_work_that_is_left_are_limits(
    app: FastAPI, sessions: Sessions
) -> None:
    token = linked(sessions, most_people=2)
    statuses = []
    for name in ("a", "b", "c"):
        with browser(app) as client:
            values = {"PROLIFIC_PID": name, "SESSION_ID": name, "STUDY_ID": "s"}
            statuses.append(client.get(f"/enter/{token}", params=values).status_code)
            agree(client, token, values)
    assert statuses == [200, 200, 409]
    with sessions.write.begin() as session:
        study = session.scalars(select(Study)).one()
        _, wide = make_link(session, study, share=9)
    with browser(app) as client:
        assert agree(client, wide, {**WORKER, "PROLIFIC_PID": "d"}).status_code == 303
    with browser(app) as client:
        assert agree(client, wide, {**WORKER, "PROLIFIC_PID": "e"}).status_code == 409
    with sessions.read() as session:
        slots = session.execute(select(Assignment.query_id, Assignment.round)).all()
    assert sorted(slot[1] for slot in slots) == [0] * 4
    assert len(set(slots)) == 4


@pytest.mark.thorough
def test_who_comes_too_late_is_told_before_the_consent(
    app: FastAPI, client: httpx.Client, sessions: Sessions
) -> None:
    token = linked(sessions, share=4)
    late = {**WORKER, "PROLIFIC_PID": "late", "SESSION_ID": "s2"}
    with browser(app) as other:
        assert other.get(f"/enter/{token}", params=late).status_code == 200
        agree(client, token)
        page = other.get(f"/enter/{token}", params=late)
        assert (page.status_code, "<h1>This study is full</h1>" in page.text) == (409, True)
        reply = agree(other, token, late)
        assert (reply.status_code, "<h1>This study is full</h1>" in reply.text) == (409, True)
        assert "Nothing was stored" in reply.text
        with sessions.write.begin() as session:  # the first worker leaves: the work is free again
            session.execute(update(Assignment).values(created_at=now() - timedelta(days=2)))
        assert other.get(f"/enter/{token}", params=late).status_code == 200
    assert count(sessions, User) == 1


@pytest.mark.parametrize(
    ("terms", "needed"),
    [({"share": 4}, 1), ({"share": 3}, 2), ({"share": 9, "rounds": 3}, 3), ({"share": 1}, 4)],
)
def test_a_link_says_how_many_people_it_needs(
    sessions: Sessions, terms: dict[str, int], needed: int
) -> None:
    linked(sessions, most_people=3, **terms)
    with sessions.write.begin() as session:
        study, link = session.scalars(select(Study)).one(), session.scalars(select(EntryLink)).one()
        for number in range(needed):
            shown = record_of(session, study, link)
            assert (shown.people, shown.needed) == (number, needed - number)
            assert shown.falls_short == (needed > 3)
            if number < 3:
                entering.enter(session, link, study, Arrival(f"w{number}"), devices=())
        assert entering.is_full(session, link, study)


def test_a_consent_text_is_proposed_and_must_be_completed(
    client: httpx.Client, sessions: Sessions, enter: Enter
) -> None:
    linked(sessions)
    enter(role=Role.ADMIN)
    page = client.get("/studies/tulips/crowd").text
    proposed = page.partition('name="consent"')[2].partition(">")[2].partition("</textarea>")[0]
    assert "You compare two pages at a time" in proposed
    assert "lists of search results" not in proposed
    sent = {"consent": unescape(proposed), "code": "C0DE"}
    reply = client.post("/studies/tulips/crowd", data=sent)
    assert reply.status_code == 422
    assert "Replace [NAME, INSTITUTION AND E-MAIL ADDRESS] in the text." in unescape(reply.text)
    sent["consent"] = re.sub(r"\[[A-Z][^]]+\]", "forty-two", sent["consent"])
    assert client.post("/studies/tulips/crowd", data=sent).status_code == 201


def test_one_address_makes_few_accounts_at_a_time(app: FastAPI, sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        study = make_study(session, queries=1, documents=2, k=2)
        _, token = make_link(session, study, rounds=40)
    with browser(app, "192.0.2.9") as client:
        replies = []
        for number in range(31):
            client.cookies.clear()
            replies.append(agree(client, token, {"PROLIFIC_PID": f"w{number}"}).status_code)
    assert replies == [303] * 30 + [429]
    assert count(sessions, User) == 30


def test_the_account_is_for_judging_this_study_only(
    client: httpx.Client, sessions: Sessions
) -> None:
    agree(client, linked(sessions))
    page = client.get("/me")
    assert "Current password" not in page.text
    assert "Create token" not in page.text
    form = {"csrf_token": form_token(page), "name": "Real Name"}
    assert client.post("/me/name", data=form).status_code == 409
    assert client.post("/me/tokens", data=form).status_code == 422
    assert client.get("/studies/tulips").status_code == 403
    with sessions.write.begin() as session:
        user = session.scalars(select(User)).one()
        other = make_study(session, slug="roses", k=2)
        for act in (
            lambda: users.change_role(session, user, Role.ADMIN),
            lambda: tokens.issue_token(session, user, "x"),
            lambda: assign_one(
                session, other, email=user.email, query="q0", tool=Tool.PAIRS, round_number=1
            ),
        ):
            with pytest.raises(Exception, match="joined through"):
                act()


def test_crowd_workers_are_no_choice_for_other_work(
    app: FastAPI, client: httpx.Client, sessions: Sessions
) -> None:
    agree(client, linked(sessions))
    with sessions.write.begin() as session:
        admin = make_user(session, role=Role.ADMIN)
        make_user(session, name="Bao Trinh")
        worker = session.scalars(select(User).where(User.email.contains("crowd"))).one()
    with browser(app) as other:
        sign_in(app, other, admin)
        page = other.get("/studies/tulips/assign")
        choices = re.findall(r'name="people" value="(\d+)"', page.text)
        assert "Bao Trinh" in page.text
        assert str(worker.id) not in choices


def test_erasing_removes_the_worker_id(client: httpx.Client, sessions: Sessions) -> None:
    agree(client, linked(sessions))
    with sessions.write.begin() as session:
        user = session.scalars(select(User)).one()
        erase_user(session, user)
    with sessions.read() as session:
        worker = session.scalars(select(CrowdWorker)).one()
        assert worker.worker_id == f"erased-{worker.user_id}"
        assert worker.session_hash is None


TERMS = {"platform": "prolific", "consent": "Yes?", "code": "C1", "share": "2", "rounds": "1"}


@pytest.fixture
def admin(client: httpx.Client, sessions: Sessions, enter: Enter) -> httpx.Client:
    with sessions.write.begin() as session:
        make_study(session, slug="tulips")
    enter(role=Role.ADMIN)
    return client


ADDRESSES = (
    "http://app.prolific.com/",
    "javascript:alert(1)",
    "https://",
    "https://user:secret@evil.example/",
    "https://evil.example/ x",
    "//evil.example",
    "https://[",
    "https://a.example/\\x",
)
WRONG = [
    {"consent": "  "},
    {"share": "0"},
    {"rounds": "-1"},
    {"most_people": "1000000"},
    {"code": ""},
    {"redirect_url": "https://a.example"},
    *({"code": "", "redirect_url": url} for url in ADDRESSES),
]


@pytest.mark.thorough
def test_wrong_terms_are_refused(admin: httpx.Client, sessions: Sessions) -> None:
    for wrong in WRONG:
        reply = admin.post("/studies/tulips/crowd", data={**TERMS, **wrong})
        assert reply.status_code == 422, wrong
    page = f"{admin.base_url}/studies/tulips/crowd"
    unread = admin.post(page, data={**TERMS, "share": "abc"}, headers={"Referer": page}).text
    assert "share: must be a whole number." in unread
    assert 'href="/studies/tulips/crowd">Go back</a>' in unread
    assert count(sessions, EntryLink) == 0


def test_a_link_is_shown_once_and_stored_as_a_hash(admin: httpx.Client, sessions: Sessions) -> None:
    made = admin.post("/studies/tulips/crowd", data=TERMS)
    found = re.search(r"/enter/([\w-]+)\?PROLIFIC_PID=", made.text)
    assert made.status_code == 201
    assert found is not None
    assert found.group(1) not in admin.get("/studies/tulips/crowd").text
    with sessions.read() as session:
        link = session.scalars(select(EntryLink)).one()
        assert link.token_hash == tokens.hash_token(found.group(1))
        assert session.scalars(select(AuditEvent.action)).all() == ["entry_link.create"]
    for act, closed in (("close", True), ("open", False)):
        admin.post(f"/studies/tulips/crowd/{link.id}/{act}")
        with sessions.read() as session:
            assert (session.get_one(EntryLink, link.id).closed_at is not None) is closed
    with sessions.write.begin() as session:
        for query in session.scalars(select(Query)):
            make_assignment(session, query=query)
    assert "No work is left" in admin.post("/studies/tulips/crowd", data=TERMS).text


def test_a_redirect_is_a_link_to_the_platform(client: httpx.Client, sessions: Sessions) -> None:
    url = "https://app.prolific.com/submissions/complete?cc=C1"
    agree(client, linked(sessions, redirect_url=url))
    assert url not in client.get("/queue").text
    with sessions.write.begin() as session:
        session.scalars(select(Assignment)).one().finished_at = now()
    assert f'href="{url}"' in client.get("/queue").text


def test_a_program_makes_lists_and_closes_links(client: httpx.Client, sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        make_study(session, slug="tulips", queries=4, documents=2)
        client.headers.update(token_headers(session, make_user(session, role=Role.ADMIN)))
    url = "/api/v1/studies/tulips/entry-links"
    for wrong in [*WRONG, {"what": "1"}]:
        assert client.post(url, json={**TERMS, **wrong}).status_code == 422, wrong
    made = client.post(url, json=TERMS)
    assert made.status_code == 201
    found = re.search(r"/enter/([\w-]+)\?PROLIFIC_PID=", made.json()["url"])
    assert found is not None
    agree(client, found.group(1))
    (link,) = client.get(url).json()
    assert (link["people"], link["code"], link["closed_at"]) == (1, TERMS["code"], None)
    assert found.group(1) not in str(link)
    assert client.patch(f"{url}/{link['id']}", json={"closed": True}).json()["closed_at"]
    assert client.patch(f"{url}/{link['id']}", json={"closed": False}).json()["closed_at"] is None
    assert client.patch(f"{url}/999999", json={"closed": True}).status_code == 404
    with sessions.read() as session:
        actions = session.scalars(select(AuditEvent.action)).all()
    assert {"entry_link.create", "entry_link.close", "entry_link.open"} <= set(actions)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("terms", "taken"), [({"most_people": 1, "rounds": 9}, 1), ({"share": 4}, 4)]
)
def test_workers_who_race_for_the_last_slot_do_not_share_it(
    app: FastAPI, sessions: Sessions, terms: dict[str, int], taken: int
) -> None:
    token = linked(sessions, **terms)
    workers = [{"PROLIFIC_PID": f"w{number}", "SESSION_ID": f"s{number}"} for number in range(4)]
    with open_clients(app, len(workers)) as browsers, ThreadPoolExecutor(len(workers)) as pool:
        together = Barrier(len(workers))

        def race(client: httpx.Client, values: dict[str, str]) -> int:
            sent = consent(client, token, values)
            together.wait(WATCHDOG)  # everybody has seen that there is a slot
            return client.post(f"/enter/{token}", data=sent).status_code

        statuses = sorted(pool.map(race, browsers, workers))
    assert statuses == [303, 409, 409, 409]
    assert (count(sessions, User), count(sessions, CrowdWorker)) == (1, 1)
    assert count(sessions, Assignment) == taken


@pytest.mark.both
def test_a_worker_whose_queries_ask_nothing_gets_the_code_at_once(
    client: httpx.Client, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        study = make_study(session, slug="tulips", queries=2, documents=1, k=2, tools=(Tool.PAIRS,))
        token = make_link(session, study, share=2)[1]
    reply = agree(client, token)
    page = client.get(reply.headers["location"])
    assert "you have finished" in page.text
    assert "C0DE" in page.text


OTHER = {"PROLIFIC_PID": "6a2f", "SESSION_ID": "s2"}


def qualifying(sessions: Sessions, **terms: Any) -> str:
    """Create a link to a study with one practice question that must be answered right."""
    token = linked(sessions, **terms)
    with sessions.write.begin() as session:
        make_user(session, role=Role.ADMIN, name="Maren Oduya", email="maren@example.org")
        study = session.scalars(select(Study)).one()
        settings = StudySettings(k=2, training=True, training_needed=1, training_tries=1)
        study.settings = settings
        practice.add_question(session, study, pair())
    return token


def fail(client: httpx.Client) -> str:
    """Answer the only practice question wrong, and return the page after it."""
    sent = {"csrf_token": form_token(client.get("/training/tulips"))}
    assert client.post("/training/tulips/guidelines", data=sent).status_code == 303
    page = client.get("/training/tulips").text
    item = re.findall(r'name="item" value="(\d+)"', page)[0]
    answer = {**sent, "item": item, "answer": "right"}
    assert client.post("/training/tulips/answers", data=answer).status_code == 303
    return client.get("/training/tulips").text


@pytest.mark.thorough
@pytest.mark.parametrize("end", ["SCREEN-7", "https://pay.example/out", ""])
def test_a_failed_qualification_ends_the_part_and_frees_the_place(
    app: FastAPI, client: httpx.Client, sessions: Sessions, end: str
) -> None:
    token = qualifying(sessions, most_people=1, share=4, screen_out=end)
    assert agree(client, token).status_code == 303
    with browser(app) as second:
        assert agree(second, token, OTHER).status_code != 303, "the only place is taken"
    for page in (fail(client), client.get("/queue").text):
        assert "Maren" not in page
        assert "maren@example.org" not in page
        assert "your part has ended" in page
        assert (end or "return your submission") in page
        assert "C0DE" not in page
    with browser(app) as second:
        assert agree(second, token, OTHER).status_code == 303
    with sessions.read() as session:
        held = session.scalars(select(Assignment).where(Assignment.withdrawn_at.is_(None))).all()
        assert len(held) == 4
        assert len({work.user_id for work in held}) == 1


def test_a_worker_whose_work_was_withdrawn_does_not_wait(
    client: httpx.Client, sessions: Sessions
) -> None:
    token = linked(sessions, share=2, screen_out="SCREEN-7")
    agree(client, token)
    with sessions.write.begin() as session:
        study = session.scalars(select(Study)).one()
        ids = session.scalars(select(Assignment.id)).all()
        withdraw_many(session, study, ids)
    again = client.get(agree(client, token).headers["location"]).text
    assert "your part has ended" in again
    assert "SCREEN-7" in again
    assert "No work yet" not in again


@pytest.mark.thorough
@pytest.mark.parametrize(("most_people", "share"), [(1, 1), (None, 4)])
def test_a_place_that_was_left_is_taken_by_the_next(
    app: FastAPI, client: httpx.Client, sessions: Sessions, most_people: int | None, share: int
) -> None:
    token = linked(sessions, most_people=most_people, share=share)
    agree(client, token)
    for hours, status in ((23, 409), (25, 303)):
        with sessions.write.begin() as session:
            for work in session.scalars(select(Assignment)):
                work.created_at = now() - timedelta(hours=hours)
        with browser(app) as second:
            page = second.get(f"/enter/{token}", params=OTHER)
            assert (page.status_code == 200) is (status == 303) or most_people is None
            assert (agree(second, token, OTHER).status_code == 303) is (status == 303)
    with sessions.read() as session:
        held = session.scalars(select(Assignment).where(Assignment.withdrawn_at.is_(None))).all()
        assert len(held) == share
