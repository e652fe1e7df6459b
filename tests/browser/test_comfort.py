"""Comfort of judging for hours: equal panes, places kept, directions, words."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.assigned_work import (
    LONG_TEXT,
    AssignedWork,
    Body,
    Site,
    answered,
    frame_of,
    make_assigned,
    pair_of,
    plain_pages,
    press,
    ready,
    seen,
    shows_what_it_asks,
)
from tests.browser.slow_arrival import in_two_parts
from tests.waiting import until
from topkapi.app.domain.enums import Tool

pytestmark = pytest.mark.browser
SIDES = ("left", "right")
FRAME = "document.querySelector('#{}-frames iframe:not(.frame--next)').contentWindow"


SHIFTS = """() => { window.shifts = [];
  const what = ({ node, previousRect: was, currentRect: is }) =>
    [node?.outerHTML?.slice(0, 80) ?? node?.textContent, was, is];
  new PerformanceObserver((list) => shifts.push(
    ...list.getEntries().map(({ value, sources }) => [value, sources.map(what)])))
    .observe({ type: 'layout-shift', buffered: true }); }"""


HAS_ANSWERS = "() => document.querySelector('.answer[value=right]') !== null"
# What was painted, after the time that some requests take.
PAINTS = """async () => {
  for (let i = 0; i < 5; i += 1) await fetch('/healthz', { cache: 'no-store' });
  return performance.getEntriesByType('paint').map(({ name }) => name);
}"""


def check_that_nothing_moved(page: Page) -> None:
    """Check that what moved since the first paint is too little to be seen."""
    shifts = page.evaluate("window.shifts")
    assert sum(value for value, _ in shifts) < 0.0005, shifts


def test_nothing_moves_while_the_page_arrives_and_both_panes_are_equally_wide(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned(pages=[Body("Short."), *plain_pages(1)])
    assigned.sign_in(context)
    context.add_init_script(f"({SHIFTS})()")
    page = context.new_page()
    path = f"/assignments/{assigned.assignment.id}"
    last_button = '<button class="btn btn--ghost" type="button" command="show-modal"'
    with in_two_parts(assigned.site.server.url, path, last_button) as (address, go_on):
        page.goto(f"{address}{path}", wait_until="commit")
        until(lambda: page.evaluate(HAS_ANSWERS), "the first part of the page")
        assert page.evaluate(PAINTS) == [], "nothing is painted before all answers are there"
        go_on.set()
        expect(page.get_by_role("button", name="Help")).to_be_visible()
        ready(page)
    widths = [page.locator(f"#{side}").evaluate("e => e.clientWidth") for side in SIDES]
    assert widths[0] == widths[1]
    inner = [page.evaluate(f"() => {FRAME.format(s)}.document.body.clientWidth") for s in SIDES]
    assert inner[0] == inner[1], "a page that scrolls wraps like one that does not"
    check_that_nothing_moved(page)


FIRST = f"""() => {{ const d = {FRAME.format("left")}.document;
  const c = d.caretPositionFromPoint(300, 30);
  const near = c.offsetNode.data.slice(Math.max(0, c.offset - 30));
  return Number(/Paragraph (\\d+)/.exec(near)[1]);
}}"""


def test_pages_are_found_where_they_were_left(site: Site, context: BrowserContext) -> None:
    page = make_assigned(site, pages=plain_pages(4), k=1).open_page(context)
    title = pair_of(page)[0]
    page.keyboard.press("Space")
    page.keyboard.press("j")
    page.wait_for_function(f"() => {FRAME.format('left')}.scrollY > 300")
    place = page.evaluate(f"() => {FRAME.format('left')}.scrollY")
    kept = "() => Object.keys(localStorage).some((key) => key.startsWith('topkapi-places'))"
    page.wait_for_function(kept)
    page.reload()
    shows_what_it_asks(page)
    page.wait_for_function(f"was => {FRAME.format('left')}.scrollY === was", arg=place)
    page.keyboard.press("ArrowLeft")  # the winner comes again, on either side
    answered(page, 1)
    ready(page)
    side = SIDES[pair_of(page).index(title)]
    assert page.evaluate(f"() => {FRAME.format(side)}.scrollY") == place
    for _ in range(2):
        page.keyboard.press("Space")
    page.wait_for_function(f"() => {FRAME.format('left')}.scrollY > 600")
    before = page.evaluate(FIRST)
    for _ in range(2):
        page.keyboard.press("+")
    assert abs(page.evaluate(FIRST) - before) <= 1, "a larger text keeps the place"


ARABIC = Body(
    "كيف تبقى أزهار التوليب منتصبة في المزهرية؟\n\nضع الماء البارد.\n\nAn English line.\n\n" * 40
)
HEBREW = Body("# איך שומרים על צבעונים\n\n- לחתוך את הגבעולים\n- מים קרים", "text/markdown")


def test_pages_and_queries_from_right_to_left(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned(pages=[ARABIC, HEBREW], text="كيف تبقى أزهار التوليب منتصبة")
    page = assigned.open_page(context)
    bodies = {frame_of(page, side).locator("body").inner_text().strip()[:3]: side for side in SIDES}
    arabic, hebrew = bodies["كيف"], bodies["איך"]
    direction = "node => getComputedStyle(node).direction"
    assert frame_of(page, arabic).locator(".plain").evaluate(direction) == "rtl"
    assert frame_of(page, hebrew).locator("li").first.evaluate(direction) == "rtl"
    assert page.locator(".ask h1").evaluate(direction) == "rtl"
    terms = page.locator("#terms .chip > span:first-child").all_inner_texts()
    assert terms == ["تبقى", "أزهار", "التوليب", "منتصبة"]


def judge_all(page: Page, key: str) -> list[float]:
    """Give the same answer to the end; return the share of the progress bar after each answer."""
    shares = []
    for count in range(1, 40):
        seen(page)
        page.keyboard.press(key)
        page.wait_for_function(
            """n => { const bar = document.querySelector('#progress');
              return document.querySelector('.good') || bar?.ariaValueNow === String(n); }""",
            arg=count,
        )
        if not page.locator("#progress").count():
            break
        done = page.locator("#progress .done").get_attribute("width") or ""
        shares.append(float(done.removesuffix("%")))
    expect(page.get_by_text("Finished and saved")).to_be_visible()
    return shares


def test_the_progress_bar_fills_and_tied_pages_name_their_ranks(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    page = new_assigned(pages=plain_pages(9)).open_page(context)
    expect(page.locator("#announce")).to_contain_text("Question 1. Left: Title")
    shares = judge_all(page, "ArrowLeft")
    assert shares == sorted(shares)
    assert shares[-1] >= 80
    context.clear_cookies()
    page = new_assigned(pages=plain_pages(4), k=4).open_page(context)
    judge_all(page, "t")
    badges = page.locator(".ranked li .badge").all_inner_texts()
    assert len(badges) == 4
    assert all(badge.startswith(("tied with rank ", "tied with ranks ")) for badge in badges)


def test_an_empty_page_says_so(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    empty = [Body(" \n"), Body("<!doctype html><title>x</title><p> </p>", "text/html")]
    page = new_assigned(pages=empty, tool=Tool.GRADES).open_page(context)
    expect(frame_of(page, "page").get_by_text("This page is empty")).to_be_visible()
    press(page, "1", 1)
    expect(frame_of(page, "page").get_by_text("This page is empty")).to_be_visible()


def test_find_counts_and_visits_hits_in_both_pages(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    few = Body(f"One wa<b>ter</b> here. {LONG_TEXT.replace('Water', 'Ink')}", "text/html")
    assigned = new_assigned(pages=[few, Body(LONG_TEXT)], text="wrap water")
    page = assigned.open_page(context)
    counts = page.locator("#finder-counts")
    numbers = {frame_of(page, s).locator("body").inner_text()[:3]: s for s in SIDES}
    wanted = {numbers["One"]: 1, numbers["Par"]: 60}
    whole = " · ".join("0" if wanted[side] == 1 else "60" for side in SIDES)  # words are marked
    expect(page.locator(".chip__count")).to_have_text(["60 · 60", whole])
    page.keyboard.press("f")
    page.keyboard.type("water")
    expect(counts).to_have_text(f"Left {wanted['left']}, right {wanted['right']}")
    page.get_by_role("button", name="Pause", exact=True).click()
    page.get_by_role("button", name="Resume", exact=True).click()
    ready(page)
    page.wait_for_function(f"() => {FRAME.format('left')}.CSS.highlights.has('topkapi-find')")
    page.locator("#finder-text").focus()
    for number in (1, 2, 3):
        page.keyboard.press("Enter")
        expect(counts).to_contain_text(f"{number} of 61")
    page.keyboard.press("Shift+Enter")
    expect(counts).to_contain_text("2 of 61")
    page.keyboard.press("Escape")
    expect(page.locator("#finder")).to_be_hidden()
    page.keyboard.press("Shift+ArrowLeft")
    expect(page.get_by_text("Finished and saved")).to_be_visible()
    assert assigned.log() == [("answer", "left_bad")]
