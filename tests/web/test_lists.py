"""Lists through the API and on pages, over HTTP."""

import json
import re
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from tests.factories import Enter, make_user, queries_of, token_headers
from tests.judging import Job, job_of
from tests.ranked import Judge, give_lists, grade_pages, make_ranked_study
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Document, Study
from topkapi.app.domain.enums import Role

ANSWERS = ["left_much", "left", "same", "right", "right_much"]


@pytest.fixture
def job(sessions: Sessions) -> Job:
    """Create an assessor with lists to compare; each pair is chosen when it is asked."""
    with sessions.write.begin() as session:
        study = make_ranked_study(session, systems=5, lists_pairs="active", lists_size=8)
        grade_pages(session, study)
        return job_of(session, give_lists(session, study))


def body_of(state: dict[str, Any], answer: str) -> dict[str, Any]:
    question = state["question"]
    return {
        "position": state["position"],
        "left": question["left"]["id"],
        "right": question["right"]["id"],
        "answer": answer,
        "active_ms": 900,
    }


def test_a_program_compares_lists_to_the_end(client: httpx.Client, job: Job) -> None:
    state = client.get(job.url, headers=job.headers).json()
    assert state["tool"] == "lists"
    assert state["answers"] == ANSWERS
    assert "system-" not in json.dumps(state), "systems are hidden"
    left, right = state["question"]["left"], state["question"]["right"]
    assert set(left) == {"id", "documents"}
    assert len(left["documents"]) == len(right["documents"]) == 5
    assert set(left["documents"][0]) == {"id", "title", "url", "text"}
    sent: list[dict[str, str]] = []
    while state["state"] == "asking":
        assert state["progress"]["answered"] + state["progress"]["expected_left"] == 8
        body = body_of(state, ANSWERS[len(sent) % 5])
        sent.append({name: body[name] for name in ("left", "right", "answer")})
        reply = client.post(f"{job.url}/judgments", headers=job.headers, json=body)
        assert reply.status_code == 200, reply.text
        state = reply.json()
    assert state["result"] == {"comparisons": sent}
    assert len({frozenset((each["left"], each["right"])) for each in sent}) == 8


def test_undo_redo_stale_and_unknown_answers(client: httpx.Client, job: Job) -> None:
    first = client.get(job.url, headers=job.headers).json()
    body = body_of(first, "same")
    second = client.post(f"{job.url}/judgments", headers=job.headers, json=body).json()
    again = client.post(f"{job.url}/judgments", headers=job.headers, json=body)
    assert (again.status_code, again.json()["position"]) == (200, 1)
    other = {**body, "answer": "left"}
    refused = client.post(f"{job.url}/judgments", headers=job.headers, json=other)
    assert refused.status_code == 409
    assert refused.json()["question"] == second["question"]
    swapped = body_of(second, "left")
    swapped["left"], swapped["right"] = swapped["right"], swapped["left"]
    reply = client.post(f"{job.url}/judgments", headers=job.headers, json=swapped)
    assert (reply.status_code, reply.json()["problem"]["code"]) == (409, "out_of_turn")
    wrong = {**body_of(second, "tie")}
    reply = client.post(f"{job.url}/judgments", headers=job.headers, json=wrong)
    assert reply.status_code == 422
    assert "left_much, left, same, right, right_much" in reply.text
    undone = client.post(f"{job.url}/undo", headers=job.headers, json={"position": 1}).json()
    assert undone["question"] == first["question"]
    redone = client.post(f"{job.url}/redo", headers=job.headers, json={"position": 2}).json()
    assert redone["question"] == second["question"]


def test_an_administrator_gives_lists_out_by_program(
    client: httpx.Client, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        make_ranked_study(session, slug="ranked", queries=3)
        headers = token_headers(session, make_user(session, role=Role.ADMIN))
        judges = [make_user(session).email for _ in range(2)]
    body = {"assessors": judges, "lists": True, "dry_run": True}
    url = "/api/v1/studies/ranked/rotation"
    preview = client.post(url, headers=headers, json=body).json()
    made = client.post(url, headers=headers, json={**body, "dry_run": False}).json()
    assert {each["tool"] for each in made["work"]} == {"lists"}
    assert preview["work"] == made["work"]
    two = client.post(url, headers=headers, json={**body, "rounds": 2})
    assert two.status_code == 409
    assert "lists_repeats" in two.json()["detail"]


def test_the_grid_offers_lists_apart(
    client: httpx.Client, sessions: Sessions, enter: Enter
) -> None:
    with sessions.write.begin() as session:
        make_ranked_study(session, slug="ranked", queries=3)
        people = [make_user(session).id for _ in range(2)]
    enter(role=Role.ADMIN)
    page = client.get("/studies/ranked/assign").text
    assert "Assign T3 lists instead" in page
    assert "<b>T3</b>" not in page
    wanted = "&".join(f"people={number}" for number in people)
    page = client.get(f"/studies/ranked/assign?lists=true&{wanted}").text
    assert "<b>T3</b>" in page
    assert "Create 3 assignments" in page
    form = {"people": people, "rounds": 1, "lists": "true"}
    assert client.post("/studies/ranked/assign", data=form).status_code == 303
    refused = client.post("/studies/ranked/assign", data={**form, "rounds": 2})
    assert refused.status_code == 409
    assert "enough for 1 person" in refused.text


@pytest.mark.thorough
def test_the_researchers_page_and_the_program_tell_the_same(
    client: httpx.Client, sessions: Sessions, enter: Enter
) -> None:
    user = enter(role=Role.RESEARCHER)
    with sessions.write.begin() as session:
        study = make_ranked_study(session, slug="ranked", systems=4, queries=6)
        grade_pages(session, study)
        headers = token_headers(session, user)
    assert "No lists have been compared yet" in client.get("/studies/ranked/lists").text
    refused = client.get("/api/v1/studies/ranked/lists", headers=headers)
    assert (refused.status_code, "no lists have been compared" in refused.text) == (422, True)
    assert "Lists and gains" in client.get("/studies/ranked/report").text
    with sessions.write.begin() as session:
        same = session.get_one(Study, study.id)
        for query in queries_of(session, same):
            Judge(session, give_lists(session, same, query)).to_the_end()
    page = client.get("/studies/ranked/lists").text
    found = client.get("/api/v1/studies/ranked/lists", headers=headers).json()
    assert found["pairs"] == 36
    assert found["left"]["decided"] == 36
    best = found["systems"][0]
    assert best["system"] in page
    assert best["wins"] > best["losses"]
    assert "Accuracy on held-out preferences" in page
    assert len(found["learned"]["discounts"]) == 5
    again = client.get("/api/v1/studies/ranked/lists", headers=headers).json()
    assert again == found


HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)><svg onload=alert(1)>'


def test_titles_snippets_and_addresses_are_escaped(
    client: httpx.Client, sessions: Sessions, enter: Enter
) -> None:
    user = enter()
    with sessions.write.begin() as session:
        study = make_ranked_study(session)
        for page in session.scalars(select(Document).where(Document.study_id == study.id)):
            page.title = f"{page.title} {HOSTILE}"
            page.url = f"javascript:{HOSTILE}"
        queries_of(session, study)[0].text = f"tulips {HOSTILE}"
        work = give_lists(session, study, user=user)
    text = client.get(f"/assignments/{work.id}").text
    assert "Page 0 &#34;&gt;&lt;script&gt;" in text
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "<svg onload" not in text
    assert 'href="javascript:' not in text


def test_without_a_script_the_form_works(
    client: httpx.Client, sessions: Sessions, enter: Enter
) -> None:
    user = enter()
    with sessions.write.begin() as session:
        work = give_lists(session, make_ranked_study(session, systems=2), user=user)
        state = [each["system"] for each in work.plan["lists"]]
    page = client.get(f"/assignments/{work.id}").text
    assert not any(system in page for system in state), "systems are hidden in the source too"
    left, right = re.findall(r'name="(?:left|right)" value="(list-[0-9a-f]{16})"', page)
    data = {"position": 0, "left": left, "right": right, "answer": "right_much"}
    reply = client.post(f"/assignments/{work.id}/judgments", data=data)
    assert reply.status_code == 303
    page = client.get(f"/assignments/{work.id}").text
    assert "Finished and saved" in page
    assert "Right much better" in page
