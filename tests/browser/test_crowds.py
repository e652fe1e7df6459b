"""The whole story of a crowd worker: link, consent, training, judging, completion code."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import func, select

from tests.browser.assigned_work import Site, ready
from tests.browser.looks import sound
from tests.factories import make_study, make_user
from topkapi.app.db.models import Assignment, CrowdWorker
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.domain.training.practice import PracticeQuestion
from topkapi.app.services.assignments.manual_assignment import assign_one
from topkapi.app.services.training import practice

pytestmark = pytest.mark.browser
CONSENT = (
    "## Who we are\n\nThe **Tulip Lab**. You compare pages for ten minutes and are paid 3 EUR."
)


def new_link(page: Page, url: str, slug: str) -> str:
    """Create an entry link in the browser of an administrator; return its path."""
    page.goto(f"{url}/studies/{slug}/assign")
    page.get_by_role("link", name="Crowd").click()
    expect(page.get_by_text("No links yet.")).to_be_visible()
    page.get_by_label("Consent text in Markdown").fill(CONSENT)
    page.get_by_label("Queries per person").fill("1")
    page.get_by_label("Completion code").fill("TULIP-77")
    page.get_by_role("button", name="Create link").click()
    shown = page.get_by_label("Entry link: paste it into the platform's form")
    expect(shown).to_have_value(re.compile(r"PROLIFIC_PID="))
    sound(page, "crowd-admin")
    return shown.input_value().partition("?")[0]


def remind(page: Page, url: str, slug: str) -> None:
    """Write a reminder, starting from the page with hours and amounts."""
    page.goto(f"{url}/studies/{slug}/progress")
    expect(page.get_by_role("heading", name="Hours and amounts")).to_be_visible()
    page.get_by_role("link", name="Invite or remind people").click()
    page.get_by_role("button", name="Write reminders").click()
    text = page.get_by_label("Bao Trinh", exact=True)
    expect(text).to_have_value(re.compile("1 assignment left"))
    sound(page, "messages")


@pytest.mark.parametrize("own_site", ["postgresql"], indirect=True)
def test_a_worker_agrees_trains_judges_and_gets_the_code(
    own_site: Site, context: BrowserContext, new_context: Callable[..., BrowserContext]
) -> None:
    url = own_site.server.url
    with own_site.sessions.write.begin() as session:
        admin = make_user(session, role=Role.ADMIN, name="Maren Oduya")
        slug = f"crowd{admin.id}"
        study = make_study(
            session, slug=slug, queries=2, documents=2, k=1, tools=(Tool.PAIRS,), training=True
        )
        question = PracticeQuestion(
            Tool.PAIRS, "upright", "", ("q0-d0",), ("q0-d1",), ("left",), "It says what to do."
        )
        practice.add_question(session, study, question)
        study_id, helper = study.id, make_user(session, name="Bao Trinh")
        assign_one(session, study, email=helper.email, query="q0", tool=Tool.PAIRS, round_number=1)
    context.add_cookies([own_site.cookie(admin)])
    desk = context.new_page()
    link = new_link(desk, url, slug)
    remind(desk, url, slug)

    visit = new_context()
    page = visit.new_page()
    page.goto(f"{link}?PROLIFIC_PID=5f1e&SESSION_ID=s1&STUDY_ID=x")
    expect(page.get_by_role("heading", name="Who we are")).to_be_visible()
    sound(page, "crowd-consent")
    page.get_by_role("link", name="I do not agree").click()
    expect(page.get_by_role("heading", name="You did not agree")).to_be_visible()
    sound(page, "crowd-declined")
    with own_site.sessions.read() as session:
        mine = select(func.count()).where(CrowdWorker.study_id == study_id)
        assert session.scalar(mine) == 0

    page.goto(f"{link}?PROLIFIC_PID=5f1e&SESSION_ID=s1&STUDY_ID=x")
    page.get_by_role("button", name="I agree, begin").click()
    expect(page.get_by_role("heading", name="Before you begin")).to_be_visible()
    page.get_by_role("button", name="I have read them").click()
    expect(page.get_by_text("Practice", exact=True)).to_be_visible()
    page.get_by_role("button", name="Left is better").click()
    expect(page.locator("#verdict").get_by_text("It says what to do.")).to_be_visible()
    page.get_by_role("button", name="Next").or_(page.get_by_role("link", name="Next")).click()
    expect(page.get_by_role("heading", name="You can begin")).to_be_visible()
    page.get_by_role("link", name="Go to your queue").click()
    page.get_by_role("link", name="Begin").click()
    ready(page)
    page.get_by_role("button", name="Left is better").click()
    expect(page.get_by_role("heading", name="Thank you, you have finished")).to_be_visible()
    code = page.get_by_label("Completion code")
    expect(code).to_have_value("TULIP-77")
    visit.grant_permissions(["clipboard-read", "clipboard-write"], origin=url)
    page.get_by_role("button", name="Copy code").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "TULIP-77"
    sound(page, "crowd-finished")

    page.goto(f"{link}?PROLIFIC_PID=5f1e&SESSION_ID=s1&STUDY_ID=x")
    page.get_by_text("I have already started this study").click()
    page.get_by_role("button", name="I agree, continue").click()
    expect(page.get_by_role("heading", name="Your queue")).to_be_visible()
    expect(page.get_by_label("Completion code")).to_have_value("TULIP-77")
    sound(page, "crowd-queue")
    page.goto(f"{url}/me")
    expect(page.get_by_role("link", name="Download my data")).to_be_visible()
    sound(page, "crowd-me")
    with own_site.sessions.read() as session:
        worker = session.scalars(select(CrowdWorker).where(CrowdWorker.study_id == study_id)).one()
        work = select(func.count()).where(Assignment.user_id == worker.user_id)
        assert session.scalar(work) == 1
