"""Flags in the browser: by keyboard only, beside the question, without answering it."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import select

from tests.browser.assigned_work import AssignedWork, Site, answered, question_of
from tests.browser.looks import barriers, flaws, widths
from tests.factories import make_user
from topkapi.app.db.models import Flag
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
    assert barriers(tab) == []
    tab.keyboard.press("Escape")
    assert question_of(tab) == before
    tab.keyboard.press("ArrowRight")
    answered(tab, 2)
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
    assert barriers(tab) == []
    tab.get_by_role("button", name="Mark as handled").press("Enter")
    expect(tab.get_by_text("0 open flags")).to_be_visible()
    tab.wait_for_load_state()  # on its way to #flags the browser takes the focus from the button
    tab.get_by_role("button", name="Open again").press("Enter")
    expect(tab.get_by_text("1 open flag")).to_be_visible()


def test_the_flag_fits(
    new_assigned: Callable[..., AssignedWork],
    context: BrowserContext,
    snapshot: Callable[[Page, str], None],
) -> None:
    assigned = new_assigned()
    tab = assigned.open_page(context)

    def fits(name: str) -> None:
        for width in widths(tab):
            snapshot(tab, f"{name}-{width}")
            assert flaws(tab) == [], (name, width)

    fits("flag-work")
    flag_by_key(tab, "Both pages are the same.")
    fits("flag")
    with assigned.site.sessions.write.begin() as session:
        admin = make_user(session, role=Role.ADMIN)
    context.clear_cookies()
    context.add_cookies([assigned.site.cookie(admin)])
    tab.goto(f"{assigned.site.server.url}/studies/{assigned.study.slug}/progress")
    fits("flag-progress")
