"""Failures of connection and server: what a person sees, and that no answer is lost."""

import json
from collections.abc import Callable

import pytest
from itsdangerous import URLSafeSerializer
from playwright.sync_api import APIResponse, BrowserContext, Page, Route, expect
from sqlalchemy import update

from tests.browser.assigned_work import (
    AssignedWork,
    answered,
    asked_of,
    frame_of,
    happened,
    plain_pages,
    press,
    question_of,
    read_of,
    ready,
    saved,
    seen,
    sent_again,
)
from tests.browser.chromium import LONGEST
from tests.browser.page_clock import pass_time
from topkapi.app.db.base import now
from topkapi.app.db.models import Assignment, Document
from topkapi.app.installation.secret import load_secret

pytestmark = pytest.mark.browser


@pytest.fixture
def assigned(new_assigned: Callable[..., AssignedWork]) -> AssignedWork:
    return new_assigned(pages=plain_pages(12))


def test_no_failure_of_the_server_loses_or_doubles_an_answer(
    assigned: AssignedWork, tab: Page
) -> None:
    notice, alert = tab.locator("#notice"), tab.get_by_role("alert")
    sent: list[Route] = []
    tab.route("**/judgments", lambda route: sent.append(route))
    tab.keyboard.press("ArrowLeft")
    answered(tab, 1)
    tab.keyboard.press("ArrowRight")
    expect(tab.locator(".answer[aria-pressed=true]")).to_have_text("Right is better→")
    expect(tab.get_by_role("button", name="Left is better")).to_be_disabled()
    pass_time(tab, 3000)
    expect(tab.get_by_text("The server is slow to answer.")).to_be_visible()
    assert len(sent) == 1, "the second answer is sent after the first"
    tab.unroute("**/judgments")  # which lets it go on
    answered(tab, 2)
    saved(tab)
    expect(notice).to_be_empty()

    failed: list[Route] = []

    def failing(status: int, times: int) -> Callable[[Route], None]:
        failed.clear()

        def fail(route: Route) -> None:
            failed.append(route)
            if len(failed) > times:
                route.continue_()
            else:
                route.fulfill(status=status, headers={"Retry-After": "1"}, body="no")

        return fail

    tab.route("**/judgments", failing(500, 99))
    ready(tab)
    tab.keyboard.press("ArrowLeft")
    expect(alert).to_contain_text("The answer could not be saved yet.")
    answered(tab, 3)
    tab.keyboard.press("ArrowRight")
    expect(tab.locator(".answer[value=right]")).to_have_attribute("aria-pressed", "true")
    expect(alert).to_contain_text("The answer could not be saved yet.")
    tab.unroute("**/judgments")
    tab.get_by_role("button", name="Try again").dispatch_event("click")
    answered(tab, 4)
    saved(tab)
    expect(notice).to_be_empty()

    for count, status in ((5, 500), (6, 503)):  # sent again by itself, of a busy server silently
        tab.route("**/judgments", failing(status, 2))
        seen(tab)
        tab.keyboard.press("ArrowLeft")
        happened(tab, lambda: failed)
        answered(tab, count)
        if status == 503:
            expect(notice).to_be_empty()
        sent_again(tab)
        expect(notice).to_be_empty()
        assert len(failed) == 3
        tab.unroute("**/judgments")

    lost: list[int] = []

    def lose(route: Route) -> None:
        if lost:
            route.continue_()
            return
        lost.append(route.fetch(timeout=LONGEST).status)
        route.abort()

    tab.route("**/judgments", lose)
    seen(tab)
    tab.keyboard.press("ArrowLeft")
    answered(tab, 7)
    sent_again(tab)
    assert lost == [200]
    expect(notice).to_be_empty()
    tab.unroute("**/judgments")
    answers = ["left", "right", "left", "right", "left", "left", "left"]
    assert assigned.log() == [("answer", answer) for answer in answers]


def test_a_page_loaded_without_the_last_answer_still_counts_it(
    assigned: AssignedWork, tab: Page, context: BrowserContext
) -> None:
    context.route("**/judgments", lambda route: route.abort())
    tab.keyboard.press("t")
    expect(tab.get_by_text("No connection.")).to_be_visible()
    context.unroute_all()
    tab.goto(assigned.url)  # it was kept in the browser
    answered(tab, 1)
    saved(tab)
    drawn = [context.request.get(assigned.url, timeout=LONGEST).text()]

    def draw_old(route: Route) -> None:
        if drawn:
            route.fulfill(body=drawn.pop(), content_type="text/html")
        else:
            route.continue_()

    press(tab, "ArrowLeft", 2)
    tab.route(assigned.url, draw_old)
    tab.goto(assigned.url)  # it arrived after the page was rendered
    answered(tab, 2)
    press(tab, "ArrowRight", 3)
    assert assigned.log() == [("answer", "tie"), ("answer", "left"), ("answer", "right")]


SEEN_AGAIN = """() => {
  window.refusals = [];
  new MutationObserver(() => {
    if (document.querySelector('#answers').dataset.seen === undefined) refusals.push('answers');
    if (document.querySelector('.frame--loading:not(.frame--next)')) refusals.push('page');
  }).observe(document, {attributes: true, subtree: true, childList: true});
}"""


def test_a_highlight_that_comes_late_brings_no_old_question_and_holds_nothing_back(
    assigned: AssignedWork, tab: Page
) -> None:
    held: list[tuple[Route, APIResponse]] = []

    def hold_first(route: Route) -> None:
        if held or route.request.method != "GET":
            route.continue_()
        else:
            held.append((route, route.fetch(timeout=LONGEST)))

    tab.route(assigned.url, hold_first)
    tab.keyboard.press("h")
    tab.keyboard.type("wrap")
    with tab.expect_request(assigned.url):
        tab.keyboard.press("Enter")
    expect(tab.get_by_label("Stop highlighting wrap")).to_have_count(1)
    press(tab, "ArrowLeft", 1)
    happened(tab, lambda: held, "the reply to the first request, which is the old question")
    ready(tab)
    route, response = held[0]
    with tab.expect_response(assigned.url):
        route.fulfill(response=response)
    expect(frame_of(tab, "left").locator("mark", has_text="wrap").first).to_be_visible()
    ready(tab)
    answered(tab, 1)
    tab.unroute(assigned.url)

    requests: list[Route] = []
    tab.route(assigned.url, lambda route: requests.append(route))
    tab.keyboard.press("h")
    tab.keyboard.type("wait")
    tab.keyboard.press("Enter")
    expect(tab.get_by_label("Stop highlighting wait")).to_have_count(1)
    press(tab, "ArrowRight", 2)
    ready(tab)
    tab.evaluate(SEEN_AGAIN)
    tab.unroute(assigned.url)
    expect(frame_of(tab, "left").locator("mark", has_text="wait").first).to_be_attached()
    assert tab.evaluate("window.refusals") == [], "neither pages nor answers were taken away"
    assert assigned.log() == [("answer", "left"), ("answer", "right")]


def test_a_newer_sign_in_and_withdrawn_work(
    assigned: AssignedWork, tab: Page, context: BrowserContext
) -> None:
    context.add_cookies([assigned.site.cookie(assigned.user)])  # a new session in another tab
    tab.keyboard.press("ArrowLeft")
    expect(tab.get_by_text("The stored answer is saved now.")).to_be_visible()
    answered(tab, 1)

    def withdraw(row: Assignment) -> None:
        row.withdrawn_at = now()

    assigned.change(withdraw)
    tab.keyboard.press("ArrowLeft")
    expect(tab.get_by_text("An administrator has withdrawn this query from you.")).to_be_visible()
    expect(tab.get_by_role("link", name="Go to the start page")).to_be_visible()
    assert assigned.log() == [("answer", "left")]


def test_links_to_pages_that_expired_are_renewed_and_a_missing_page_says_so(
    assigned: AssignedWork, context: BrowserContext
) -> None:
    assigned.sign_in(context)
    page = context.new_page()
    serializer = URLSafeSerializer(load_secret(assigned.site.server.secret_file), salt="page")
    aged: set[str] = set()

    def age(route: Route) -> None:
        """Let the first request for each page arrive after its link has expired."""
        head, _, rest = route.request.url.partition("/pages/")
        token, _, path = rest.partition("/")
        payload = serializer.loads(token)
        name = json.dumps(payload[:2])
        if name in aged:
            route.continue_()
            return
        aged.add(name)
        route.continue_(url=f"{head}/pages/{serializer.dumps([*payload[:-1], 1])}/{path}")

    page.route("**/pages/**", age)
    page.goto(assigned.url)
    expect(frame_of(page, "left").get_by_text("Paragraph 1.")).to_be_visible()
    expect(frame_of(page, "right").get_by_text("Paragraph 1.")).to_be_visible()
    page.unroute("**/pages/**")

    with assigned.site.sessions.write.begin() as session:  # the page moves to another study
        session.execute(
            update(Document).where(Document.study_id == assigned.study.id).values(path="x")
        )
    page.route("**/pages/**", lambda route: route.continue_(url=route.request.url + "-gone"))
    page.goto(assigned.url)
    expect(frame_of(page, "left").get_by_text("This page is missing")).to_be_visible()
    seen(page)
    page.get_by_role("button", name="Cannot judge left").click()
    answered(page, 1)
    saved(page)
    assert assigned.log() == [("answer", "left_unjudgeable")]


def test_without_scripts_the_forms_work(
    assigned: AssignedWork, new_context: Callable[..., BrowserContext]
) -> None:
    context = new_context(java_script_enabled=False)
    assigned.sign_in(context)
    page, other = context.new_page(), context.new_page()
    page.goto(assigned.url)
    other.goto(assigned.url)
    expect(frame_of(page, "left").get_by_text("Paragraph 1.")).to_be_visible()
    expect(page.get_by_role("button", name="Pause")).not_to_be_visible()
    expect(page.locator(".key:visible")).to_have_count(0)  # no keys are promised
    page.get_by_role("button", name="Left is better").click()
    answered(page, 1)
    other.get_by_role("button", name="Right is better").click()
    expect(other.get_by_text("This question was already answered")).to_be_visible()
    assert question_of(other) == question_of(page)
    page.get_by_role("button", name="Undo").click()
    answered(page, 0)
    page.get_by_role("button", name="Redo").click()
    answered(page, 1)
    page.get_by_role("button", name="Right is bad").click()
    answered(page, 2)
    page.get_by_label("Highlight another term").fill("wrap")
    page.keyboard.press("Enter")
    expect(frame_of(page, "left").locator("mark", has_text="wrap").first).to_be_visible()
    page.go_back()
    page.go_back()
    expect(frame_of(page, "left").get_by_text("Paragraph 1.")).to_be_visible()
    expect(frame_of(page, "right").get_by_text("Paragraph 1.")).to_be_visible()
    assert read_of(page) == asked_of(page)
    page.get_by_role("button", name="Tie").click()
    answered(page, 3)
    rows = assigned.rows()
    assert [row.answer for row in rows] == ["left", None, None, "right_bad", "tie"]
    assert {row.active_ms for row in rows} == {0}
    assert all(row.wall_ms > 0 for row in rows)
