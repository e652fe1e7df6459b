"""A researcher reads the results of a query: lists, ranks, questions, and the pages themselves."""

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect
from sqlalchemy import select

from tests.browser.assigned_work import Site
from tests.browser.looks import barriers, flaws, sound
from tests.exporting import make_judged_study
from tests.factories import make_user
from topkapi.app.db.models import Assignment, Flag, Query, Study
from topkapi.app.domain.enums import Role
from topkapi.app.services.results.systems.runs import add_runs, read_runs

pytestmark = pytest.mark.browser


def judged_study(site: Site, context: BrowserContext) -> tuple[Page, str]:
    """Make a judged study; return a page of a researcher who is signed in, and its short name."""
    with site.sessions.write.begin() as session:
        user = make_user(session, role=Role.RESEARCHER)
        make_judged_study(session, slug=f"judged-{user.id}")
    context.add_cookies([site.cookie(user)])
    return context.new_page(), f"judged-{user.id}"


def look_at(link: Locator) -> Locator:
    """Open a page by its link, see it in a dialog and close that; return the dialog."""
    title = link.inner_text()
    link.press("Enter")
    reader = link.page.get_by_role("dialog", name=title)
    expect(reader.frame_locator("iframe").locator("body")).to_be_visible()
    link.page.keyboard.press("Escape")
    return reader


def test_a_researcher_reads_lists_and_pages_by_keyboard(
    site: Site, context: BrowserContext
) -> None:
    page, slug = judged_study(site, context)
    with site.sessions.write.begin() as session:
        study = session.scalars(select(Study).where(Study.slug == slug)).one()
        run = b"q0 Q0 q0-d1 1 2.5 newcomer\nq0 Q0 another 2 1.5 newcomer\n"
        add_runs(session, study, read_runs([("newcomer.run", run)]))
    page.goto(f"{site.server.url}/studies/{slug}/queries")
    page.get_by_role("link", name="tulips upright 0").press("Enter")
    ranks = page.get_by_role("region", name="Ranks and grades of the pages")
    expect(ranks.get_by_role("columnheader").first).to_have_text("Page")
    assert ranks.get_by_role("columnheader").count() > 3
    assert [*flaws(page), *barriers(page)] == []
    expect(look_at(ranks.get_by_role("link").first)).to_be_hidden()
    page.get_by_label("With", exact=True).select_option("newcomer")
    page.get_by_role("button", name="Compare").press("Enter")
    beside = page.get_by_role("region", name="Two lists side by side")
    expect(beside.get_by_role("columnheader")).to_have_text(["Consensus", "newcomer"])
    expect(beside.get_by_text("not a candidate")).to_be_visible()
    assert "a=consensus&b=system%3Anewcomer" in page.url
    assert [*flaws(page), *barriers(page)] == []
    ranks.locator("summary").first.press("Enter")
    ranks.locator(".why .asked a").first.press("Enter")
    expect(page.locator(".pane__head").get_by_text("chosen")).to_be_visible()
    text = page.frame_locator(".pane[data-chosen] iframe").locator("body")
    expect(text).to_contain_text("Water, cut, wrap")
    sound(page, "question")
    at = page.url
    text.press(".")
    expect(page).not_to_have_url(at)
    page.get_by_role("link", name="Back to the query").press("Enter")
    page.locator("summary", has_text="the questions in order").first.press("Enter")
    expect(page.get_by_text("Expected overlap at 3")).to_be_visible()
    expect(page.get_by_text("is better").first).to_be_visible()
    page.get_by_role("link", name="Next query").press("Enter")
    expect(page.get_by_role("heading", name="tulips upright 1")).to_be_visible()
    missing = page.goto(f"{site.server.url}/studies/{slug}/queries/999999")
    assert missing is not None
    assert missing.status == 404


def test_what_is_opened_before_the_scripts_are_there_is_loaded(
    site: Site, context: BrowserContext
) -> None:
    page, study = judged_study(site, context)
    with site.sessions.read() as session:
        query = session.scalars(select(Query).join(Study).where(Study.slug == study)).first()
        assert query is not None
        address = f"{site.server.url}/studies/{study}/queries/{query.id}"
    held: list[Route] = []
    page.route("**/htmx.min.js*", lambda route: held.append(route))
    page.goto(address, wait_until="commit")
    ranks = page.get_by_role("region", name="Ranks and grades of the pages")
    ranks.locator("summary").first.click()
    page.locator("summary", has_text="the questions in order").first.click()
    assert len(held) == 1
    held[0].continue_()
    expect(page.get_by_text("Expected overlap at 3")).to_be_visible()
    expect(ranks.locator(".why .asked a").first).to_be_visible()


def test_pages_open_wherever_they_are_named(site: Site, context: BrowserContext) -> None:
    page, slug = judged_study(site, context)
    with site.sessions.write.begin() as session:
        work = session.scalars(
            select(Assignment).join(Query).join(Study).where(Study.slug == slug)
        ).first()
        assert work is not None
        session.add(Flag(assignment_id=work.id, position=0, shown=["q0-d1"], reason="Both odd"))
    for address, region in (
        ("documents", "Table of documents"),
        ("report", "Consensus, T1 pairs"),
        ("progress", "Flagged questions"),
    ):
        page.goto(f"{site.server.url}/studies/{slug}/{address}")
        folded = page.locator("main details:not([open]) > summary")
        while folded.count():
            folded.first.click()
        opened = page.get_by_role("region", name=region).locator("a[data-page]").first
        look_at(opened)
        expect(opened).to_be_focused()
        assert barriers(page) == []
    page.locator("#p-queries").get_by_role("link", name="q0").press("Enter")
    expect(page.get_by_role("heading", name="tulips upright 0")).to_be_visible()
