"""Sessions of an assessor with tool T1."""

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.assigned_work import (
    AssignedWork,
    Site,
    answered,
    asked_of,
    frame_of,
    make_assigned,
    moved_on,
    pair_of,
    press,
    question_of,
    ready,
    saved,
    shows_what_it_asks,
)
from topkapi.app.domain.enums import Tool

pytestmark = pytest.mark.browser


def test_a_query_is_judged_to_its_end_by_keys_alone(
    any_site: Site, context: BrowserContext
) -> None:
    assigned = make_assigned(any_site)
    assigned.sign_in(context)
    page = context.new_page()
    page.goto(assigned.site.server.url)
    expect(page.get_by_role("heading", name="Your queue")).to_be_visible()
    page.keyboard.press("Enter")
    ready(page)
    keys = ["ArrowLeft", "ArrowRight", "t", "ArrowRight", "Shift+ArrowLeft"]
    for number in range(40):
        if page.get_by_text("Finished and saved").is_visible():
            break
        before = question_of(page)
        page.keyboard.press(keys[number % len(keys)])
        moved_on(page, before)
        if page.locator("#answers").count():
            saved(page)
        page.wait_for_load_state()
    expect(page.get_by_role("heading", name="Your top 3")).to_be_visible()
    expect(page.locator(".ranked li")).to_have_count(3)
    rows = assigned.rows()
    assert [row.position for row in rows] == list(range(len(rows)))
    assert {row.answer for row in rows} >= {"left", "right", "tie", "left_bad"}
    page.keyboard.press("Enter")
    expect(page.get_by_text("All your work is finished")).to_be_visible()


def test_leave_and_resume_at_the_same_pair(
    assigned: AssignedWork, tab: Page, context: BrowserContext
) -> None:
    press(tab, "ArrowLeft", 1)
    press(tab, "ArrowRight", 2)
    before = question_of(tab)
    tab.close()
    again = assigned.open_page(context)
    assert question_of(again) == before
    assert assigned.log() == [("answer", "left"), ("answer", "right")]


def test_what_is_undone_stays_undone_and_can_be_redone(
    assigned: AssignedWork, tab: Page, context: BrowserContext
) -> None:
    first = pair_of(tab)
    press(tab, "ArrowLeft", 1)
    second = pair_of(tab)
    press(tab, "u", 0)
    assert pair_of(tab) == first
    tab.close()
    again = assigned.open_page(context)
    answered(again, 0)
    assert pair_of(again) == first
    press(again, "r", 1)
    assert pair_of(again) == second
    assert assigned.log() == [("answer", "left"), ("undo", None), ("redo", None)]


def test_buttons_have_the_names_that_others_rely_on(tab: Page) -> None:
    names = [
        "Left is better", "Right is better", "Tie", "Left is bad", "Right is bad",
        "Cannot judge left", "Cannot judge right", "Undo", "Redo", "Pause", "Note", "Help",
    ]  # fmt: skip
    for name in names:
        expect(tab.get_by_role("button", name=name, exact=True)).to_have_count(1)
    tab.get_by_role("button", name="Pause").click()
    expect(tab.get_by_role("button", name="Resume", exact=True)).to_have_count(1)


def test_every_button_says_what_it_says(assigned: AssignedWork, tab: Page) -> None:
    for count, name in enumerate(["Cannot judge left", "Right is bad", "Tie", "Right is better"]):
        tab.get_by_role("button", name=name, exact=True).click()
        answered(tab, count + 1)
        saved(tab)
    answers = [answer for _, answer in assigned.log()]
    assert answers == ["left_unjudgeable", "right_bad", "tie", "right"]


def test_every_key_does_one_thing(assigned: AssignedWork, tab: Page) -> None:
    keys = {"9": "left_unjudgeable", "0": "right_unjudgeable", "Shift+ArrowRight": "right_bad"}
    for count, (key, answer) in enumerate(keys.items(), 1):
        press(tab, key, count)
        assert assigned.log()[-1] == ("answer", answer)
    shown = tab.locator("[aria-keyshortcuts]").evaluate_all(
        """all => all.map(x => [x.closest('dialog')?.id ?? 'page', x])
          .map(([scope, x]) => scope + ' ' + x.getAttribute('aria-keyshortcuts'))"""
    )
    assert len(shown) == len(set(shown)), "no key stands for two controls of a page or a dialog"
    capless = tab.locator("button[aria-keyshortcuts]:not(:has(.key))")
    expect(capless).to_have_count(0)


def test_two_tabs(assigned: AssignedWork, tab: Page, context: BrowserContext) -> None:
    other = assigned.open_page(context)
    press(other, "ArrowLeft", 1)
    truth = question_of(other)
    tab.keyboard.press("ArrowRight")
    expect(tab.get_by_text("This question was already answered")).to_be_visible()
    assert question_of(tab) == truth
    assert assigned.log() == [("answer", "left")]
    tab.get_by_role("button", name="OK").click()
    expect(tab.locator("#notice")).to_be_empty()
    press(tab, "ArrowRight", 2)
    assert assigned.log() == [("answer", "left"), ("answer", "right")]


def test_the_same_answer_in_two_tabs_counts_once(
    assigned: AssignedWork, tab: Page, context: BrowserContext
) -> None:
    other = assigned.open_page(context)
    press(other, "ArrowLeft", 1)
    press(other, "ArrowLeft", 2)
    tab.keyboard.press("ArrowLeft")
    expect(tab.get_by_text("You continued in another tab.")).to_be_visible()
    answered(tab, 2)
    assert question_of(tab) == question_of(other)
    assert assigned.log() == [("answer", "left")] * 2


def test_a_double_click_counts_once(assigned: AssignedWork, tab: Page) -> None:
    tab.get_by_role("button", name="Left is better").dblclick()
    answered(tab, 1)
    saved(tab)
    press(tab, "t", 2)  # answers are sent in order: a second one would be between these
    assert assigned.log() == [("answer", "left"), ("answer", "tie")]


@pytest.mark.parametrize(
    "again",
    [
        "document.body.dispatchEvent("
        "new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true }))",
        "document.querySelector('.answer[value=left]').click()",
    ],
    ids=["key", "pointer"],
)
def test_no_answer_counts_before_its_pages_were_visible(
    assigned: AssignedWork, tab: Page, again: str
) -> None:
    """The second press comes as soon as the next pair is there, before anybody can see it."""
    refused = tab.evaluate(
        f"""() => {{
          const button = document.querySelector('.answer[value=left]');
          {again};
          const first = button.dataset.refused;
          {again};
          return [first, button.dataset.refused, document.querySelector('#announce').textContent];
        }}"""
    )
    assert refused[:2] == [None, "1"]
    assert "not counted" in refused[2]
    answered(tab, 1)
    saved(tab)
    press(tab, "t", 2)  # answers are sent in order: a second one would be between these
    assert assigned.log() == [("answer", "left"), ("answer", "tie")]


def test_a_frame_that_holds_another_page_loads_its_own(tab: Page) -> None:
    tab.evaluate(
        """async () => {
          const [left, right] = document.querySelectorAll('.frames iframe:not(.frame--next)');
          const loaded = new Promise((done) => left.addEventListener('load', done, { once: true }));
          left.contentWindow.location.replace(right.src);
          await loaded;
        }"""
    )
    number = asked_of(tab)[0].removeprefix("d")
    expect(frame_of(tab, "left").locator("body")).to_contain_text(f"Page number {number} of")
    shows_what_it_asks(tab)


def test_a_key_held_down_counts_once(assigned: AssignedWork, tab: Page) -> None:
    for _ in range(5):
        tab.keyboard.down("ArrowLeft")
    tab.keyboard.up("ArrowLeft")
    answered(tab, 1)
    saved(tab)
    press(tab, "t", 2)  # answers are sent in order: a second one would be between these
    assert assigned.log() == [("answer", "left"), ("answer", "tie")]


def test_back_leads_to_the_queue_and_forward_to_the_open_question(
    assigned: AssignedWork, context: BrowserContext
) -> None:
    assigned.sign_in(context)
    page = context.new_page()
    page.goto(assigned.site.server.url)
    page.get_by_role("link", name="Begin").click()
    ready(page)
    press(page, "ArrowLeft", 1)
    press(page, "ArrowRight", 2)
    before = question_of(page)
    page.go_back()
    expect(page.get_by_role("heading", name="Your queue")).to_be_visible()
    page.go_forward()
    shows_what_it_asks(page)
    assert question_of(page) == before
    press(page, "ArrowLeft", 3)
    shows_what_it_asks(page)
    assert len(assigned.log()) == 3


@pytest.mark.parametrize("tool", [Tool.PAIRS, Tool.GRADES])
def test_after_back_the_frames_show_the_pages_of_the_question(
    site: Site, context: BrowserContext, tool: Tool
) -> None:
    """Chromium restores the history of frames, whatever address the page gives them."""
    assigned = make_assigned(site, tool=tool)
    page = assigned.open_page(context)
    key = "ArrowLeft" if tool is Tool.PAIRS else "2"
    for number, elsewhere in enumerate(("/history", "/guidelines", "/history"), 1):
        press(page, key, number)
        shows_what_it_asks(page)
        page.goto(f"{assigned.url}{elsewhere}")
        page.go_back()
        shows_what_it_asks(page)
        page.go_forward()
        page.go_back()
        shows_what_it_asks(page)
    before = question_of(page)
    page.keyboard.press(key)
    moved_on(page, before)
    saved(page)
    shows_what_it_asks(page)


def test_keys_work_after_clicking_and_scrolling_in_a_page(
    assigned: AssignedWork, tab: Page
) -> None:
    frame_of(tab, "right").locator("body").click()
    tab.mouse.wheel(0, 400)
    assert tab.evaluate("document.activeElement.tagName") == "IFRAME"
    press(tab, "ArrowRight", 1)
    frame_of(tab, "left").locator("body").click()
    press(tab, "t", 2)
    frame_of(tab, "left").locator("body").click()
    tab.keyboard.press("n")
    expect(tab.get_by_label("What should the researchers know?")).to_be_focused()
    tab.keyboard.type("left or right? u")
    tab.keyboard.press("Escape")
    press(tab, "ArrowLeft", 3)
    rows = assigned.rows()
    assert [row.answer for row in rows] == ["right", "tie", "left"]
    assert rows[-1].note == "left or right? u"


def test_an_expired_sign_in_loses_no_answer(assigned: AssignedWork, tab: Page) -> None:
    from tests.factories import PASSWORD
    from topkapi.app.db.models import User

    with assigned.site.sessions.write.begin() as session:
        session.get_one(User, assigned.user.id).session_version += 1
    tab.keyboard.press("ArrowRight")
    expect(tab.get_by_role("heading", name="Sign in")).to_be_visible()
    assert assigned.log() == []
    expect(tab.get_by_label("E-mail")).to_be_focused()
    tab.keyboard.type(assigned.user.email)
    tab.keyboard.press("Tab")
    tab.keyboard.type("not the password")
    tab.keyboard.press("Enter")
    expect(tab.get_by_text("Enter the password again.")).to_be_visible()
    expect(tab.get_by_label("Password")).to_be_focused()
    tab.keyboard.type(PASSWORD)
    tab.keyboard.press("Enter")
    expect(tab.get_by_text("The stored answer is saved now.")).to_be_visible()
    answered(tab, 1)
    assert assigned.log() == [("answer", "right")]


def test_another_person_who_signs_in_sends_nothing_of_mine(
    assigned: AssignedWork, tab: Page
) -> None:
    from topkapi.app.db.models import User

    other = make_assigned(assigned.site)
    with assigned.site.sessions.write.begin() as session:
        session.get_one(User, assigned.user.id).session_version += 1
    tab.keyboard.press("ArrowRight")
    expect(tab.get_by_role("heading", name="Sign in")).to_be_visible()
    tab.context.add_cookies([assigned.site.cookie(other.user)])
    tab.goto(other.url)
    ready(tab)
    assert assigned.log() == other.log() == []
