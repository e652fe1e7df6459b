"""Judging pages over HTTP: responses, prefetch, refusals."""

import json
import re
from html import unescape
from typing import Any

import httpx
import pytest

from tests.factories import Enter, make_assignment
from topkapi.app.db.base import now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, JudgmentRow, Query, Study, TimerEvent, User
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.pairs.answers import Answer

pytestmark = pytest.mark.both

HTMX = {"HX-Request": "true"}


def prefetched(text: str) -> dict[str, str]:
    """Return the next question by answer, from the prefetched ones in ``text``."""
    found: dict[str, str] = {}
    for part in text.split("<template ")[1:]:
        answers = json.loads(unescape(part.split('"')[1]))
        found |= dict.fromkeys(answers, part.partition(">")[2].partition("</template>")[0])
    return found


@pytest.fixture
def ansa(enter: Enter) -> User:
    return enter()


@pytest.fixture
def work(sessions: Sessions, ansa: User) -> Assignment:
    """Return work of the person who is signed in."""
    with sessions.write.begin() as session:
        return make_assignment(session, user=ansa)


@pytest.fixture
def url(work: Assignment) -> str:
    """Return the address of the judging page."""
    return f"/assignments/{work.id}"


def field(text: str, name: str) -> str:
    return text.partition(f'name="{name}" value="')[2].partition('"')[0]


def form_of(text: str, **more: Any) -> dict[str, Any]:
    return {name: field(text, name) for name in ("position", "left", "right")} | more


def test_a_page_for_people_and_a_fragment_for_scripts(client: httpx.Client, url: str) -> None:
    page = client.get(url)
    assert page.status_code == 200
    assert "<!doctype html>" in page.text
    assert page.text.count('sandbox="allow-same-origin"') == page.text.count("<iframe") == 2
    assert "style=" not in page.text
    assert "<script>" not in page.text
    fragment = client.get(url, headers=HTMX)
    assert "<!doctype" not in fragment.text
    assert form_of(fragment.text) == form_of(page.text)


def test_an_answer_leads_to_the_next_question(
    client: httpx.Client, url: str, sessions: Sessions
) -> None:
    form = form_of(client.get(url).text, answer="left", active_ms=5, note="  why  ")
    plain = client.post(f"{url}/judgments", data=form)
    assert plain.status_code == 303
    assert plain.headers["location"] == url
    again = client.post(f"{url}/judgments", data=form, headers=HTMX)
    assert again.status_code == 200
    assert field(again.text, "position") == "1"
    with sessions.read.begin() as session:
        rows = session.query(JudgmentRow).all()
    assert [(row.answer, row.note) for row in rows] == [("left", "why")]


def test_an_answer_about_other_pages_than_those_on_the_screen_is_refused(
    client: httpx.Client, url: str, sessions: Sessions
) -> None:
    page = client.get(url).text
    left, right = re.findall(r'src="/pages/([^/]+)/', page)
    form = form_of(page, answer="left")
    for shown in (f"{right} {left}", f"{left} {left}", left, f"{left} {right}x", "a b"):
        for headers in (HTMX, {}):
            refused = client.post(
                f"{url}/judgments", data={**form, "shown": shown}, headers=headers
            )
            assert refused.status_code == 409
            assert "The pages on the screen were not those of this question" in refused.text
            assert form_of(refused.text, answer="left") == form
    with sessions.read.begin() as session:
        assert session.query(JudgmentRow).all() == []
    taken = client.post(f"{url}/judgments", data={**form, "shown": f"{left} {right}"}, headers=HTMX)
    assert taken.status_code == 200
    assert field(taken.text, "position") == "1"


def test_empty_fields_of_a_form_count_as_absent(client: httpx.Client, url: str) -> None:
    form = form_of(client.get(url).text, answer="left") | {"step": "", "active_ms": ""}
    assert client.post(f"{url}/judgments", data=form, headers=HTMX).status_code == 200


def test_a_stale_answer_is_shown_the_open_question(client: httpx.Client, url: str) -> None:
    form = form_of(client.get(url).text)
    client.post(f"{url}/judgments", data=form | {"answer": "left"})
    for headers in ({}, HTMX):
        stale = client.post(f"{url}/judgments", data=form | {"answer": "right"}, headers=headers)
        assert stale.status_code == 409
        assert "This question was already answered" in stale.text
        assert field(stale.text, "position") == "1"


@pytest.mark.parametrize(
    "wrong",
    [
        {}, {"answer": "left", "step": "undo"}, {"step": "answer"}, {"answer": "best"},
        {"answer": "left", "active_ms": "-1"}, {"answer": "left", "position": "-1"},
        {"answer": "left", "note": "x" * 10_001},
    ],
)  # fmt: skip
def test_a_form_that_makes_no_sense_is_refused(
    client: httpx.Client, url: str, sessions: Sessions, wrong: dict[str, str]
) -> None:
    form = form_of(client.get(url).text) | wrong
    assert client.post(f"{url}/judgments", data=form).status_code == 422
    with sessions.read.begin() as session:
        assert session.query(JudgmentRow).count() == 0


def test_the_reply_to_an_answer_says_what_may_come(
    client: httpx.Client, url: str, sessions: Sessions
) -> None:
    form = form_of(client.get(url).text)
    reply = client.post(f"{url}/judgments", data=form | {"answer": "left"}, headers=HTMX)
    often = prefetched(reply.text)
    assert set(often) == {"left", "right", "tie"}
    asked = prefetched(client.get(f"{url}/next", params={"position": 1}, headers=HTMX).text)
    assert set(asked) == {*Answer, "undo"}
    assert {answer: asked[answer] for answer in often} == often
    with sessions.read.begin() as session:
        assert session.query(JudgmentRow).count() == 1
        assert session.query(TimerEvent).count() == 0


def test_a_sampled_sorter_is_asked_what_may_come_afterwards(
    client: httpx.Client, sessions: Sessions, ansa: User
) -> None:
    with sessions.write.begin() as session:
        row = make_assignment(session, user=ansa, sorter="robust")
    form = form_of(client.get(f"/assignments/{row.id}").text) | {"answer": "left"}
    reply = client.post(f"/assignments/{row.id}/judgments", data=form, headers=HTMX)
    assert reply.status_code == 200
    assert not prefetched(reply.text)
    deeper = client.get(
        f"/assignments/{row.id}/next", params={"position": 1, "deep": True}, headers=HTMX
    )
    assert deeper.status_code == 204


def test_what_may_come_is_told_without_a_trace(
    client: httpx.Client, url: str, sessions: Sessions
) -> None:
    reply = client.get(f"{url}/next", params={"position": 0})
    assert reply.status_code == 200
    assert set(prefetched(reply.text)) == set(Answer)
    assert client.get(f"{url}/next", params={"position": 1}).status_code == 409
    with sessions.read.begin() as session:
        assert session.query(JudgmentRow).count() == session.query(TimerEvent).count() == 0


def test_the_clock_s_reports_are_kept(client: httpx.Client, url: str, sessions: Sessions) -> None:
    for form in ({"kind": "start"}, {"kind": "auto_pause", "reason": "idle", "active_ms": 3}):
        assert client.post(f"{url}/timer", data=form).status_code == 204
    assert client.post(f"{url}/timer", data={"kind": "explode"}).status_code == 422
    with sessions.read.begin() as session:
        kept = [(event.kind.value, event.reason) for event in session.query(TimerEvent)]
    assert sorted(kept) == [("auto_pause", "idle"), ("start", None)]


def test_another_s_work_is_nobody_s_to_see(client: httpx.Client, url: str, enter: Enter) -> None:
    enter()
    for path in ("", "/next?position=0", "/guidelines"):
        assert client.get(url + path).status_code == 404
    assert (
        client.post(f"{url}/judgments", data={"position": 0, "answer": "left"}).status_code == 404
    )
    assert client.post(f"{url}/timer", data={"kind": "start"}).status_code == 404
    assert client.post(f"{url}/terms", data={"term": "x"}).status_code == 404


def test_work_that_was_withdrawn_or_archived_says_so(
    client: httpx.Client, work: Assignment, url: str, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        session.get_one(Study, session.get_one(Query, work.query_id).study_id).archived_at = now()
    undo = {"position": 0, "step": "undo"}
    for page in (client.get(url), client.post(f"{url}/judgments", data=undo)):
        assert "This study is archived: it takes no more answers." in page.text
    with sessions.write.begin() as session:
        session.get_one(Assignment, work.id).withdrawn_at = now()
    page = client.get(f"/assignments/{work.id}")
    assert page.status_code == 409
    assert "An administrator has withdrawn this query from you" in page.text


def test_titles_and_terms_cannot_break_out(
    client: httpx.Client, url: str, sessions: Sessions
) -> None:
    from topkapi.app.db.models import Document

    evil = '"><script>alert(1)</script>'
    with sessions.write.begin() as session:
        session.query(Document).update({"title": evil, "url": "http://[bad"})
    client.post(f"{url}/terms", data={"term": evil})
    for page in (client.get(url), client.get(f"{url}/next?position=0")):
        assert page.status_code == 200
        assert "<script>alert" not in page.text


def test_grades_are_given_page_by_page(
    client: httpx.Client, sessions: Sessions, ansa: User
) -> None:
    with sessions.write.begin() as session:
        work = make_assignment(session, user=ansa, tool=Tool.GRADES)
    url = f"/assignments/{work.id}"
    for _ in range(6):
        page = client.get(url).text
        form = {name: field(page, name) for name in ("position", "document")}
        client.post(f"{url}/judgments", data=form | {"answer": "good"})
    assert "Your grades" in client.get(url).text
    undo = client.post(f"{url}/judgments", data={"position": 6, "step": "undo"})
    assert undo.status_code == 303
    assert "5</b> of 6 graded" in client.get(url).text
