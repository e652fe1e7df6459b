"""Answers without a connection: kept in the browser, sent once each and in order."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Dialog, Page, expect

from tests.browser.assigned_work import (
    AssignedWork,
    Site,
    answered,
    happened,
    make_assigned,
    plain_pages,
    press,
    ready,
    saved,
    shows_what_it_asks,
)
from tests.browser.page_clock import pass_time
from tests.factories import PASSWORD
from topkapi.app.db.models import User
from topkapi.app.domain.enums import Tool

pytestmark = pytest.mark.browser
NO_STORAGE = "Storage.prototype.setItem = () => { throw new Error('no storage'); }"
# Inside the page: a request that a route holds would outlive the closed tab and reach the server.
NO_ANSWER_LEAVES = """() => {
  const send = window.fetch;
  window.fetch = (url, options) =>
    String(url).endsWith("/judgments")
      ? Promise.reject(new TypeError("no connection"))
      : send(url, options);
}"""


def test_answers_are_kept_as_far_as_pages_were_prefetched_and_sent_in_order(
    postgresql_site: Site, context: BrowserContext
) -> None:
    for tool, keys, answers in (
        (Tool.PAIRS, ("ArrowLeft", "ArrowRight", "t"), ["left", "right", "tie"]),
        (Tool.GRADES, ("3", "1", "2", "4", "5"), ["good", "bad", "fair", "excellent", "perfect"]),
    ):
        assigned = make_assigned(postgresql_site, tool=tool, pages=plain_pages(9))
        context.clear_cookies()
        tab = assigned.open_page(context)
        pass_time(tab, 1500)  # of reading, after which more is prefetched
        expect(tab.locator("#answers[data-deep='0']")).to_be_attached()
        context.set_offline(True)
        for count, key in enumerate(keys[:-1], 1):
            tab.keyboard.press(key)
            answered(tab, count)
            expect(tab.locator("#notice")).to_contain_text("You can continue.")
            shown = tab.locator(".frames iframe:not(.frame--next)").evaluate_all(
                "all => all.map(frame => frame.contentDocument.body.innerText.slice(0, 11))"
            )
            assert shown == ["Page number"] * (2 if tool is Tool.PAIRS else 1)
        tab.keyboard.press(keys[-1])
        stored = f"Your {len(keys)} answers are stored in this browser"
        expect(tab.locator("#notice")).to_contain_text(stored)
        expect(tab.locator("#answers .answer").first).to_be_disabled()
        pass_time(tab, 60_000)
        assert tab.inner_text("#clock time") == "00:01", "without a question the clock stands still"
        assert assigned.log() == []
        context.set_offline(False)
        saved(tab)
        answered(tab, len(keys))
        expect(tab.get_by_text("No connection.")).not_to_be_visible()
        assert assigned.log() == [("answer", answer) for answer in answers]
        press(tab, keys[0], len(keys) + 1)
        tab.close()


def test_answers_survive_a_closed_tab_and_nobody_else_sends_them(
    assigned: AssignedWork, tab: Page, context: BrowserContext
) -> None:
    tab.evaluate(NO_ANSWER_LEAVES)
    tab.keyboard.press("ArrowLeft")
    answered(tab, 1)
    tab.keyboard.press("t")
    expect(tab.locator("#notice")).to_contain_text("Your 2 answers are stored")
    tab.close()
    other = make_assigned(assigned.site)
    context.add_cookies([assigned.site.cookie(other.user)])
    theirs = other.open_page(context)
    assert assigned.log() == other.log() == []
    theirs.close()
    context.add_cookies([assigned.site.cookie(assigned.user)])
    again = context.new_page()
    again.goto(assigned.site.server.url)
    unsent = again.locator("#unsent")
    expect(unsent).to_contain_text("how to keep cut tulips upright: 2 answers")
    unsent.get_by_role("link").click()
    expect(again.get_by_text("The 2 stored answers are saved now.")).to_be_visible()
    answered(again, 2)
    assert assigned.log() == [("answer", "left"), ("answer", "tie")]
    again.reload()
    shows_what_it_asks(again)
    assert len(assigned.log()) == 2


def expire(assigned: AssignedWork) -> None:
    """End every session of the person."""
    with assigned.site.sessions.write.begin() as session:
        session.get_one(User, assigned.user.id).session_version += 1


def sign_in(page: Page, assigned: AssignedWork) -> None:
    page.get_by_label("E-mail").fill(assigned.user.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def test_an_expired_sign_in_says_why_and_loses_no_answer(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned()
    page = assigned.open_page(context)
    expire(assigned)
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Your session has expired.")).to_be_visible()
    expect(page.get_by_text("stored in this browser")).to_be_visible()
    expect(page.get_by_label("E-mail")).to_be_focused()
    page.keyboard.type(assigned.user.email)
    page.keyboard.press("Tab")
    page.keyboard.type("not the password")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Enter the password again.")).to_be_visible()
    expect(page.get_by_label("Password")).to_be_focused()
    assert assigned.log() == []
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_text("The stored answer is saved now.")).to_be_visible()
    answered(page, 1)
    assert assigned.log() == [("answer", "right")]
    expire(assigned)
    page.keyboard.press("h")
    page.keyboard.type("wrap")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Your session has expired.")).to_be_visible()
    sign_in(page, assigned)
    page.wait_for_url(assigned.url)
    ready(page)


def test_without_storage_the_tab_keeps_the_answers(
    assigned: AssignedWork, context: BrowserContext
) -> None:
    context.add_init_script(NO_STORAGE)
    tab = assigned.open_page(context)
    context.set_offline(True)
    tab.keyboard.press("ArrowLeft")
    notice = tab.locator("#notice")
    expect(notice).to_contain_text("Your answer is kept in this tab only and sent when")
    expect(notice).to_contain_text("Keep this tab open.")
    context.set_offline(False)
    expect(notice).to_be_empty()
    ready(tab)
    assert assigned.log() == [("answer", "left")]
    context.add_cookies([assigned.site.cookie(assigned.user)])  # a new session in another tab
    press(tab, "ArrowLeft", 2)
    ready(tab)
    assert assigned.log() == [("answer", "left")] * 2

    other = make_assigned(assigned.site)
    expire(assigned)
    tab.keyboard.press("ArrowRight")
    answered(tab, 3)
    tab.keyboard.press("ArrowLeft")  # waits for the other answer
    alert = notice.get_by_role("alert")
    expect(alert).to_contain_text("Your session has expired.")
    expect(alert).to_contain_text("This tab keeps your unsent answers.")
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    tab.on("dialog", stay)
    tab.evaluate("location.assign('/')")
    happened(tab, lambda: asked == ["beforeunload"], "a question before the tab is left")
    with tab.expect_response(assigned.url) as refused:
        context.add_cookies([assigned.site.cookie(other.user)])
        pass_time(tab, 8000)
    assert refused.value.status == 404
    expect(alert).to_contain_text("Your session has expired.")
    assert other.log() == []
    assert len(assigned.log()) == 2
    context.clear_cookies()
    with context.expect_page() as opened:
        alert.get_by_role("link", name="Sign in").click()
    sign_in(opened.value, assigned)
    expect(opened.value.get_by_role("heading", name="Your queue")).to_be_visible()
    tab.bring_to_front()
    pass_time(tab, 8000)
    answered(tab, 4)
    expect(notice).to_be_empty()
    assert assigned.log()[2:] == [("answer", "right"), ("answer", "left")]
    press(tab, "ArrowLeft", 5)
    tab.keyboard.press("h")
    tab.keyboard.type("wrap")
    tab.keyboard.press("Enter")
    expect(tab.get_by_label("Stop highlighting wrap")).to_have_count(1)
