"""A researcher compares models in the background, leaves, and comes back to the result."""

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.assigned_work import Site
from tests.browser.looks import barriers, sound
from tests.factories import make_user
from tests.services.test_job_kinds import labelled_study
from topkapi.app.domain.enums import Role
from topkapi.app.services.jobs.worker import Worker

pytestmark = pytest.mark.browser


def test_a_comparison_goes_on_without_its_tab(site: Site, context: BrowserContext) -> None:
    with site.sessions.write.begin() as session:
        user = make_user(session, role=Role.RESEARCHER)
        study = labelled_study(session, slug=f"models-{user.id}")
    context.add_cookies([site.cookie(user)])
    page = context.new_page()
    page.goto(f"{site.server.url}/studies/{study.slug}/models")
    for name in ("FocusedNet", "Top-k ListMLE", "ListNet"):
        page.get_by_label(name, exact=True).uncheck()
    page.get_by_label("clicks").uncheck()
    sound(page, "models")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", name="Waiting")).to_be_visible()
    assert barriers(page) == []
    page.close()

    Worker(site.sessions).run(until_empty=True)
    page = context.new_page()
    page.goto(f"{site.server.url}/studies/{study.slug}/models")
    page.get_by_role("link", name="Comparison of models").click()
    means = page.get_by_role("region", name="Means of each model")
    expect(means.get_by_role("rowheader")).to_have_text(["RankSVM", "Regression"])
    expect(page.get_by_role("region", name="Weights of the features")).to_contain_text("bm25")
    expect(page.get_by_role("img", name="RankSVM, κ-N@k; 1: ")).to_be_visible()
    differences = page.get_by_role("region", name="Differences by query")
    baseline = page.get_by_label("Baseline")
    baseline.select_option("RankSVM")
    baseline.press("Tab")
    page.keyboard.press("Enter")
    expect(differences.get_by_role("columnheader")).to_have_text(["Query", "RankSVM", "Regression"])
    expect(page.get_by_text("clicks")).to_have_count(0)
    sound(page, "comparison")
    with page.expect_download() as download:
        page.get_by_role("link", name="Run of RankSVM").click()
    assert download.value.suggested_filename == f"{study.slug}.ranksvm.run.txt"

    page.get_by_role("link", name="Report").click()
    page.get_by_text("More", exact=True).click()
    page.clock.install()
    page.get_by_role("button", name="Show confidence of the lists").click()
    expect(page.get_by_role("heading", name="Waiting")).to_be_visible()
    asked: list[str] = []
    page.route("**/report?confidence=true*", lambda route: route.fulfill(status=204))
    with page.expect_response("**/report?confidence=true*") as led:  # the page goes there by itself
        Worker(site.sessions).run(until_empty=True)
        page.clock.run_for(1000)
    page.on("request", lambda request: asked.append(request.url))
    page.clock.run_for(3000)
    page.evaluate("fetch('/healthz')")
    assert len(asked) == 1, "a page that is left asks no more"
    page.unroute("**/report?confidence=true*")
    page.goto(led.value.url)
    expect(page.locator("#confidence")).to_be_visible()

    page.get_by_role("link", name="Set up").click()
    page.get_by_role("link", name="Plan", exact=True).click()
    page.get_by_label("Pages per query").fill("five")
    page.get_by_role("button", name="Simulate").click()
    expect(page.get_by_role("alert")).to_contain_text("Pages per query: 'five' is not a number.")
    for name, text in {"Pages per query": "5", "k": "2", "Simulated sessions": "2"}.items():
        page.get_by_label(name, exact=True).fill(text)
    sound(page, "plan")
    page.get_by_role("button", name="Simulate").click()
    expect(page.get_by_role("heading", name="Waiting")).to_be_visible()
    Worker(site.sessions).run(until_empty=True)
    expect(page.get_by_role("heading", name="4 queries of 5 pages, top 2")).to_be_visible()
    expect(page.get_by_role("img", name="Expected quality of a list")).to_be_visible()
    sound(page, "planned")

    page.goto(f"{site.server.url}/studies/{study.slug}/models")
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("The job was stopped.")).to_be_visible()
