"""Failures of connection and server: what a person sees, and that no answer is lost."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import APIResponse, Browser, BrowserContext, Page, Route, expect

from tests.browser.assigned_work import (
    AssignedWork,
    Site,
    answered,
    asked_of,
    frame_of,
    make_assigned,
    pass_time,
    question_of,
    read_of,
    ready,
    saved,
    seen,
)
from tests.live import FORKER, free_port, serving
from topkapi.app.db.base import now
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.db.models import Assignment

pytestmark = pytest.mark.browser


@pytest.fixture
def assigned(new_assigned: Callable[..., AssignedWork]) -> AssignedWork:
    return new_assigned()


def test_without_a_connection_the_answer_is_kept_and_sent_later(
    assigned: AssignedWork, context: BrowserContext
) -> None:
    context.clock.install()
    tab = assigned.open_page(context)
    context.set_offline(True)
    tab.keyboard.press("ArrowRight")
    expect(tab.get_by_text("No connection.")).to_be_visible()
    answered(tab, 1)  # the next pages are there already
    tab.keyboard.press("ArrowLeft")
    expect(tab.get_by_role("button", name="Right is better")).to_be_disabled()
    stopped = tab.inner_text("#clock time")
    pass_time(tab, 2)
    assert tab.inner_text("#clock time") == stopped
    assert assigned.log() == []
    context.set_offline(False)
    expect(tab.get_by_text("No connection.")).not_to_be_visible()
    saved(tab)
    expect(tab.get_by_role("button", name="Left is better")).to_be_enabled()
    assert assigned.log() == [("answer", "right"), ("answer", "left")]


def test_the_longest_note_is_saved_in_any_script(assigned: AssignedWork, tab: Page) -> None:
    note = "郁" * 10_000
    tab.get_by_role("button", name="Note").click()
    tab.get_by_label("What should the researchers know?").fill(note)
    tab.keyboard.press("Escape")
    tab.get_by_role("button", name="Left is better").click()
    answered(tab, 1)
    saved(tab)
    expect(tab.get_by_text("No connection.")).not_to_be_visible()
    assert [row.note for row in assigned.rows()] == [note]


def test_a_reload_without_a_connection_keeps_the_answer(
    assigned: AssignedWork, tab: Page, context: BrowserContext
) -> None:
    context.route("**/judgments", lambda route: route.abort())
    tab.keyboard.press("t")
    expect(tab.get_by_text("No connection.")).to_be_visible()
    context.unroute_all()
    tab.goto(assigned.url)
    answered(tab, 1)
    saved(tab)
    assert assigned.log() == [("answer", "tie")]


def test_a_page_drawn_before_the_last_answer_arrived_mends_itself(
    assigned: AssignedWork, tab: Page
) -> None:
    drawn = [tab.context.request.get(assigned.url).text()]

    def draw_old(route: Route) -> None:
        if drawn:
            route.fulfill(body=drawn.pop(), content_type="text/html")
        else:
            route.continue_()

    tab.keyboard.press("ArrowLeft")
    answered(tab, 1)
    saved(tab)
    tab.route(assigned.url, draw_old)
    tab.goto(assigned.url)
    answered(tab, 1)
    tab.keyboard.press("ArrowRight")
    answered(tab, 2)
    saved(tab)
    assert assigned.log() == [("answer", "left"), ("answer", "right")]


def test_an_answer_the_server_fails_on_can_be_sent_again(assigned: AssignedWork, tab: Page) -> None:
    def fail(route: Route) -> None:
        route.fulfill(status=500, body="no")

    tab.route("**/judgments", fail)
    tab.keyboard.press("ArrowLeft")
    alert = tab.get_by_role("alert")
    expect(alert).to_contain_text("The answer could not be saved yet.")
    answered(tab, 1)
    tab.keyboard.press("ArrowRight")
    expect(tab.locator(".answer[value=right]")).to_have_attribute("aria-pressed", "true")
    expect(alert).to_contain_text("The answer could not be saved yet.")
    tab.get_by_role("button", name="Try again").dispatch_event("click")
    tab.unroute("**/judgments")
    answered(tab, 2)
    saved(tab)
    expect(tab.locator("#notice")).to_be_empty()
    assert assigned.log() == [("answer", "left"), ("answer", "right")]


def test_an_answer_the_server_fails_on_is_sent_again_by_itself(
    assigned: AssignedWork, tab: Page
) -> None:
    failed: list[str] = []

    def fail_twice(route: Route) -> None:
        if len(failed) == 2:
            route.continue_()
            return
        failed.append(route.request.url)
        route.fulfill(status=500, body="no")

    tab.route("**/judgments", fail_twice)
    tab.keyboard.press("ArrowLeft")
    saved(tab)
    answered(tab, 1)
    expect(tab.locator("#notice")).to_be_empty()
    assert len(failed) == 2
    assert assigned.log() == [("answer", "left")]


def test_a_busy_server_is_asked_again_without_a_word(assigned: AssignedWork, tab: Page) -> None:
    refused: list[str] = []

    def refuse_twice(route: Route) -> None:
        if len(refused) == 2:
            route.continue_()
            return
        refused.append(route.request.url)
        route.fulfill(status=503, headers={"Retry-After": "1"}, body="busy")

    tab.route("**/judgments", refuse_twice)
    tab.keyboard.press("ArrowLeft")
    answered(tab, 1)
    saved(tab)
    assert len(refused) == 2
    expect(tab.locator("#notice")).to_be_empty()
    assert assigned.log() == [("answer", "left")]


def test_a_reply_that_was_lost_does_no_harm(assigned: AssignedWork, tab: Page) -> None:
    lost: list[int] = []

    def lose(route: Route) -> None:
        if lost:
            route.continue_()
            return
        lost.append(route.fetch().status)
        route.abort()

    tab.route("**/judgments", lose)
    tab.keyboard.press("ArrowLeft")
    answered(tab, 1)
    saved(tab)
    assert lost == [200]
    expect(tab.locator("#notice")).to_be_empty()
    assert assigned.log() == [("answer", "left")]


def test_slow_answers_wait_in_line(assigned: AssignedWork, tab: Page) -> None:
    sent: list[Route] = []

    def hold_first(route: Route) -> None:
        sent.append(route)
        if len(sent) > 1:
            route.continue_()

    tab.route("**/judgments", hold_first)
    with tab.expect_request("**/judgments"):
        tab.keyboard.press("ArrowLeft")
    answered(tab, 1)
    tab.keyboard.press("ArrowRight")
    expect(tab.locator(".answer[aria-pressed=true]")).to_have_text("Right is better→")
    expect(tab.get_by_role("button", name="Left is better")).to_be_disabled()
    assert len(sent) == 1, "the second answer is sent after the first"
    sent[0].continue_()
    answered(tab, 2)
    saved(tab)
    assert assigned.log() == [("answer", "left"), ("answer", "right")]


def test_a_question_requested_before_the_answer_is_not_shown_after_it(
    assigned: AssignedWork, tab: Page
) -> None:
    held: list[tuple[Route, APIResponse]] = []

    def hold_first(route: Route) -> None:
        if held or route.request.method != "GET":
            route.continue_()
        else:
            held.append((route, route.fetch()))

    tab.route(assigned.url, hold_first)
    tab.keyboard.press("h")
    tab.keyboard.type("wrap")
    with tab.expect_request(assigned.url):
        tab.keyboard.press("Enter")
    expect(tab.get_by_label("Stop highlighting wrap")).to_have_count(1)
    tab.keyboard.press("ArrowLeft")
    answered(tab, 1)
    saved(tab)
    while not held:  # the reply to the first request may come after all of this
        tab.wait_for_timeout(10)
    route, response = held[0]
    with tab.expect_response(assigned.url):
        route.fulfill(response=response)
    expect(frame_of(tab, "left").locator("mark", has_text="wrap").first).to_be_visible()
    ready(tab)
    answered(tab, 1)
    tab.keyboard.press("ArrowRight")
    answered(tab, 2)
    saved(tab)
    assert assigned.log() == [("answer", "left"), ("answer", "right")]


def test_a_server_that_restarts(tmp_path: Path, sqlite_url: str, context: BrowserContext) -> None:
    port = free_port()
    engine = make_engine(sqlite_url)
    with serving(sqlite_url, tmp_path, port=port, start=FORKER.start) as server:
        assigned = make_assigned(Site(server, make_sessions(engine)))
        page = assigned.open_page(context)
        page.keyboard.press("ArrowLeft")
        answered(page, 1)
        saved(page)
        before = question_of(page)
        server.stop()
        page.keyboard.press("ArrowRight")
        expect(page.get_by_text("No connection.")).to_be_visible()
    with serving(sqlite_url, tmp_path, port=port, start=FORKER.start):
        saved(page)
        answered(page, 2)
        assert question_of(page) != before
        page.keyboard.press("u")
        answered(page, 1)
        saved(page)
        assert question_of(page).partition("&")[2] == before.partition("&")[2]
        assert [entry for entry, _ in assigned.log()] == ["answer", "answer", "undo"]
    engine.dispose()


def test_work_that_was_withdrawn(assigned: AssignedWork, tab: Page) -> None:
    def withdraw(row: Assignment) -> None:
        row.withdrawn_at = now()

    assigned.change(withdraw)
    tab.keyboard.press("ArrowLeft")
    expect(tab.get_by_text("An administrator has withdrawn this query from you.")).to_be_visible()
    expect(tab.get_by_role("link", name="Go to the start page")).to_be_visible()
    assert assigned.log() == []


def test_a_page_whose_file_is_missing_says_so(
    assigned: AssignedWork, context: BrowserContext
) -> None:
    from sqlalchemy import update

    from topkapi.app.db.models import Document

    assigned.sign_in(context)
    page = context.new_page()
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


def test_links_to_pages_that_expired_are_made_anew(
    assigned: AssignedWork, context: BrowserContext
) -> None:
    import json

    from itsdangerous import URLSafeSerializer

    from topkapi.app.secret import load_secret

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


def test_a_form_of_an_older_sign_in_is_sent_under_the_new_one(
    assigned: AssignedWork, tab: Page, context: BrowserContext
) -> None:
    context.add_cookies([assigned.site.cookie(assigned.user)])  # a new session in another tab
    tab.keyboard.press("ArrowLeft")
    expect(tab.get_by_text("The stored answer is saved now.")).to_be_visible()
    answered(tab, 1)
    assert assigned.log() == [("answer", "left")]


def test_without_scripts_the_forms_work(assigned: AssignedWork, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    assigned.sign_in(context)
    page = context.new_page()
    page.goto(assigned.url)
    expect(frame_of(page, "left").get_by_text("Paragraph 1.")).to_be_visible()
    expect(page.get_by_role("button", name="Pause")).not_to_be_visible()
    page.get_by_role("button", name="Left is better").click()
    answered(page, 1)
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
    rows = assigned.rows()
    assert [row.answer for row in rows] == ["left", None, None, "right_bad", "tie"]
    assert {row.active_ms for row in rows} == {0}
    assert all(row.wall_ms > 0 for row in rows)
    context.close()


def test_without_scripts_a_stale_form_is_explained(
    assigned: AssignedWork, browser: Browser
) -> None:
    context = browser.new_context(java_script_enabled=False)
    assigned.sign_in(context)
    first, second = context.new_page(), context.new_page()
    first.goto(assigned.url)
    second.goto(assigned.url)
    first.get_by_role("button", name="Left is better").click()
    answered(first, 1)
    second.get_by_role("button", name="Right is better").click()
    expect(second.get_by_text("This question was already answered")).to_be_visible()
    assert question_of(second) == question_of(first)
    assert assigned.log() == [("answer", "left")]
    context.close()
