"""Comfort of judging for hours: equal panes, places kept, directions, dark pages, words."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

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
    ready,
    saved,
    seen,
    shows_what_it_asks,
)
from tests.browser.slow_arrival import in_two_parts
from tests.browser.test_lists import list_assigned
from topkapi.app.db.models import Assignment
from topkapi.app.domain.enums import Tool

pytestmark = pytest.mark.browser
SIDES = ("left", "right")
FRAME = "document.querySelector('#{}-frames iframe:not(.frame--next)').contentWindow"


def test_on_a_phone_only_one_tab_looks_selected(
    new_assigned: Callable[..., AssignedWork], browser: Browser
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = new_assigned().open_page(context)
    colours = """() => [...document.querySelectorAll('.panetabs a')]
      .map((tab) => getComputedStyle(tab).borderBottomColor)"""
    left, right = page.evaluate(colours)
    assert left != right
    page.get_by_role("link", name="Right page").tap()
    expect(page.get_by_role("link", name="Right page")).to_have_attribute("aria-current", "true")
    assert page.evaluate(colours) == [right, left]
    context.close()


SHIFTS = """() => { window.shifts = [];
  const what = ({ node, previousRect: was, currentRect: is }) =>
    [node?.outerHTML?.slice(0, 80) ?? node?.textContent, was, is];
  new PerformanceObserver((list) => shifts.push(
    ...list.getEntries().map(({ value, sources }) => [value, sources.map(what)])))
    .observe({ type: 'layout-shift', buffered: true }); }"""


def check_that_nothing_moved(page: Page) -> None:
    """Check that what moved since the first paint is too little to be seen."""
    shifts = page.evaluate("window.shifts")
    assert sum(value for value, _ in shifts) < 0.0005, shifts


def test_both_panes_are_equally_wide_from_the_first_paint(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned(pages=[Body("Short."), *plain_pages(1)])
    assigned.sign_in(context)
    context.add_init_script(f"({SHIFTS})()")
    page = context.new_page()
    page.goto(assigned.url)
    ready(page)
    widths = [page.locator(f"#{side}").bounding_box() for side in ("left", "right")]
    assert widths[0] is not None
    assert widths[1] is not None
    assert widths[0]["width"] == widths[1]["width"]
    inner = [page.evaluate(f"() => {FRAME.format(s)}.document.body.clientWidth") for s in SIDES]
    assert inner[0] == inner[1], "a page that scrolls wraps like one that does not"
    check_that_nothing_moved(page)


def test_nothing_moves_while_the_page_arrives(
    assigned: AssignedWork, context: BrowserContext
) -> None:
    assigned.sign_in(context)
    context.add_init_script(f"({SHIFTS})()")
    page = context.new_page()
    path = f"/assignments/{assigned.assignment.id}"
    last_button = '<button class="btn btn--ghost" type="button" command="show-modal"'
    with in_two_parts(assigned.site.server.url, path, last_button, seconds=2) as address:
        page.goto(f"{address}{path}")
        expect(page.get_by_role("button", name="Help")).to_be_visible()
        assert page.evaluate("performance.now()") > 2000
        check_that_nothing_moved(page)


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


def test_a_larger_text_keeps_the_place(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    page = new_assigned().open_page(context)
    for _ in range(2):
        page.keyboard.press("Space")
    page.wait_for_function(f"() => {FRAME.format('left')}.scrollY > 600")
    first = f"""() => {{ const d = {FRAME.format("left")}.document;
      const c = d.caretPositionFromPoint(300, 30);
      const near = c.offsetNode.data.slice(Math.max(0, c.offset - 30));
      return Number(/Paragraph (\\d+)/.exec(near)[1]);
    }}"""
    before = page.evaluate(first)
    for _ in range(2):
        page.get_by_role("button", name="Larger text").click()
    assert abs(page.evaluate(first) - before) <= 1


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


def test_tied_pages_name_their_ranks(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    page = new_assigned(pages=plain_pages(5), k=5).open_page(context)
    for _ in range(30):
        seen(page)
        page.keyboard.press("t")
        page.wait_for_function("() => !document.querySelector('#answers')?.dataset.saving")
        if page.get_by_text("Finished and saved").is_visible():
            break
    expect(page.get_by_text("Finished and saved")).to_be_visible()
    badges = page.locator(".ranked li .badge").all_inner_texts()
    assert len(badges) == 5
    assert all(badge.startswith(("tied with rank ", "tied with ranks ")) for badge in badges)


def test_the_first_question_and_lists_are_announced(
    new_assigned: Callable[..., AssignedWork], site: Site, browser: Browser
) -> None:
    context = browser.new_context()
    page = new_assigned().open_page(context)
    expect(page.locator("#announce")).to_contain_text("Question 1. Left: Title")
    context.close()
    context = browser.new_context()
    page = list_assigned(site).open_page(context)
    expect(page.locator("#announce")).to_contain_text("Question 1. Left list, 5 results: ")
    page.keyboard.press("t")
    answered(page, 1)
    expect(page.locator("#announce")).to_contain_text("Right list, 5 results: ")
    context.close()


HTML = Body("<!doctype html><title>t</title><p>HTML tulips", "text/html")


def test_all_pages_of_a_query_share_one_canvas_in_the_dark(
    new_assigned: Callable[..., AssignedWork], browser: Browser
) -> None:
    context = browser.new_context(color_scheme="dark")
    page = new_assigned(pages=[*plain_pages(5), HTML]).open_page(context)
    for count in range(1, 4):
        shown = page.locator(".frames iframe:not(.frame--next)")
        classes = shown.evaluate_all("all => all.map((frame) => frame.className)")
        assert all("frame--light" in name for name in classes)
        page.keyboard.press("ArrowLeft")
        answered(page, count)
        saved(page)
    context.close()


def test_a_long_query_leaves_room_for_the_pages(
    new_assigned: Callable[..., AssignedWork], browser: Browser
) -> None:
    text = "I am trying to find out whether " + "tulips in a vase keep upright longer and why " * 8
    context = browser.new_context(viewport={"width": 1024, "height": 768})
    page = new_assigned(text=text).open_page(context)
    stage = page.locator("#main").bounding_box()
    assert stage is not None
    assert stage["height"] > 768 * 0.6
    chips = page.locator("#terms .chip > span:first-child").all_inner_texts()
    assert not {"trying", "whether", "am"} & set(chips)
    page.keyboard.press("d")
    expect(page.get_by_role("dialog")).to_contain_text(text.strip())
    context.close()


def test_the_number_of_the_query_agrees_with_the_queue(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned()
    done = make_assigned(assigned.site, user=assigned.user)

    def finish(row: Assignment) -> None:
        row.finished_at = datetime.now(UTC)

    done.change(finish)
    with assigned.site.sessions.write.begin() as session:  # both in one study
        session.get_one(type(assigned.query), done.query.id).study_id = assigned.study.id
        session.get_one(type(assigned.query), done.query.id).external_id = "q2"
    page = assigned.open_page(context)
    expect(page.locator(".crumb")).to_contain_text("Query 2 of 2")
    page.goto(assigned.site.server.url)
    expect(page.get_by_text("1 of 2 finished.")).to_be_visible()


def test_the_progress_bar_fills(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    page = new_assigned(pages=plain_pages(12)).open_page(context)
    share = "() => parseFloat(document.querySelector('#progress .done').getAttribute('width'))"
    before, last = 0.0, 0.0
    for count in range(1, 40):
        seen(page)
        page.keyboard.press("ArrowLeft")
        page.wait_for_function(
            """n => { const bar = document.querySelector('#progress');
              return document.querySelector('.good') || bar?.ariaValueNow === String(n); }""",
            arg=count,
        )
        if not page.locator("#progress").count():
            break
        last = page.evaluate(share)
        assert last >= before
        before = last
    assert last >= 80


def test_new_is_explained_and_help_says_what_answers_mean(
    new_assigned: Callable[..., AssignedWork], browser: Browser
) -> None:
    assigned = new_assigned()
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = assigned.open_page(context)
    new = page.locator("#left-title .badge--new")
    expect(new).to_have_attribute("title", "You have not seen this page yet")
    page.get_by_role("button", name="Help").click()
    dialog = page.get_by_role("dialog", name="Help")
    expect(dialog.get_by_text("A page you have not seen yet")).to_be_visible()
    expect(dialog.get_by_text("The left page helps more with this query.")).to_be_visible()
    expect(dialog.locator("kbd").first).not_to_be_visible()
    expect(dialog.get_by_text("Link scrolling")).not_to_be_visible()
    context.close()


@pytest.mark.parametrize(
    "empty", [Body(" \n"), Body("<!doctype html><title>x</title><p> </p>", "text/html")]
)
def test_an_empty_page_says_so(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext, empty: Body
) -> None:
    page = new_assigned(pages=[empty], tool=Tool.GRADES).open_page(context)
    expect(frame_of(page, "page").get_by_text("This page is empty")).to_be_visible()


def test_without_scripts_no_keys_are_promised(
    new_assigned: Callable[..., AssignedWork], browser: Browser
) -> None:
    assigned = new_assigned()
    context = browser.new_context(java_script_enabled=False)
    assigned.sign_in(context)
    page = context.new_page()
    page.goto(assigned.url)
    expect(page.get_by_role("button", name="Left is better")).to_be_visible()
    for cap in page.locator(".key").all():
        expect(cap).not_to_be_visible()
    context.close()


def test_find_counts_and_visits_hits_in_both_pages(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    few = Body(f"One wa<b>ter</b> here. {LONG_TEXT.replace('Water', 'Ink')}", "text/html")
    assigned = new_assigned(pages=[few, Body(LONG_TEXT)])
    page = assigned.open_page(context)
    counts = page.locator("#finder-counts")
    page.keyboard.press("f")
    page.keyboard.type("water")
    numbers = {frame_of(page, s).locator("body").inner_text()[:3]: s for s in SIDES}
    wanted = {numbers["One"]: 1, numbers["Par"]: 60}
    expect(counts).to_have_text(f"Left {wanted['left']}, right {wanted['right']}")
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


def test_chips_count_their_term_in_each_page(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    page = new_assigned(
        pages=[Body("Tulips, tulips."), Body("A tulips vase.")], text="tulips"
    ).open_page(context)
    first = "Tulips" in frame_of(page, "left").locator("body").inner_text()
    expect(page.locator(".chip__count")).to_have_text("2 · 1" if first else "1 · 2")


def test_hits_are_painted_again_after_a_pause(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    page = new_assigned().open_page(context)
    page.keyboard.press("f")
    page.keyboard.type("wrap")
    expect(page.locator("#finder-counts")).to_have_text("Left 60, right 60")
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_role("button", name="Resume", exact=True)).to_be_visible()
    page.get_by_role("button", name="Resume", exact=True).click()
    ready(page)
    page.wait_for_function(f"() => {FRAME.format('left')}.CSS.highlights.has('topkapi-find')")
