"""Flags in the browser: by keyboard only, beside the question, without answering it."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import select

from tests.browser.assigned_work import (
    AssignedWork,
    Site,
    answered,
    question_of,
    ready,
    shows_what_it_asks,
)
from tests.browser.looks import sound
from tests.factories import PASSWORD, make_user
from topkapi.app.db.models import Flag, User
from topkapi.app.domain.enums import Role

pytestmark = pytest.mark.browser


def flag_by_key(page: Page, reason: str) -> None:
    page.keyboard.press("x")
    expect(page.get_by_label("What is wrong with this question?")).to_be_focused()
    page.keyboard.type(reason)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The administrators see it.")).to_be_visible()


def test_a_question_is_flagged_by_keyboard_and_stays_open(
    postgresql_site: Site, assigned: AssignedWork, tab: Page, context: BrowserContext
) -> None:
    tab.keyboard.press("ArrowLeft")
    answered(tab, 1)
    before = question_of(tab)
    flag_by_key(tab, "The left page is in another language.")
    sound(tab, "flag")
    tab.keyboard.press("Escape")
    assert question_of(tab) == before
    tab.keyboard.press("ArrowRight")
    answered(tab, 2)
    tab.keyboard.press("x")
    expect(tab.get_by_label("What is wrong with this question?")).to_be_focused()
    expect(tab.get_by_text("The administrators see it.")).to_be_hidden()  # about the last question
    tab.keyboard.press("Escape")
    with postgresql_site.sessions.read() as session:
        flag = session.scalars(
            select(Flag).where(Flag.assignment_id == assigned.assignment.id)
        ).one()
    assert f"position={flag.position}" in before
    assert all(f"={name}" in before for name in flag.shown)
    with postgresql_site.sessions.write.begin() as session:
        admin = make_user(session, role=Role.ADMIN)
    context.clear_cookies()
    context.add_cookies([postgresql_site.cookie(admin)])
    tab.goto(f"{postgresql_site.server.url}/studies/{assigned.study.slug}/progress")
    expect(tab.get_by_text("1 open flag")).to_be_visible()
    sound(tab, "flag-progress")
    tab.locator("summary", has_text="Answer").press("Enter")
    tab.get_by_label("Reply to").fill("Thank you, it is repaired.")
    tab.get_by_role("button", name="Mark as handled").press("Enter")
    expect(tab.get_by_text("0 open flags")).to_be_visible()
    expect(tab.get_by_text("Thank you, it is repaired.")).to_be_visible()
    tab.wait_for_load_state()  # on its way to #flags the browser takes the focus from the button
    tab.get_by_role("button", name="Open again").press("Enter")
    expect(tab.get_by_text("1 open flag")).to_be_visible()


def _end_sessions(assigned: AssignedWork) -> None:
    with assigned.site.sessions.write.begin() as session:
        session.get_one(User, assigned.user.id).session_version += 1


def test_the_text_of_a_flag_is_kept_until_it_is_sent(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned()
    page = assigned.open_page(context)
    field = page.get_by_label("What is wrong with this question?")
    page.keyboard.press("x")
    page.keyboard.type("Both pages are empty.")
    page.route("**/flags", lambda route: route.abort())
    page.get_by_role("button", name="Flag question").click()
    expect(page.get_by_text("The flag could not be sent.")).to_be_visible()
    page.unroute_all()
    ways: list[Callable[[], None]] = [context.clear_cookies, lambda: _end_sessions(assigned)]
    for expire in ways:
        expire()
        page.get_by_role("button", name="Flag question").click()
        expect(page.get_by_text("Your session has expired.")).to_be_visible()
        page.get_by_label("E-mail").fill(assigned.user.email)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(assigned.url)
        ready(page)
        page.keyboard.press("x")
        expect(field).to_have_value("Both pages are empty.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.locator("#notice")).to_contain_text("The administrators see it.")
    page.reload()
    shows_what_it_asks(page)
    page.keyboard.press("x")
    expect(field).to_have_value("")
    with assigned.site.sessions.read() as session:
        flags = session.scalars(select(Flag).where(Flag.assignment_id == assigned.assignment.id))
        assert [flag.reason for flag in flags] == ["Both pages are empty."]
