"""A researcher signs in and reads the report of a judged study."""

import itertools

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.assigned_work import Site
from tests.browser.looks import sound
from tests.exporting import judge, make_grades, make_judged_study
from tests.factories import PASSWORD, make_study, make_user, queries_of
from topkapi.app.domain.enums import Role

pytestmark = pytest.mark.browser
_NUMBERS = itertools.count(1)


def judged_study(site: Site) -> tuple[str, str]:
    """Create a study with partial agreement; return its slug and a researcher's e-mail address."""
    slug = f"report-{next(_NUMBERS)}"
    with site.sessions.write.begin() as session:
        study = make_judged_study(session, slug=slug)
        for query in queries_of(session, study):
            judge(session, make_grades(session, make_user(session, name="Eve"), query, "gggg"))
        make_study(session, slug=f"{slug}-fresh")
        email = f"researcher@{slug}.example"
        make_user(session, role=Role.RESEARCHER, email=email, password=PASSWORD)
    return slug, email


def signed_in(page: Page, site: Site, email: str) -> None:
    page.goto(f"{site.server.url}/sign-in")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("link", name="Studies")).to_be_visible()


def test_a_researcher_reads_the_report(postgresql_site: Site, context: BrowserContext) -> None:
    slug, email = judged_study(postgresql_site)
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda line: faults.append(line.text) if line.type == "error" else None)
    signed_in(page, postgresql_site, email)
    page.get_by_role("link", name="Studies").click()
    page.get_by_role("link", name=f"Study {slug}", exact=True).click()
    page.get_by_role("navigation", name="Parts of the study").get_by_text("Results").click()
    expect(page.get_by_role("heading", name="T1 pairs", exact=True)).to_be_visible()
    expect(page.get_by_text("every figure may still change")).to_be_visible()
    sound(page, "report")

    page.get_by_role("button", name="How Krippendorff's alpha is computed").click()
    tip = page.get_by_text("One minus observed over expected disagreement")
    expect(tip).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()

    page.locator(".matrix--heat a").first.click()  # a cell links to the queries behind its votes
    behind = page.locator("li:target a").first
    expect(behind).to_be_visible()
    behind.click()
    expect(page.get_by_role("heading", name="tulips upright 0")).to_be_visible()
    page.go_back()

    page.get_by_text("More", exact=True).click()
    page.get_by_role("link", name="Hide names").click()
    expect(page.get_by_text("assessor-01").first).to_be_visible()
    expect(page.get_by_text("Bao 1")).to_have_count(0)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == f"{slug}-report.zip"

    page.goto(f"{postgresql_site.server.url}/studies/{slug}-fresh/report")
    expect(page.get_by_text("Nothing is assigned yet")).to_be_visible()
    sound(page, "report-fresh")
    assert faults == []
