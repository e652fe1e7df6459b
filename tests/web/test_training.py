"""Training in pages and API: guidelines, practice with feedback, qualification, grants."""

import html
import re
from dataclasses import replace

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import select

from tests.clients import tight
from tests.factories import Enter, make_assignment, make_user, queries_of, sign_in, token_headers
from tests.judging import answer_to
from tests.services.test_training import pair, trained_study
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, JudgmentRow, PracticeItem, Query, Study
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.domain.study import StudySettings
from topkapi.app.domain.training.practice import PracticeQuestion
from topkapi.app.services.training import practice


class Trainee:
    """An assessor with work in a study with training, signed in and with a token."""

    def __init__(self, app: FastAPI, client: httpx.Client, sessions: Sessions) -> None:
        self.client, self.sessions, self.app = client, sessions, app
        with sessions.write.begin() as session:
            study, user = trained_study(session, needed=2, tries=2)
            self.slug, self.user = study.slug, user
            self.items = session.scalars(select(PracticeItem.id).order_by(PracticeItem.id)).all()
            self.assignment = session.scalars(select(Assignment.id)).one()
            self.headers = token_headers(session, user)
        sign_in(app, client, user)

    @property
    def page(self) -> str:
        return f"/training/{self.slug}"

    def answer(self, item: int, answer: str) -> str:
        """Answer a practice question in the browser and return the page with the feedback."""
        reply = self.client.post(f"{self.page}/answers", data={"item": item, "answer": answer})
        assert reply.status_code == 303
        return html.unescape(self.client.get(reply.headers["location"]).text)


@pytest.fixture
def trainee(app: FastAPI, client: httpx.Client, sessions: Sessions) -> Trainee:
    return Trainee(app, client, sessions)


@pytest.mark.thorough
def test_work_leads_to_the_training_until_it_is_passed(trainee: Trainee) -> None:
    client = trainee.client
    work = f"/assignments/{trainee.assignment}"
    for address in (work, f"{work}/next?position=0", f"{work}/guidelines"):
        reply = client.get(address)
        assert (reply.status_code, reply.headers["location"]) == (303, trainee.page)
    page = client.get(trainee.page).text
    assert "Prefer the page that helps." in page
    assert "I have read them" in page
    assert "You need 2 matching answers to start, and have 2 tries." in " ".join(page.split())
    client.post(f"{trainee.page}/guidelines")
    page = client.get(trainee.page).text
    assert "Question 1 of 2, try 1 of 2" in page
    assert 'name="answer" value="left"' in page
    assert "timer" not in page.split("<form")[1]
    explain(trainee, wanted=False)
    for number, answer in enumerate(("left", "tie")):
        feedback = trainee.answer(trainee.items[number], answer)
        assert "Your answer is saved." in feedback
        assert f'aria-valuenow="{number + 1}"' in feedback, "the answer counts at once"
        assert not re.search("Most chose|It says how", feedback), "it may be asked again"
    result = " ".join(client.get(trainee.page).text.split())
    assert "Not enough yet" in result
    assert "1 of 2" in result
    assert "You have 1 try left." in result
    assert "tulips 1" in result, "the topic of the missed question"
    assert not re.search("tulips 0|Most chose|It says how", result)
    assert "Most chose" not in client.get(f"{trainee.page}?answered={trainee.items[0]}").text
    assert "Question 1 of 2, try 2 of 2, your last" in client.get(f"{trainee.page}?again=true").text
    for item in trainee.items:
        feedback = trainee.answer(item, "left")
        assert "Most chose “Left is better” too." in feedback
        assert "It says how." in feedback
    assert "You can begin" in client.get(trainee.page).text
    assert client.get(work).status_code == 200


def explain(trainee: Trainee, *, wanted: bool) -> None:
    """Set whether the study explains missed questions after a failed try."""
    with trainee.sessions.write.begin() as session:
        study = session.scalars(select(Study)).one()
        study.settings = replace(study.settings, training_explain=wanted)


def test_a_failed_try_teaches(trainee: Trainee) -> None:
    client, mine = trainee.client, f"/api/v1{trainee.page}"
    client.post(f"{trainee.page}/guidelines")
    first = trainee.answer(trainee.items[0], "left")
    assert "At the end of this try you see what you missed, and why." in first
    trainee.answer(trainee.items[1], "tie")
    result = " ".join(html.unescape(client.get(trainee.page).text).split())
    assert "tulips 1" in result
    assert "Most chose “Left is better”; you chose “Tie”." in result
    assert "It says how." in result
    assert "tulips 0" not in result
    missed = {"item": trainee.items[1], "tool": "pairs", "query": "tulips 1", "answer": "tie"}
    known = {"agrees": False, "answers": ["left"], "explanation": "It says how."}
    found = client.get(mine, headers=trainee.headers).json()
    assert (found["missed"], found["tries_left"]) == ([{**missed, **known}], 1)
    explain(trainee, wanted=False)
    found = client.get(mine, headers=trainee.headers).json()
    assert found["missed"] == [missed | dict.fromkeys(known)]


def test_the_queue_leads_to_the_training_until_it_is_passed(trainee: Trainee) -> None:
    link = f'href="{trainee.page}" aria-keyshortcuts="Enter" data-enter>Go to the training'
    first = tight(trainee.client.get("/queue").text)
    assert "Training first (2 tries left)" in first
    assert f"and answer {len(trainee.items)} practice questions; then the work opens." in first
    assert link in tight(trainee.client.get("/queue").text)
    trainee.client.post(f"{trainee.page}/guidelines")
    assert link in tight(trainee.client.get("/queue").text)
    for item in trainee.items:
        trainee.answer(item, "left")
    assert link not in tight(trainee.client.get("/queue").text)


def test_an_admin_sees_which_questions_were_missed(trainee: Trainee, enter: Enter) -> None:
    trainee.client.post(f"{trainee.page}/guidelines")
    for item, answer in zip(trainee.items, ("left", "tie"), strict=True):
        trainee.answer(item, answer)
    enter(role=Role.ADMIN)
    page = trainee.client.get(f"/studies/{trainee.page.rpartition('/')[2]}/training").text
    people = page[page.index("Assessors in training") : page.index("Practice questions")]
    assert "practice-2" in people
    assert "practice-1" not in people


@pytest.mark.thorough
def test_who_fails_sees_whom_to_ask_and_an_admin_grants_a_try(trainee: Trainee) -> None:
    client, app = trainee.client, trainee.app
    with trainee.sessions.write.begin() as session:
        admin = make_user(session, role=Role.ADMIN, name="Maren Oduya", email="m@example.org")
    client.post(f"{trainee.page}/guidelines")
    for _ in range(2):
        for item in trainee.items:
            trainee.answer(item, "right")
    page = client.get(trainee.page).text
    assert "You have used all your tries." in page
    assert "Maren Oduya (m@example.org)" in page
    assert client.get(f"/assignments/{trainee.assignment}").headers["location"] == trainee.page
    assert "then the work opens" not in client.get("/queue").text
    sign_in(app, client, admin)
    people = f"/studies/{trainee.slug}/training"
    assert "no tries left" in client.get(people).text
    grant = f"{people}/people/{trainee.user.id}/grant"
    assert client.post(grant).status_code == 303
    assert client.post(grant).status_code == 409  # one try at a time
    assert f"Granted {trainee.user.name} another try" in client.get("/audit").text
    sign_in(app, client, trainee.user)
    assert "You have 1 try left." in tight(client.get(trainee.page).text)


def test_the_api_answers_403_while_training_is_due(trainee: Trainee) -> None:
    client, headers = trainee.client, trainee.headers
    work = f"/api/v1/assignments/{trainee.assignment}"
    refused = client.get(work, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "training_required")
    body = {"position": 0, "left": "q0-d0", "right": "q0-d1", "answer": "left", "active_ms": 1}
    refused = client.post(f"{work}/judgments", headers=headers, json=body)
    assert (refused.status_code, refused.json()["code"]) == (403, "training_required")
    assert len(client.get("/api/v1/assignments", headers=headers).json()) == 1
    mine = f"/api/v1{trainee.page}"
    state = client.get(mine, headers=headers).json()
    assert (state["step"], state["needed"], state["practice"]) == ("guidelines", 2, None)
    state = client.post(f"{mine}/guidelines", headers=headers).json()
    while state["step"] == "practice":
        asked = state["practice"]
        assert asked["question"]["left"]["text"].startswith("Page q0-d")
        sent = {"item": asked["item"], "answer": "left"}
        reply = client.post(f"{mine}/answers", headers=headers, json=sent).json()
        state = reply["training"]
        shown = [reply[name] for name in ("agrees", "answers", "explanation")]
        passed = [True, ["left"], "It says how."]
        assert shown == (passed if state["step"] == "passed" else [None] * 3)
    assert (state["step"], state["agreed"], state["asked"]) == ("passed", 2, 2)
    opened = client.get(work, headers=headers).json()
    assert client.post(f"{work}/judgments", headers=headers, json=answer_to(opened)).is_success


def test_practice_writes_nothing_to_any_log(trainee: Trainee) -> None:
    trainee.client.post(f"{trainee.page}/guidelines")
    trainee.answer(trainee.items[0], "left")
    with trainee.sessions.read() as session:
        assert session.scalars(select(JudgmentRow)).all() == []
        assert session.scalars(select(Assignment.last_entry_at)).all() == [None]


def test_nobody_sees_the_training_of_a_study_they_have_no_work_in(
    trainee: Trainee, enter: Enter
) -> None:
    enter()
    assert trainee.client.get(trainee.page).status_code == 404
    sent = {"item": trainee.items[0], "answer": "left"}
    assert trainee.client.post(f"{trainee.page}/answers", data=sent).status_code == 404


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("tool", "answer", "shown"),
    [
        (Tool.GRADES, "good", "Good"),
        (Tool.GRADES, "unjudgeable", "Cannot judge"),
        (Tool.LISTS, "left_much", "Left much better"),
    ],
)
def test_grades_and_lists_are_practised_too(
    trainee: Trainee, tool: Tool, answer: str, shown: str
) -> None:
    left = ("q0-d0",) if tool is Tool.GRADES else ("q0-d0", "q0-d1")
    right = () if tool is Tool.GRADES else ("q0-d1", "q0-d2")
    with trainee.sessions.write.begin() as session:
        study = session.scalars(select(Study)).one()
        study.settings = replace(study.settings, tools=tuple(Tool))
        for item in trainee.items:
            practice.remove_question(session, study, item)
        question = PracticeQuestion(tool, "tulips", "", left, right, (answer,), "So it is.")
        number = practice.add_question(session, study, question).id
        session.get_one(Assignment, trainee.assignment).tool = tool
    trainee.client.post(f"{trainee.page}/guidelines")
    page = trainee.client.get(trainee.page).text
    assert f'value="{answer}"' in page
    assert ("Results of the left list" in page) == (tool is Tool.LISTS)
    assert f"Most chose “{shown}” too." in trainee.answer(number, answer)


def test_an_admin_sets_up_the_training_in_the_browser(trainee: Trainee, enter: Enter) -> None:
    client, sessions = trainee.client, trainee.sessions
    enter(role=Role.ADMIN)
    address = f"/studies/{trainee.slug}/training"
    seen = re.search(r'name="seen" value="(\w+)"', client.get(address).text)
    assert seen is not None
    form = {
        "seen": seen[1],
        "training": "true",
        "training_needed": "1",
        "training_tries": "5",
        "training_contact": "Bao",
    }
    assert client.post(address, data=form).status_code == 303
    assert client.post(address, data=form).status_code == 409  # somebody changed it meanwhile
    assert client.post(address, data={**form, "training_tries": "many"}).status_code == 422
    with sessions.read() as session:
        settings = session.scalars(select(Study.settings)).one()
    assert (settings.training_needed, settings.training_tries) == (1, 5)
    assert settings.training_contact == "Bao"
    question = {
        "tool": "pairs",
        "query": "roses",
        "left": "q0-d3",
        "right": "q0-d4",
        "answer": "left, tie",
        "explanation": "Both name the water.",
    }
    assert client.post(f"{address}/questions", data=question).status_code == 303
    refused = client.post(f"{address}/questions", data={**question, "left": "q0-d99"})
    assert refused.status_code == 422
    assert "no document &#39;q0-d99&#39;" in refused.text
    assert "Both name the water." in refused.text  # what was typed is kept
    assert "left, tie" in client.get(address).text
    remove = f"{address}/questions/{trainee.items[0]}/remove"
    assert client.post(remove).status_code == 303
    assert client.post(remove).status_code == 404


def test_an_admin_sets_up_the_training_through_the_api(trainee: Trainee) -> None:
    with trainee.sessions.write.begin() as session:
        headers = token_headers(session, make_user(session, role=Role.ADMIN))
        robot = make_user(session)
        robot.machine = True
        make_assignment(session, user=robot, query=session.scalars(select(Query)).first())
    address = f"/api/v1/studies/{trainee.slug}/training"
    question = {
        "tool": "pairs",
        "query": "roses",
        "left": ["q0-d3"],
        "right": ["q0-d4"],
        "answers": ["right"],
        "explanation": "It names the water.",
    }
    made = trainee.client.post(f"{address}/questions", json=question, headers=headers)
    assert made.status_code == 201
    number = made.json()["item"]
    found = trainee.client.get(address, headers=headers).json()
    assert [each["item"] for each in found["practice"]] == [*trainee.items, number]
    assert [each["state"] for each in found["people"]] == ["not begun"]
    removed = trainee.client.delete(f"{address}/questions/{number}", headers=headers)
    assert removed.status_code == 204
    grant = f"{address}/people/{trainee.user.id}/grant"
    assert trainee.client.post(grant, headers=headers).status_code == 409


def test_a_study_without_training_is_unaffected(
    app: FastAPI, client: httpx.Client, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        study, user = trained_study(session)
        study.settings = StudySettings(k=3)
        practice.add_question(session, study, pair(2))
        number = make_assignment(session, user=user, query=queries_of(session, study)[1]).id
        slug = study.slug
    sign_in(app, client, user)
    assert client.get(f"/assignments/{number}").status_code == 200
    assert "You can begin" in client.get(f"/training/{slug}").text
