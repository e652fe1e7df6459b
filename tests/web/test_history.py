"""The person's own past answers: effective ones, newest first, with notes; pages can be opened."""

import re
from html import unescape

import httpx
import pytest

from tests.factories import Enter, make_assignment
from tests.judging import Job, answer_to, judge_to_the_end
from topkapi.app.db.engine import Sessions
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.study import StudySettings, stored_plan
from topkapi.app.web.judging import history_pages

pytestmark = pytest.mark.both


def page_of(client: httpx.Client, job: Job) -> str:
    return unescape(client.get(f"/assignments/{job.assignment_id}/history").text)


def test_effective_answers_are_listed_newest_first_with_their_notes(
    client: httpx.Client, job: Job
) -> None:
    assert "Nothing answered yet." in page_of(client, job)
    sent = []
    for note in ("The first one.", "Taken back.", "The second one."):
        state = client.get(job.url, headers=job.headers).json()
        body = {**answer_to(state), "note": note}
        assert client.post(f"{job.url}/judgments", headers=job.headers, json=body).is_success
        if note == "Taken back.":
            undo = {"position": state["position"] + 1}
            assert client.post(f"{job.url}/undo", headers=job.headers, json=undo).is_success
        else:
            sent.append(body)
    page = page_of(client, job)
    assert page.index("The second one.") < page.index("The first one.")
    assert "Taken back." not in page
    assert "1 undone" in page
    listed = client.get(f"{job.url}/history", headers=job.headers).json()
    assert [(each["left"], each["right"], each["answer"]) for each in listed] == [
        ([body["left"]], [body["right"]], body["answer"]) for body in reversed(sent)
    ]
    assert [each["note"] for each in listed] == ["The second one.", "The first one."]
    links = re.findall(r'<a href="(/pages/[^"]+)" data-page', page)
    assert len(links) == 4
    assert client.get(links[0]).headers["content-security-policy"].startswith("sandbox")


def test_pages_of_a_finished_list_can_be_opened(
    client: httpx.Client, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_to_the_end(client, job)
    page = client.get(f"/assignments/{job.assignment_id}").text
    links = re.findall(r'<a href="(/pages/[^"]+)" data-page', page)
    assert len(links) == 3
    assert all(client.get(link).status_code == 200 for link in links)
    assert f"/assignments/{job.assignment_id}/history" in page
    assert "Back to the result" in page_of(client, job)
    monkeypatch.setattr(history_pages, "SIZE", 2)
    assert "1 to 2 of" in page_of(client, job)
    later = client.get(f"/assignments/{job.assignment_id}/history?page=2").text
    assert "3 to " in later


def test_grades_and_their_names(client: httpx.Client, sessions: Sessions, enter: Enter) -> None:
    user = enter()
    with sessions.write.begin() as session:
        row = make_assignment(session, user=user)
        order = row.plan["order"]
        row = make_assignment(session, user=user, tool=Tool.GRADES)
        row.plan = stored_plan(StudySettings(), Tool.GRADES, order, "s")
        number = row.id
    work = f"/assignments/{number}"
    document = re.search(r'name="document" value="([^"]+)"', client.get(work).text)
    assert document is not None
    entry = {"position": 0, "document": document[1], "answer": "unjudgeable", "note": "Blank."}
    assert client.post(f"{work}/judgments", data=entry).status_code == 303
    page = client.get(f"{work}/history").text
    assert "1. Cannot judge" in page
    assert "Blank." in page


def test_nobody_sees_the_answers_of_another(client: httpx.Client, job: Job, enter: Enter) -> None:
    enter()
    assert client.get(f"/assignments/{job.assignment_id}/history").status_code == 404
