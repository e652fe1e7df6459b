"""Training in the browser: guidelines, practice by keyboard only, feedback and the result."""

from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy.orm import Session

from tests.browser.assigned_work import AssignedWork, Site, make_assigned, ready
from tests.browser.looks import barriers, flaws, sound
from tests.factories import make_user
from topkapi.app.db.models import Assignment, Query, Study
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.domain.study import stored_plan
from topkapi.app.domain.training.practice import PracticeQuestion
from topkapi.app.services.training import practice

pytestmark = pytest.mark.browser
WHY = "The left page says what to do now; the right one only tells the history of the tulip."
PAIR = PracticeQuestion(
    Tool.PAIRS, "tulips upright", "A vase on the table.", ("d0",), ("d1",), ("left",), WHY
)
GRADE = PracticeQuestion(Tool.GRADES, "tulips upright", "", ("d2",), (), ("good",), WHY)
LISTS = PracticeQuestion(
    Tool.LISTS, "tulips upright", "", ("d0", "d1"), ("d1", "d2"), ("left_much",), WHY
)


def trained_assignment(site: Site, *questions: PracticeQuestion, **settings: Any) -> AssignedWork:
    """Create an assignment in a study with training and practice questions."""
    settings = {"tools": tuple(Tool), "training": True, **settings}
    assigned = make_assigned(site, **settings)
    with site.sessions.write.begin() as session:
        study = session.get_one(Study, assigned.study.id)
        for question in questions:
            practice.add_question(session, study, question)
        for tool in {question.tool for question in questions} - {Tool.PAIRS}:
            _assign(session, assigned, tool)
    return assigned


def _assign(session: Session, assigned: AssignedWork, tool: Tool) -> None:
    """Assign a second query, by ``tool``: only the tools of one's own work are practised."""
    query = Query(
        study_id=assigned.study.id, external_id=tool.value, text=f"another by {tool}", position=1
    )
    session.add(query)
    session.flush()
    plan = stored_plan(assigned.study.settings, tool, (), "seed")
    session.add(Assignment(user_id=assigned.user.id, query_id=query.id, tool=tool, plan=plan))


def opened(assigned: AssignedWork, context: BrowserContext) -> Page:
    assigned.sign_in(context)
    page = context.new_page()
    page.goto(assigned.url)
    return page


def read_guidelines(page: Page) -> None:
    expect(page.get_by_role("heading", name="Before you begin")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Practice", exact=True)).to_be_visible()
    framed(page)


def framed(page: Page) -> None:
    """Wait until the keys work, on the page and in its frames, if any."""
    page.wait_for_function(
        """() => document.querySelector('.pane[aria-current]')
          && [...document.querySelectorAll('.frames iframe')].every(f => f.dataset.ready === '1')
          || document.querySelector('.split--one iframe')?.dataset.ready === '1'"""
    )


def test_training_by_keyboard_only_opens_the_work(site: Site, context: BrowserContext) -> None:
    assigned = trained_assignment(site, PAIR, GRADE, LISTS, training_needed=2, training_tries=2)
    page = opened(assigned, context)
    sound(page, "guidelines")
    read_guidelines(page)
    for number, key in enumerate(("ArrowRight", "1", "t"), start=1):
        framed(page)
        page.keyboard.press(key)
        expect(page.locator("#announce")).to_contain_text(WHY if number == 3 else "is saved.")
        bar = page.get_by_role("progressbar")
        expect(bar).to_have_attribute("aria-valuenow", str(number))
        expect(bar).to_have_text(f"{number} of 3 answered, {3 - number} left")
        page.keyboard.press("Enter")
        expect(page.locator("#verdict")).to_have_count(0)
    expect(page.get_by_text("You have 1 try left.")).to_be_visible()
    expect(page.get_by_text("Most chose “Good”; you chose “Bad”.")).to_be_visible()
    sound(page, "failed-first")
    page.keyboard.press("Enter")
    expect(page.get_by_text("try 2 of 2, your last")).to_be_visible()
    for name, keys, verdict in (
        ("pair", "ArrowLeft", "Most chose “Left is better” too."),
        ("grade", "1", "Most chose “Good”; you chose “Bad”."),
        ("lists", "Shift+ArrowLeft", "Most chose “Left much better” too."),
    ):
        framed(page)
        if name == "pair":  # in the dark there is one more button
            page.set_viewport_size({"width": 390, "height": 844})
            page.emulate_media(color_scheme="dark")
            assert flaws(page) == []
        sound(page, name)
        page.keyboard.press(keys)
        expect(page.locator("#verdict")).to_contain_text(verdict)
        expect(page.locator("#verdict")).to_contain_text(WHY)
        expect(page.locator("button[name=answer]:not([disabled])")).to_have_count(0)
        sound(page, f"{name}-feedback")
        page.keyboard.press("Enter")
        expect(page.locator("#verdict")).to_have_count(0)
    expect(page.get_by_role("heading", name="You can begin")).to_be_visible()
    assert barriers(page) == []
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your queue")).to_be_visible()
    page.goto(assigned.url)
    ready(page)
    assert assigned.log() == []


def test_a_missed_answer_does_not_look_right_and_is_read_out(
    site: Site, context: BrowserContext
) -> None:
    page = opened(trained_assignment(site, PAIR, PAIR, PAIR), context)
    read_guidelines(page)
    frame = page.frame_locator("#left-frames iframe")
    looks: dict[str, str] = {}
    for number, key in enumerate(("ArrowRight", "ArrowLeft", "t"), 1):
        expect(page.get_by_text(f"Question {number} of 3")).to_be_visible()
        framed(page)
        if key == "t":  # a key inside a page answers, and the next one works from there
            frame.locator("body").click()
        page.keyboard.press(key)
        expect(page.locator("#verdict")).not_to_be_empty()
        verdict = page.inner_text("#verdict")
        expect(page.locator("#announce")).to_have_text(verdict)
        pressed = page.locator(".answer[aria-pressed=true]")
        looks[key] = pressed.evaluate("(button) => getComputedStyle(button).backgroundColor")
        known = page.locator(".answer[data-known]")
        expect(known).to_have_text("←Left is better")
        assert "✓" in known.evaluate("(e) => getComputedStyle(e, '::after').content")
        if key == "t":
            assert "you chose “Tie”" in verdict
            assert barriers(page) == []
            framed(page)
            frame.locator("body").click()
        page.keyboard.press("Enter")
    assert looks["ArrowRight"] != looks["ArrowLeft"]
    expect(page.get_by_role("heading", name="You can begin")).to_be_visible()


def test_who_fails_is_told_whom_to_ask_and_gets_another_try(
    site: Site, context: BrowserContext
) -> None:
    contact = "Maren Oduya, room 4"
    assigned = trained_assignment(
        site, PAIR, training_needed=1, training_tries=1, training_contact=contact
    )
    page = opened(assigned, context)
    read_guidelines(page)
    page.keyboard.press("ArrowRight")
    expect(page.locator("#announce")).to_contain_text("you chose “Right is better”")
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"Ask for another one: {contact}.")).to_be_visible()
    sound(page, "failed")
    with site.sessions.write.begin() as session:
        admin = make_user(session, role=Role.ADMIN)
    context.add_cookies([site.cookie(admin)])
    study = context.new_page()
    study.goto(f"{site.server.url}/studies/{assigned.study.slug}/training")
    sound(study, "training")
    study.get_by_role("button", name="Grant another try").press("Enter")
    expect(study.get_by_text("try 2")).to_be_visible()
    study.get_by_label("Query").fill("roses")
    study.get_by_label("Left page").fill("d2")
    study.get_by_label("Right page").fill("d3")
    study.get_by_label("Right answer").fill("right")
    study.get_by_label("Explanation").fill("It names the water.")
    study.get_by_role("button", name="Add question").press("Enter")
    expect(study.get_by_role("cell", name="It names the water.")).to_be_visible()
    context.add_cookies([site.cookie(assigned.user)])
    page.reload()
    page.keyboard.press("Enter")
    expect(page.get_by_text("try 2 of 2")).to_be_visible()
