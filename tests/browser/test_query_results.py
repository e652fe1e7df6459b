"""A researcher reads the results of a query: lists, ranks, questions, and the pages themselves."""

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.assigned_work import Site
from tests.browser.looks import assert_accessible, flaws
from tests.exporting import make_judged_study
from tests.factories import make_user
from topkapi.app.domain.enums import Role

pytestmark = pytest.mark.browser


def test_a_researcher_reads_lists_and_pages_by_keyboard(
    site: Site, context: BrowserContext
) -> None:
    with site.sessions.write.begin() as session:
        user = make_user(session, role=Role.RESEARCHER)
        slug = f"read-{user.id}"
        make_judged_study(session, slug=slug)
    context.add_cookies([site.cookie(user)])
    page = context.new_page()
    page.goto(f"{site.server.url}/studies/{slug}/queries")
    page.get_by_role("link", name="tulips upright 0").press("Enter")
    ranks = page.get_by_role("region", name="Ranks of the pages")
    expect(ranks.get_by_role("columnheader").first).to_have_text("Page")
    assert ranks.get_by_role("columnheader").count() > 3
    assert_accessible(page)
    assert flaws(page) == []
    opened = ranks.get_by_role("link").first
    title = opened.inner_text()
    opened.press("Enter")
    reader = page.get_by_role("dialog", name=title)
    expect(reader.frame_locator("iframe").locator("body")).to_be_visible()
    page.keyboard.press("Escape")
    expect(reader).to_be_hidden()
    page.get_by_text("The questions in order").first.press("Enter")
    expect(page.get_by_text("is better").first).to_be_visible()
    page.get_by_role("link", name="Next query").press("Enter")
    expect(page.get_by_role("heading", name="tulips upright 1")).to_be_visible()
    missing = page.goto(f"{site.server.url}/studies/{slug}/queries/999999")
    assert missing is not None
    assert missing.status == 404


def test_documents_open_from_their_table(site: Site, context: BrowserContext) -> None:
    with site.sessions.write.begin() as session:
        user = make_user(session, role=Role.RESEARCHER)
        slug = f"pages-{user.id}"
        make_judged_study(session, slug=slug)
    context.add_cookies([site.cookie(user)])
    page = context.new_page()
    page.goto(f"{site.server.url}/studies/{slug}/documents")
    opened = page.get_by_role("region", name="Table of documents").get_by_role("link").first
    title = opened.inner_text()
    opened.press("Enter")
    reader = page.get_by_role("dialog", name=title)
    expect(reader.frame_locator("iframe").locator("body")).to_be_visible()
    page.keyboard.press("Escape")
    expect(opened).to_be_focused()
    assert_accessible(page)
