"""Focus on the pages: one line of header, room at every size, what is new, dim pages."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

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
from tests.browser.looks import assert_accessible, flaws, resize, schemes
from tests.browser.test_lists import list_assigned
from topkapi.app.db.models import Assignment, Document
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


@pytest.mark.parametrize("tool", list(Tool))
def test_pages_have_the_room_at_every_size(site: Site, context: BrowserContext, tool: Tool) -> None:
    page = work_with(site, tool).open_page(context)
    go_on(page, "3" if tool is Tool.GRADES else "t", 1)
    for (width, height), least in LEAST.items():
        resize(page, width, height)
        assert min(page.evaluate(SHARES)) >= least, (width, height)
        assert flaws(page) == [], (width, height)
    page.reload()
    ready(page)
    assert min(page.evaluate(SHARES)) >= 0.5, "also if the window was short from the beginning"


def test_a_short_window_folds_the_header_of_the_first_question(
    site: Site, browser: Browser
) -> None:
    context = browser.new_context(viewport={"width": 720, "height": 450})
    for tool in Tool:
        page = work_with(site, tool).open_page(context)
        assert min(page.evaluate(SHARES)) >= 0.5, tool
        assert flaws(page) == []
        context.clear_cookies()
    context.close()


def test_where_the_window_itself_scrolls_reading_keys_bring_the_pages_into_sight(
    site: Site, browser: Browser
) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 300})
    page = work_with(site, Tool.GRADES).open_page(context)
    before = min(page.evaluate(SHARES))
    page.keyboard.press("j")
    assert min(page.evaluate(SHARES)) > max(before, 0.35)
    for _ in range(3):
        page.keyboard.press("k")
    assert page.evaluate("document.documentElement.scrollTop") == 0, "and the header back"
    context.close()


def test_from_the_second_question_on_the_header_is_one_line(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned()
    page = assigned.open_page(context)
    described = page.get_by_text("Someone has a vase of tulips on the table.").first
    tools = page.get_by_role("button", name="Tools")
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
    assert flaws(page) == []
    assert_accessible(page)
    page.reload()
    ready(page)
    assert page.evaluate(BOXES, ".top, #main")[0] == page.evaluate(BOXES, ".top")[0]
    expect(described).to_be_hidden()
    page.keyboard.press("d")
    expect(described).to_be_visible()
    assert page.evaluate(BOXES, BUTTONS) == before
    page.keyboard.press("d")
    expect(page.get_by_role("dialog")).to_contain_text("A good page says what to do now.")
    page.keyboard.press("Escape")
    go_on(page, "ArrowLeft", 2)
    expect(described).to_be_hidden()
    for count in (1, 0):
        page.keyboard.press("u")
        answered(page, count)
        saved(page)
    expect(described).to_be_visible()


@pytest.mark.parametrize("tool", list(Tool))
def test_the_tools_of_the_first_question_are_one_line(
    site: Site, context: BrowserContext, tool: Tool
) -> None:
    page = work_with(site, tool).open_page(context)
    middles = """all => all.map((e) => e.getBoundingClientRect())
      .map(({ top, height }) => Math.round(top + height / 2))"""
    for width, height in ((1440, 900), (1280, 720), (1024, 768), (390, 844)):
        resize(page, width, height)
        for scheme in schemes(page):
            tools = page.locator(".ask__more > :visible")
            assert len(set(tools.evaluate_all(middles))) == 1, (width, scheme)
            assert flaws(page) == [], (width, scheme)


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


def test_tools_open_from_their_button(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned()
    page = assigned.open_page(context)
    go_on(page, "ArrowLeft", 1)
    tools = page.get_by_role("button", name="Tools")
    tools.focus()
    page.keyboard.press("Enter")
    panel = page.get_by_role("group", name="Tools")
    expect(panel.get_by_role("button", name="Guidelines")).to_be_visible()
    assert flaws(page) == []
    assert_accessible(page)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    assert len(assigned.log()) == 1, "behind open tools nothing answers"
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


def test_a_pinned_header_stays(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    page = new_assigned().open_page(context)
    described = page.get_by_text("Someone has a vase of tulips on the table.").first
    go_on(page, "ArrowLeft", 1)
    page.get_by_role("button", name="Tools").click()
    page.get_by_role("button", name="Whole header").click()
    expect(described).to_be_visible()
    go_on(page, "ArrowLeft", 2)
    page.reload()
    ready(page)
    expect(described).to_be_visible()
    page.get_by_role("button", name="Whole header").click()
    expect(described).to_be_hidden()
    page.reload()
    expect(described).to_be_hidden()


def test_a_long_query_is_whole_on_hover_and_focus(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    page = new_assigned(text="why do tulips in a vase hang their heads " * 6).open_page(context)
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
    assert flaws(page) == []
    assert_accessible(page)


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


def test_the_side_that_changed_shows_it(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    page = new_assigned().open_page(context)
    page.evaluate(
        """() => { window.filled = [];
          new MutationObserver((all) => all.forEach(({ target }) => {
            if ('chosen' in target.dataset) filled.push(target.id);
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
    for count in (1, 2, 3):
        go_on(page, "ArrowRight", count)
        after = page.evaluate(names)
        wanted = [None if a == b else ["0.6s", "3px"] for a, b in zip(before, after, strict=True)]
        assert any(wanted)
        assert page.evaluate(line) == wanted
        before = after
    assert page.evaluate("filled") == ["right"] * 3
    expect(page.locator("[data-chosen]")).to_have_count(0)
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(line) == [None, None]


def test_on_a_phone_a_dot_marks_the_page_not_yet_looked_at(
    new_assigned: Callable[..., AssignedWork], browser: Browser
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = new_assigned().open_page(context)
    dots = """() => [...document.querySelectorAll('.panetabs a')]
      .map((tab) => getComputedStyle(tab, '::after').content !== 'none')"""
    assert page.evaluate(dots) == [False, True]
    page.get_by_role("link", name="Right page").tap()
    page.wait_for_function(f"() => !({dots})().includes(true)")
    seen = page.evaluate("() => document.querySelector('#answers').left.value")
    page.get_by_role("button", name="Right is better").tap()
    answered(page, 1)
    kept = page.evaluate("() => document.querySelector('#answers').left.value") == seen
    page.wait_for_function(f"wanted => ({dots})()[0] === wanted", arg=not kept)
    context.close()


def test_on_a_phone_a_pause_returns_to_the_page_that_was_read(
    new_assigned: Callable[..., AssignedWork], browser: Browser
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = new_assigned().open_page(context)
    tab = page.get_by_role("link", name="Right page")
    tab.tap()
    right = page.locator("#right .frames")
    expect(right).to_be_in_viewport(ratio=0.9)
    page.get_by_role("button", name="Pause").tap()
    page.get_by_role("button", name="Resume").tap()
    expect(right).to_be_in_viewport(ratio=0.9)
    expect(tab).to_have_attribute("aria-current", "true")
    context.close()


def test_web_pages_are_dimmed_in_the_dark_unless_switched_off(
    new_assigned: Callable[..., AssignedWork], browser: Browser
) -> None:
    context = browser.new_context(color_scheme="dark")
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
    context.close()


def test_a_long_host_gives_way_to_the_title(
    new_assigned: Callable[..., AssignedWork], browser: Browser
) -> None:
    assigned = new_assigned(pages=[Body("Water and cut."), Body("Wrap, then wait an hour.")])
    with assigned.site.sessions.write.begin() as session:
        for document in session.query(Document).filter_by(study_id=assigned.study.id):
            document.url = "https://a-very-long-name-of-a-host.pages.example/1"
            document.title = "How florists keep tulips upright for a week"
    context = browser.new_context(viewport={"width": 1110, "height": 800})
    page = assigned.open_page(context)
    for side in ("left", "right"):
        title = page.locator(f"#{side}-title h2").bounding_box()
        assert title is not None
        assert title["width"] > 120
        button = page.get_by_role("button", name=f"{side.capitalize()} is bad")
        expect(button).to_be_in_viewport(ratio=1)
    context.close()


def test_digits_open_results_of_the_active_list(site: Site, context: BrowserContext) -> None:
    assigned = list_assigned(site)
    page = assigned.open_page(context)
    titles = {side: page.locator(f"#{side}-list h3").all_inner_texts() for side in SIDES}
    looks = page.locator("#left-list h3 a").first.evaluate(
        "a => getComputedStyle(a).textDecorationLine"
    )
    assert looks == "underline"
    page.keyboard.press("3")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading")).to_have_text(titles["left"][2])
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    page.keyboard.press("1")
    expect(dialog.get_by_role("heading")).to_have_text(titles["right"][0])
    page.keyboard.press("Escape")
    page.keyboard.press("9")
    expect(dialog).to_be_hidden()
    assert assigned.log() == []


SIDES = ("left", "right")


def test_a_finger_leaves_no_hover_on_an_answer(
    new_assigned: Callable[..., AssignedWork], browser: Browser
) -> None:
    phone: dict[str, Any] = {"is_mobile": True, "has_touch": True}
    context = browser.new_context(viewport={"width": 390, "height": 844}, **phone)
    page = new_assigned().open_page(context)
    look = "all => all.map((e) => getComputedStyle(e).boxShadow)"
    answers = page.locator(".answer")
    before = answers.evaluate_all(look)
    page.get_by_role("button", name="Left is better").tap()
    answered(page, 1)
    expect(page.locator(".answer[aria-pressed]")).to_have_count(0)
    assert answers.evaluate_all(look) == before
    context.close()


def test_in_high_contrast_switches_show_their_state(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    page = new_assigned().open_page(context)
    page.emulate_media(forced_colors="active")
    link = page.get_by_role("button", name="Link scrolling")
    colour = "e => getComputedStyle(e).backgroundColor"
    off = link.evaluate(colour)
    link.click()
    page.mouse.move(700, 600)
    expect(link).to_have_attribute("aria-pressed", "true")
    assert link.evaluate(colour) != off
