"""Settings and guidelines in the browser and through the API."""

import re

import httpx
import pytest
from sqlalchemy import select

from tests.factories import Enter, make_assignment, make_study, queries_of, token_headers
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import AuditEvent, Study, User
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.domain.study import SETTINGS, Grade, StudySettings

S = "/studies/tulips"


@pytest.fixture
def admin(sessions: Sessions, enter: Enter) -> User:
    with sessions.write.begin() as session:
        make_study(session, slug="tulips", queries=2, k=3, check_share=0.1, budget=40)
    return enter(role=Role.ADMIN)


def assign(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        study = session.scalars(select(Study)).one()
        make_assignment(session, query=queries_of(session, study)[0])


def study_of(sessions: Sessions) -> Study:
    with sessions.read() as session:
        return session.scalars(select(Study)).one()


def typed(page: str) -> dict[str, list[str]]:
    """Return what the browser would submit of a page's settings form."""
    found: dict[str, list[str]] = {}
    for tag in re.findall(r"<input [^>]*>", page):
        name, value = re.search(r'name="([^"]*)"', tag), re.search(r'value="([^"]*)"', tag)
        if name is None or " disabled" in tag:
            continue
        if 'type="checkbox"' not in tag or " checked" in tag:
            found.setdefault(name[1], []).append(value[1] if value else "")
    for name_, body in re.findall(r'<textarea[^>]* name="(\w+)"[^>]*>(.*?)</textarea>', page, re.S):
        found[name_] = [body]
    for head, body in re.findall(r"<select ([^>]*)>(.*?)</select>", page, re.S):
        chosen = re.search(r'value="(\w[\w-]*)" selected', body)
        if " disabled" not in head and chosen:
            found[re.search(r'name="(\w+)"', head)[1]] = [chosen[1]]  # type: ignore[index]
    return found


@pytest.mark.usefixtures("admin")
def test_a_form_sent_as_it_is_changes_nothing(client: httpx.Client, sessions: Sessions) -> None:
    before = study_of(sessions).settings
    form = typed(client.get(f"{S}/settings").text)
    reply = client.post(f"{S}/settings", data=form)
    assert (reply.status_code, reply.headers["location"]) == (303, f"{S}/settings?saved=true")
    assert "Saved." in client.get(reply.headers["location"]).text
    assert study_of(sessions).settings == before
    with sessions.read() as session:
        assert session.scalars(select(AuditEvent)).all() == []


@pytest.mark.usefixtures("admin")
def test_every_setting_survives_its_form(client: httpx.Client, sessions: Sessions) -> None:
    other = StudySettings(
        k=7,
        tools=tuple(Tool),
        sorter="robust",
        **{name: not each.default for name, each in SETTINGS.items() if each.kind is bool},
        best_of=3,
        recheck=2,
        check_share=0.125,
        attention_every=9,
        budget=90,
        stop_at=0.95,
        pair_limit=2,
        goal="members",
        prior="bm25",
        grades=(Grade("no", "useless: not at all"), Grade("yes")),
        idle_seconds=45,  # seconds: a setting
        rest_minutes=30,
        people_queries=20,
        lists_pairs="random",
        lists_size=4,
        training_needed=2,
        training_tries=5,
        training_contact="Ansa",
    )
    same = [name for name, each in SETTINGS.items() if getattr(other, name) == each.default]
    assert same == []
    with sessions.write.begin() as session:
        session.scalars(select(Study)).one().settings = other
    pages = [(f"{S}/settings", f"{S}/settings"), (f"{S}/training", f"{S}/training")]
    forms = [(post, typed(client.get(page).text)) for page, post in pages]
    with sessions.write.begin() as session:
        session.scalars(select(Study)).one().settings = StudySettings()
    for post, form in forms:
        del form["seen"]
        reply = client.post(post, data=form | {"seen": typed(client.get(post).text)["seen"]})
        assert reply.status_code == 303
    assert study_of(sessions).settings == other


def test_settings_are_changed_and_the_act_is_noted(
    client: httpx.Client, admin: User, sessions: Sessions
) -> None:
    form = typed(client.get(f"{S}/settings").text)
    form |= {
        "k": ["4"],
        "tools": ["pairs", "grades"],
        "check_share": ["0.025"],
        "budget": [""],
        "grades": ["no: useless\nyes"],
        "name": ["Tulips in vases"],
    }
    del form["allow_ties"]
    assert client.post(f"{S}/settings", data=form).status_code == 303
    found = study_of(sessions).settings
    assert (found.k, found.tools, found.check_share) == (4, (Tool.PAIRS, Tool.GRADES), 0.025)
    assert (found.allow_ties, found.budget) == (False, None)
    assert found.grades == (Grade("no", "useless"), Grade("yes"))
    with sessions.read() as session:
        act = session.scalars(select(AuditEvent)).one()
    assert (act.action, act.user_id, act.detail["k"]) == ("study.settings", admin.id, "3 to 4")
    assert "Tulips in vases" in client.get(S).text


@pytest.mark.usefixtures("admin")
def test_what_is_wrong_is_said_and_what_was_typed_stays(client: httpx.Client) -> None:
    form = typed(client.get(f"{S}/settings").text)
    reply = client.post(f"{S}/settings", data=form | {"k": ["four"], "name": ["Kept"]})
    assert reply.status_code == 422
    assert "Top k: &#39;four&#39; is not a whole number." in reply.text
    assert 'value="four"' in reply.text
    assert 'value="Kept"' in reply.text
    assert client.post(f"{S}/settings", data=form | {"tools": []}).status_code == 422


@pytest.mark.usefixtures("admin")
def test_fixed_settings_are_shown_and_refused(client: httpx.Client, sessions: Sessions) -> None:
    early = typed(client.get(f"{S}/settings").text)
    assign(sessions)
    page = client.get(f"{S}/settings").text
    assert "Work is assigned." in page
    form = typed(page)
    assert "k" not in form
    assert "whole" not in form
    reply = client.post(f"{S}/settings", data=form | {"idle_seconds": ["45"]})
    assert reply.status_code == 303
    assert study_of(sessions).settings.idle_seconds == 45
    late = early | {"k": ["7"], "seen": typed(client.get(f"{S}/settings").text)["seen"]}
    refused = client.post(f"{S}/settings", data=late)
    assert refused.status_code == 409
    assert "depends on k, and all assessors of a study must judge with the same" in refused.text
    assert study_of(sessions).settings.k == 3
    again = client.post(f"{S}/settings", data=early)
    assert (again.status_code, "Open the page as it is now" in again.text) == (409, True)


@pytest.mark.usefixtures("admin")
def test_guidelines_are_written_and_read(client: httpx.Client, sessions: Sessions) -> None:
    seen = typed(client.get(f"{S}/guidelines/edit").text)["seen"]
    text = "# New\r\n\r\n<script>alert(1)</script> & more"
    reply = client.post(f"{S}/guidelines", data={"guidelines": text, "seen": seen})
    assert (reply.status_code, reply.headers["location"]) == (303, f"{S}/guidelines")
    page = client.get(f"{S}/guidelines").text
    assert "<h1>New</h1>" in page
    assert "<script>alert" not in page
    form = client.get(f"{S}/guidelines/edit").text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more</textarea>" in form
    stale = client.post(f"{S}/guidelines", data={"guidelines": "Mine", "seen": seen})
    assert stale.status_code == 409
    assert ">\nMine</textarea>" in stale.text
    assert study_of(sessions).guidelines == "# New\n\n<script>alert(1)</script> & more"


def test_a_program_changes_them_too(client: httpx.Client, admin: User, sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        headers = token_headers(session, admin)
    url = f"/api/v1{S}"
    body = {"name": "Vases", "guidelines": "Look.", "settings": {"k": 6}}
    assert client.patch(url, json=body, headers=headers).status_code == 200
    found = client.get(url, headers=headers).json()
    assert (found["name"], found["guidelines"], found["k"]) == ("Vases", "Look.", 6)
    refused = client.patch(url, json={"settings": {"k": "x"}}, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid")
    assign(sessions)
    fixed = client.patch(url, json={"settings": {"k": 7}}, headers=headers)
    assert (fixed.status_code, fixed.json()["code"]) == (409, "conflict")
