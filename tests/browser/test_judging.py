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
    plain_pages,
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


def test_every_button_and_key_does_one_thing_and_what_is_undone_stays_undone(
    postgresql_site: Site, context: BrowserContext
) -> None:
    assigned = make_assigned(postgresql_site, pages=plain_pages(12))
    tab = assigned.open_page(context)
    first = pair_of(tab)
    press(tab, "ArrowLeft", 1)
    second = pair_of(tab)
    press(tab, "u", 0)
    assert pair_of(tab) == first
    tab.close()
    tab = assigned.open_page(context)
    answered(tab, 0)
    assert pair_of(tab) == first
    press(tab, "r", 1)
    assert pair_of(tab) == second
    names = [
        "Left is better", "Right is better", "Tie", "Left is bad", "Right is bad",
        "Cannot judge left", "Cannot judge right", "Undo", "Redo", "Pause", "Note", "Help",
    ]  # fmt: skip
    for name in names:
        expect(tab.get_by_role("button", name=name, exact=True)).to_have_count(1)
    shown = tab.locator("[aria-keyshortcuts]").evaluate_all(
        """all => all.map(x => [x.closest('dialog')?.id ?? 'page', x])
          .map(([scope, x]) => scope + ' ' + x.getAttribute('aria-keyshortcuts'))"""
    )
    assert len(shown) == len(set(shown)), "no key stands for two controls of a page or a dialog"
    expect(tab.locator("button[aria-keyshortcuts]:not(:has(.key))")).to_have_count(0)
    count = 1
    for name in ("Cannot judge left", "Right is bad", "Tie", "Right is better"):
        count += 1
        tab.get_by_role("button", name=name, exact=True).click()
        answered(tab, count)
        saved(tab)
    for key in ("9", "0", "Shift+ArrowRight"):
        count += 1
        press(tab, key, count)
    before = question_of(tab)
    tab.close()
    tab = assigned.open_page(context)
    assert question_of(tab) == before
    entries = [("answer", "left"), ("undo", None), ("redo", None)]
    given = ["left_unjudgeable", "right_bad", "tie", "right"]
    given += ["left_unjudgeable", "right_unjudgeable", "right_bad"]
    assert assigned.log() == entries + [("answer", answer) for answer in given]
    tab.get_by_role("button", name="Pause").click()
    expect(tab.get_by_role("button", name="Resume", exact=True)).to_have_count(1)


def test_in_two_tabs_every_question_is_answered_once(
    assigned: AssignedWork, tab: Page, context: BrowserContext
) -> None:
    other = assigned.open_page(context)
    press(other, "ArrowLeft", 1)
    tab.keyboard.press("ArrowRight")
    expect(tab.get_by_text("This question was already answered")).to_be_visible()
    assert question_of(tab) == question_of(other)
    assert assigned.log() == [("answer", "left")]
    tab.get_by_role("button", name="OK").click()
    expect(tab.locator("#notice")).to_be_empty()
    press(tab, "ArrowRight", 2)
    press(tab, "ArrowLeft", 3)
    other.keyboard.press("ArrowRight")  # the same answer to the second question
    expect(other.get_by_text("You continued in another tab.")).to_be_visible()
    answered(other, 3)
    assert question_of(tab) == question_of(other)
    assert assigned.log() == [("answer", "left"), ("answer", "right"), ("answer", "left")]


AGAIN = (
    "document.body.dispatchEvent("
    "new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true }))",
    "document.querySelector('.answer[value=left]').click()",
)


def test_no_answer_counts_twice_or_before_its_pages_were_visible(
    postgresql_site: Site, context: BrowserContext
) -> None:
    """Answers are sent in order: one too many would be recorded before the tie that follows."""
    assigned = make_assigned(postgresql_site, pages=plain_pages(12))
    tab = assigned.open_page(context)
    tab.get_by_role("button", name="Left is better").dblclick()
    answered(tab, 1)
    press(tab, "t", 2)
    for _ in range(5):
        tab.keyboard.down("ArrowLeft")
    tab.keyboard.up("ArrowLeft")
    answered(tab, 3)
    press(tab, "t", 4)
    for count, again in zip((5, 7), AGAIN, strict=True):
        # The second press comes as soon as the next pair is there, before anybody can see it.
        refused = tab.evaluate(
            f"""() => {{
              const button = document.querySelector('.answer[value=left]');
              {again};
              const first = button.dataset.refused;
              {again};
              return [first, button.dataset.refused,
                document.querySelector('#announce').textContent];
            }}"""
        )
        assert refused[:2] == [None, "1"]
        assert "not counted" in refused[2]
        answered(tab, count)
        press(tab, "t", count + 1)
        expect(tab.locator("[data-refused]")).to_have_count(0)
    assert assigned.log() == [("answer", "left"), ("answer", "tie")] * 4


def test_after_back_the_frames_show_the_pages_of_the_question(
    site: Site, context: BrowserContext
) -> None:
    """Chromium restores the history of frames, whatever address the page gives them."""
    page = context.new_page()
    for tool, key in ((Tool.PAIRS, "ArrowLeft"), (Tool.GRADES, "2")):
        assigned = make_assigned(site, tool=tool)
        context.clear_cookies()
        assigned.sign_in(context)
        page.goto(site.server.url)
        page.get_by_role("link", name="Begin").click()
        ready(page)
        press(page, key, 1)
        before = question_of(page)
        page.go_back()
        expect(page.get_by_role("heading", name="Your queue")).to_be_visible()
        page.go_forward()
        shows_what_it_asks(page)
        assert question_of(page) == before
        for number, elsewhere in enumerate(("/history", "/guidelines"), 2):
            press(page, key, number)
            page.goto(f"{assigned.url}{elsewhere}")
            page.go_back()
            shows_what_it_asks(page)
        page.go_forward()
        page.go_back()
        shows_what_it_asks(page)
        press(page, key, 4)
        shows_what_it_asks(page)
        assert len(assigned.log()) == 4
    page.evaluate(
        """async () => {
          const [frame, other] = document.querySelectorAll('.frames iframe');
          const loaded = new Promise((done) => frame.addEventListener('load', done));
          frame.contentWindow.location.replace(other.src);
          await loaded;
        }"""
    )
    asked = asked_of(page)[0].removeprefix("d")
    expect(frame_of(page, "page").locator("body")).to_contain_text(f"Page number {asked} of")
    shows_what_it_asks(page)
