"""Editing settings and guidelines by keyboard; frozen settings are explained."""

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.assigned_work import Site
from tests.browser.looks import barriers
from tests.factories import make_assignment, make_study, make_user, queries_of
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.domain.study import StudySettings

pytestmark = pytest.mark.browser


def test_an_administrator_changes_a_study_until_work_is_assigned(
    site: Site, context: BrowserContext
) -> None:
    with site.sessions.write.begin() as session:
        user = make_user(session, role=Role.ADMIN)
        study = make_study(session)
        study.settings = StudySettings(k=3, tools=(Tool.PAIRS, Tool.GRADES))
        slug, study_id = study.slug, study.id
    context.add_cookies([site.cookie(user)])
    page = context.new_page()
    page.goto(f"{site.server.url}/studies/{slug}")
    page.get_by_role("link", name="Change the settings").press("Enter")
    expect(page.get_by_label("Top k")).to_be_visible()
    assert barriers(page) == []
    page.get_by_label("Top k").fill("2000")
    page.get_by_role("checkbox", name="Ties").press("Space")
    page.get_by_label("Name").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("it must be from 1 to 1000")
    page.get_by_label("Top k").fill("5")
    page.get_by_role("button", name="Save settings").press("Enter")
    expect(page.locator(".pairs > div", has_text="Ties")).to_have_text("Tiesno")

    page.get_by_role("link", name="Guidelines").press("Enter")
    page.get_by_role("link", name="Edit guidelines").press("Enter")
    expect(page.get_by_label("Guidelines in Markdown")).to_be_visible()
    assert barriers(page) == []
    page.get_by_label("Guidelines in Markdown").fill("# Look twice\n\nThen choose.")
    page.get_by_role("button", name="Save guidelines").press("Enter")
    expect(page.get_by_role("heading", name="Look twice")).to_be_visible()

    with site.sessions.write.begin() as session:
        found = session.get_one(type(study), study_id)
        make_assignment(session, query=queries_of(session, found)[0])
    page.goto(f"{site.server.url}/studies/{slug}/settings")
    expect(page.get_by_text("Work is assigned.")).to_be_visible()
    expect(page.get_by_label("Top k")).to_be_disabled()
    expect(page.get_by_label("Pause after")).to_be_enabled()
    assert barriers(page) == []
