"""Focus on the pages: one line of header, room at every size, what is new, dim pages."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.assigned_work import (
    AssignedWork,
    Body,
    Site,
    answered,
    make_assigned,
    plain_pages,
    ready,
    saved,
)
from tests.browser.looks import barriers, flaws, resize
from tests.browser.test_lists import list_assigned
from topkapi.app.db.models import Assignment
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.study import Grade

pytestmark = pytest.mark.browser
HTML = Body("<!doctype html><title>t</title><h1>HTML tulips</h1><p>Cut and wrap.", "text/html")
GRADES = tuple(
    Grade(name, f"A page that is {name} for someone who asks this, as most would say.")
    for name in ("bad", "fair", "good", "excellent", "perfect")
)
LEAST = {(1440, 900): 0.8, (1024, 768): 0.75, (390, 844): 0.65, (720, 450): 0.5}
# The share of the window in which pages or lists are seen: neither scrolled out nor covered.
SHARES = """() => [...document.querySelectorAll('.frames, .pane__scroll')].map((pane) => {
  const box = pane.getBoundingClientRect();
  const row = document.querySelector('#answers').getBoundingClientRect();
  return (Math.min(box.bottom, row.top, innerHeight) - Math.max(box.top, 0)) / innerHeight;
})"""
BOXES = """(kinds) => [...document.querySelectorAll(kinds)]
  .map((e) => JSON.stringify(e.getBoundingClientRect()))"""
BUTTONS = ".answers button"
COVERED = """() => {
  const note = document.querySelector('#notice .toast').getBoundingClientRect();
  const parts = [...document.querySelectorAll('.frames, .answers, #clock time')];
  return parts.filter((e) => e.checkVisibility({ visibilityProperty: true })).some((e) => {
    const box = e.getBoundingClientRect();
    return note.bottom > box.top && note.top < box.bottom
      && note.right > box.left && note.left < box.right;
  });
}"""


def work_with(site: Site, tool: Tool) -> AssignedWork:
    if tool is Tool.LISTS:
        return list_assigned(site)
    return make_assigned(site, tool=tool, grades=GRADES)


def go_on(page: Page, key: str, count: int) -> None:
    """Answer, and wait until the next question is there and everything is saved."""
    ready(page)
    page.keyboard.press(key)
    answered(page, count)
    saved(page)
    ready(page)


MIDDLES = """all => all.map((e) => e.getBoundingClientRect())
  .map(({ top, height }) => Math.round(top + height / 2))"""


@pytest.mark.parametrize("tool", list(Tool))
def test_pages_have_the_room_at_every_size(site: Site, context: BrowserContext, tool: Tool) -> None:
    page = work_with(site, tool).open_page(context)
    for width, height in ((1280, 720), *LEAST):
        resize(page, width, height)
        assert flaws(page) == [], (width, height)
        if width > 700 and height > 450:  # a phone has them behind a button
            tools = page.locator(".ask__more > :visible")
            assert len(set(tools.evaluate_all(MIDDLES))) == 1, f"one line of tools at {width}"
    page.reload()
    ready(page)
    assert min(page.evaluate(SHARES)) >= 0.5, "a short window folds the first header"
    go_on(page, "3" if tool is Tool.GRADES else "t", 1)
    for (width, height), least in LEAST.items():
        resize(page, width, height)
        assert min(page.evaluate(SHARES)) >= least, (width, height)
        assert flaws(page) == [], (width, height)
    if tool is Tool.GRADES:  # where the window itself scrolls, keys bring the pages into sight
        resize(page, 360, 300)
        before = min(page.evaluate(SHARES))
        page.keyboard.press("j")
        assert min(page.evaluate(SHARES)) > max(before, 0.35)
        for _ in range(3):
            page.keyboard.press("k")
        assert page.evaluate("document.documentElement.scrollTop") == 0, "and the header back"


def test_from_the_second_question_on_the_header_is_one_line(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned()
    page = assigned.open_page(context)
    described = page.get_by_text("Someone has a vase of tulips on the table.").first
    tools = page.get_by_role("button", name="Tools")
    panel = page.get_by_role("group", name="Tools")
    expect(described).to_be_visible()
    expect(tools).to_be_hidden()
    before = page.evaluate(BOXES, BUTTONS)
    high = page.locator("#main").bounding_box()
    go_on(page, "ArrowLeft", 1)
    expect(described).to_be_hidden()
    top = page.locator(".top").bounding_box()
    stage = page.locator("#main").bounding_box()
    assert top is not None
    assert stage is not None
    assert high is not None
    assert top["height"] == 48
    assert stage["y"] < high["y"]
    assert stage["y"] + stage["height"] == high["y"] + high["height"]
    assert page.evaluate(BOXES, BUTTONS) == before, "no answer has moved"
    assert [*flaws(page), *barriers(page)] == []

    tools.focus()
    page.keyboard.press("Enter")
    expect(panel.get_by_role("button", name="Guidelines")).to_be_visible()
    assert [*flaws(page), *barriers(page)] == []
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    tools.click()
    page.get_by_role("button", name="Larger text").click()
    expect(panel).to_be_visible()
    panel.get_by_role("button", name="Details").click()
    expect(page.get_by_role("dialog")).to_contain_text("A good page says what to do now.")
    expect(panel).to_be_hidden()
    page.keyboard.press("Escape")
    tools.click()
    panel.get_by_role("button", name="Highlight").click()
    expect(page.get_by_label("Highlight another term")).to_be_focused()

    page.reload()
    ready(page)
    assert len(assigned.log()) == 1, "behind open tools nothing answers"
    expect(described).to_be_hidden()
    page.keyboard.press("d")
    expect(described).to_be_visible()
    assert page.evaluate(BOXES, BUTTONS) == before
    page.keyboard.press("d")
    expect(page.get_by_role("dialog")).to_contain_text("A good page says what to do now.")
    page.keyboard.press("Escape")
    go_on(page, "ArrowLeft", 2)
    expect(described).to_be_hidden()

    tools.click()
    page.get_by_role("button", name="Full header").click()
    expect(described).to_be_visible()
    go_on(page, "ArrowLeft", 3)
    page.reload()
    ready(page)
    expect(described).to_be_visible()
    page.get_by_role("button", name="Full header").click()
    expect(described).to_be_hidden()
    for count in (2, 1, 0):
        page.keyboard.press("u")
        answered(page, count)
        saved(page)
    expect(described).to_be_visible()


def test_every_key_works_while_the_tools_are_folded(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    page = new_assigned().open_page(context)
    go_on(page, "ArrowLeft", 1)
    for key, name in {"g": "Guidelines", "x": "Flag", "?": "Help", "n": "Note"}.items():
        page.keyboard.press(key)
        expect(page.get_by_role("dialog", name=name)).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog", name=name)).to_be_hidden()
    page.keyboard.press("f")
    expect(page.locator("#finder")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("l")
    expect(page.locator("#link")).to_have_attribute("aria-pressed", "true")
    for key, size in (("+", "4"), ("-", "3"), ("-", "2")):
        page.keyboard.press(key)
        expect(
            page.frame_locator("#left-frames iframe:not(.frame--next)").locator("html")
        ).to_have_attribute("data-size", size)
    page.keyboard.press("h")
    expect(page.get_by_label("Highlight another term")).to_be_focused()
    expect(page.get_by_label("Highlight another term")).to_be_in_viewport()
    page.keyboard.type("water")
    page.keyboard.press("Enter")
    expect(page.locator(".chip", has_text="water")).to_contain_text("60 · 60")
    go_on(page, "ArrowRight", 2)
    page.keyboard.press("y")
    expect(page.get_by_role("heading", name="Your answers")).to_be_visible()


def test_a_long_query_leaves_room_and_is_whole_on_hover_and_focus(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    text = "I am trying to find out whether " + "tulips in a vase keep upright longer and why " * 8
    page = new_assigned(text=text).open_page(context)
    resize(page, 1024, 768)
    stage = page.locator("#main").bounding_box()
    assert stage is not None
    assert stage["height"] > 768 * 0.6
    chips = page.locator("#terms .chip > span:first-child").all_inner_texts()
    assert not {"trying", "whether", "am"} & set(chips)
    page.keyboard.press("d")
    expect(page.get_by_role("dialog")).to_contain_text(text.strip())
    page.keyboard.press("Escape")
    go_on(page, "ArrowLeft", 1)
    query = page.locator(".ask h1")
    is_cut = "e => e.scrollWidth > e.clientWidth"
    assert query.evaluate(is_cut)
    before = page.evaluate(BOXES, "#main, .answers button, .pane")
    query.hover()
    assert not query.evaluate(is_cut)
    assert page.evaluate(BOXES, "#main, .answers button, .pane") == before
    page.mouse.move(700, 600)
    assert query.evaluate(is_cut)
    page.get_by_role("button", name="Pause").focus()
    page.keyboard.press("Tab")
    expect(query).to_be_focused()
    assert not query.evaluate(is_cut)


def test_terms_without_hits_fold_into_a_number(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    text = "water cut wrap wait tulip vase stem flower petal colour"
    page = new_assigned(text=text).open_page(context)
    go_on(page, "ArrowLeft", 1)
    chips = page.locator("#terms .chip:visible > span:first-child")
    expect(chips).to_have_text(["water", "cut", "wrap", "wait"])
    more = page.get_by_role("button", name="Show 6 more highlighted terms")
    expect(more).to_have_text("+6")
    resize(page, 900, 700)
    shown = chips.count()
    assert 0 < shown < 4, "as many as there is room for"
    expect(page.locator(".chips__more")).to_have_text(f"+{10 - shown}")
    assert flaws(page) == []
    page.locator(".chips__more").click()
    expect(chips).to_have_count(10)


def test_sentences_on_answers_are_shown_ten_times(site: Site, context: BrowserContext) -> None:
    assigned = work_with(site, Tool.GRADES)
    page = assigned.open_page(context)
    good = page.get_by_role("button", name="good")
    sentence = good.locator("small")
    expect(sentence).to_be_visible()

    def answer_ten(row: Assignment) -> None:
        row.answered = 10

    assigned.change(answer_ten)
    page.reload()
    ready(page)
    expect(sentence).to_be_hidden()
    before = page.evaluate(BOXES, BUTTONS)
    good.hover()
    expect(sentence).to_be_visible()
    page.mouse.move(5, 300)
    expect(sentence).to_be_hidden()
    page.get_by_role("button", name="fair").focus()
    page.keyboard.press("Tab")
    expect(sentence).to_be_visible()
    assert page.evaluate(BOXES, BUTTONS) == before
    assert [*flaws(page), *barriers(page)] == []


def test_notices_cover_no_page_and_push_nothing(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    page = new_assigned().open_page(context)
    go_on(page, "ArrowLeft", 1)
    go_on(page, "ArrowLeft", 2)
    kinds = f"{BUTTONS}, .frames, .pane__acts button, #pause, #tools-button"
    for width, height in LEAST:
        resize(page, width, height)
        before = page.evaluate(BOXES, kinds)
        page.keyboard.press("u")
        answered(page, 1)
        saved(page)
        expect(page.get_by_text("You answered: Left is better.")).to_be_visible()
        assert page.evaluate(BOXES, kinds) == before, width
        assert not page.evaluate(COVERED), width
        assert flaws(page) == [], width
        context.set_offline(True)
        page.keyboard.press("ArrowLeft")
        expect(page.get_by_text("No connection.")).to_be_visible()
        assert not page.evaluate(COVERED), width
        context.set_offline(False)
        answered(page, 2)
        saved(page)
        ready(page)


def test_from_question_to_question_nothing_moves_and_the_changed_side_shows_it(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    page = new_assigned().open_page(context)
    page.evaluate(
        """() => { window.filled = [];
          new MutationObserver((all) => all.forEach(({ target }) => {
            const tint = getComputedStyle(target, '::after').backgroundColor;
            if ('chosen' in target.dataset) filled.push([target.id, tint !== 'rgba(0, 0, 0, 0)']);
          })).observe(document.querySelector('#split'),
            { subtree: true, attributeFilter: ['data-chosen'] }); }"""
    )
    line = """() => [...document.querySelectorAll('.pane__head')].map((head) => {
      const { content, animationDuration: time, height } = getComputedStyle(head, '::after');
      return content === 'none' ? null : [time, height];
    })"""
    names = "() => ['left', 'right'].map((side) => document.querySelector('#answers')[side].value)"
    assert page.evaluate(line) == [None, None], "nothing has changed yet"
    before = page.evaluate(names)
    answers, panes = page.evaluate(BOXES, BUTTONS), []
    for count in (1, 2, 3):
        go_on(page, "ArrowRight", count)
        assert page.evaluate(BOXES, BUTTONS) == answers
        panes.append(page.evaluate(BOXES, f"{BUTTONS}, .pane__acts button, .frames"))
        after = page.evaluate(names)
        wanted = [None if a == b else ["0.6s", "3px"] for a, b in zip(before, after, strict=True)]
        assert any(wanted)
        assert page.evaluate(line) == wanted
        before = after
    assert panes[0] == panes[1] == panes[2], "the header folds after the first question only"
    assert page.evaluate("filled") == [["right", True]] * 3
    expect(page.locator("[data-chosen]")).to_have_count(0)
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(line) == [None, None]
    go_on(page, "ArrowRight", 4)
    assert page.evaluate("filled")[3:] == [["right", False]]
    page.emulate_media(forced_colors="active")
    link = page.locator("#link")
    colour = "e => getComputedStyle(e).backgroundColor"
    off = link.evaluate(colour)
    page.keyboard.press("l")
    expect(link).to_have_attribute("aria-pressed", "true")
    assert link.evaluate(colour) != off, "in high contrast switches show their state"


def test_web_pages_are_dimmed_in_the_dark_unless_switched_off(
    new_assigned: Callable[..., AssignedWork], new_context: Callable[..., BrowserContext]
) -> None:
    context = new_context(color_scheme="dark")
    page = new_assigned(pages=[*plain_pages(4), HTML]).open_page(context)
    expect(page.get_by_role("button", name="Dim pages")).to_be_visible()
    go_on(page, "ArrowLeft", 1)
    frames = page.locator(".frames iframe:not(.frame--next)")
    filters = "all => all.map((frame) => getComputedStyle(frame).filter)"
    assert frames.evaluate_all(filters) == ["brightness(0.86)"] * 2
    dim = page.get_by_role("button", name="Dim pages")
    page.get_by_role("button", name="Tools").click()
    expect(dim).to_have_attribute("aria-pressed", "true")
    dim.click()
    assert frames.evaluate_all(filters) == ["none"] * 2
    page.reload()
    ready(page)
    assert frames.evaluate_all(filters) == ["none"] * 2
    page.get_by_role("button", name="Tools").click()
    dim.click()
    assert frames.evaluate_all(filters) == ["brightness(0.86)"] * 2
    page.emulate_media(color_scheme="light")
    assert frames.evaluate_all(filters) == ["none"] * 2
    expect(dim).to_be_hidden()
