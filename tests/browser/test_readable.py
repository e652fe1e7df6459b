"""Every stored page can be read: it scrolls to its end, and its text can be shown instead."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.assigned_work import (
    LONG_TEXT,
    AssignedWork,
    Body,
    answered,
    frame_of,
    moved_on,
    question_of,
    ready,
    saved,
    settled,
)
from tests.browser.looks import barriers, flaws
from topkapi.app.domain.enums import Tool

pytestmark = pytest.mark.browser
WALL = "<div style='position:fixed;inset:0;background:#0008'></div>"
LONG = "".join(f"<p>{line}</p>" for line in LONG_TEXT.split("\n\n")) + "<p id=end>The end.</p>"
KINDS = ("<!doctype html>", "")  # without it a browser is in quirks mode
LOCKED = {
    "hidden": f"<style>body{{overflow:hidden}}</style>{WALL}{LONG}",
    "whole height": f"<style>html,body{{height:100%;overflow:hidden}}</style>{WALL}{LONG}",
    "important": "<style>html body.locked{height:100vh!important;overflow:hidden!important}</style>"
    f"<body class=locked>{WALL}{LONG}",
    "inline": f"<html style='overflow:hidden'><body style='overflow:hidden !important'>{LONG}",
    "fixed": f"<style>body{{position:fixed;top:-400px;width:100%;overflow:hidden}}</style>{LONG}",
    "highest": f"<style>html{{max-height:100vh;overflow:clip}}</style>{LONG}",
    "box": f"<style>#app{{height:100vh;overflow:hidden}}</style><div id=app>{WALL}{LONG}</div>",
    "undisplayed": f"<style>body{{display:none}}</style>{LONG}",
    "transparent": f"<style>html,body{{opacity:0;visibility:hidden}}</style>{LONG}",
    "frames": "<frameset cols='20%,*'><frame src=a.html><frame src=b.html>"
    f"<noframes><body>{LONG}</body></noframes></frameset>",
}
IS_SEEN = """() => {
  const frame = document.querySelector('#page-frames iframe:not(.frame--next)');
  const end = frame.contentDocument.getElementById('end');
  const { top, bottom } = end.getBoundingClientRect();
  const isShown = end.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  return isShown && top >= 0 && bottom <= frame.clientHeight + 1;
}"""


def answer(page: Page, key: str) -> None:
    """Answer, and wait for the next question."""
    before = question_of(page)
    page.keyboard.press(key)
    moved_on(page, before)
    ready(page)


def test_a_page_that_locks_scrolling_scrolls_to_its_end(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    pages = [Body(kind + html, "text/html") for html in LOCKED.values() for kind in KINDS]
    tab = new_assigned(pages=pages, tool=Tool.GRADES).open_page(context)
    box = tab.locator("#page-frames").bounding_box()
    assert box is not None
    for number in range(len(pages)):
        tab.mouse.move(box["x"] + 200 + number, box["y"] + 200)
        top = frame_of(tab, "page").get_by_text("Paragraph 0.")
        expect(top).to_be_in_viewport()
        tab.keyboard.press("End")
        tab.wait_for_function(IS_SEEN)
        tab.keyboard.press("Home")
        expect(top).to_be_in_viewport()
        tab.mouse.wheel(0, 20_000)
        tab.wait_for_function(IS_SEEN)
        if number + 1 < len(pages):
            answer(tab, "3")


SHORT = "Keep tulips in cold water."
EMPTY = {
    "covered": f"<p>{SHORT}<div style='position:fixed;inset:0;background:#fff'>Accept?</div>",
    "see-through": f"<style>p{{opacity:0}}</style><p>{SHORT}",
    "white on white": f"<p style='color:#fff'>{SHORT}",
    "elsewhere": f"<p style='position:absolute;left:-9999px'>{SHORT}",
    "clipped": f"<body style='clip-path:inset(100%)'><p>{SHORT}{LONG}",
}
SHOWING = {
    "plain": f"<p>{SHORT}",
    "dimmed": f"<p>{SHORT}<div style='position:fixed;inset:0;background:#0006'>Accept?</div>",
    "further down": f"<div style='height:200vh'></div><p>{SHORT}",
    "white on dark": f"<body style='background:#222;color:#fff'><p>{SHORT}",
    "in a fixed box": f"<div style='position:fixed;inset:0;background:#fff'><p>{SHORT}</div>",
}


def test_a_page_that_shows_nothing_offers_its_text(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    kinds = [*EMPTY, *SHOWING]
    htmls = [*EMPTY.values(), *SHOWING.values()]
    pages = [Body(kind + html, "text/html") for kind in KINDS for html in htmls]
    tab = new_assigned(pages=pages, tool=Tool.GRADES).open_page(context)
    offer = tab.get_by_role("button", name="Show its text")
    offered = []
    for number in range(len(pages)):
        expect(tab.locator("#page-frames iframe[data-shows]:not(.frame--next)")).to_have_count(1)
        if offer.count():
            document = tab.locator("#entry [name=document]").input_value()
            offered.append(kinds[int(document[1:]) % len(kinds)])
            offer.click()
            expect(frame_of(tab, "page").locator("mark", has_text="tulips")).to_be_visible()
            expect(frame_of(tab, "page").locator("body")).to_contain_text(SHORT)
            expect(offer).to_have_count(0)
        if number + 1 < len(pages):
            answer(tab, "3")
    assert sorted(offered) == sorted([*EMPTY, *EMPTY])


RICH = (
    "<!doctype html><style>p{color:#070;font-size:9px}</style><h1>Tulips</h1>"
    f"<p>{SHORT}</p><script>no</script>{LONG}"
)


def test_a_page_is_read_as_text_and_back(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    pages = [Body(RICH + str(number), "text/html") for number in range(4)]
    assigned = new_assigned(pages=pages, text="cold tulips")
    tab = assigned.open_page(context)
    badges = {side: tab.locator(f"#{side} .badge--text") for side in ("left", "right")}
    size = "e => getComputedStyle(e).fontSize"
    left, right = frame_of(tab, "left"), frame_of(tab, "right")
    expect(left.locator("h1")).to_be_visible()
    tab.keyboard.press("v")
    expect(badges["left"]).to_be_visible()
    expect(badges["right"]).to_be_hidden()
    expect(left.locator(".plain")).to_contain_text(SHORT)
    expect(left.locator("h1")).to_have_count(0)
    expect(left.locator("mark").first).to_have_text("Tulips")
    assert left.locator("body").evaluate(size) == "17px"
    expect(right.locator("h1")).to_be_visible()
    tab.keyboard.press("f")  # marks, finding and passages work as in the page
    tab.keyboard.type("paragraph 7.")
    expect(tab.locator("#finder-counts")).to_have_text("Left 1, right 1")
    tab.keyboard.press("Escape")
    first = tab.inner_text("#left-title h2")
    question = question_of(tab)
    tab.keyboard.press("h")
    tab.keyboard.type("wrap")
    tab.keyboard.press("Enter")
    expect(left.locator(".plain mark", has_text="wrap").first).to_be_attached()
    expect(badges["left"]).to_be_visible()
    ready(tab)
    answer(tab, "ArrowLeft")
    answered(tab, 1)
    saved(tab)
    tab.keyboard.press("u")
    answered(tab, 0)
    assert question_of(tab).split("&")[1:] == question.split("&")[1:]
    assert tab.inner_text("#left-title h2") == first
    expect(badges["left"]).to_be_visible()
    expect(left.locator(".plain")).to_contain_text(SHORT)
    tab.keyboard.press("v")
    expect(badges["left"]).to_be_hidden()
    expect(left.locator("h1")).to_be_visible()
    assert [entry for entry, _ in assigned.log()] == ["answer", "undo"]
    assert (flaws(tab), barriers(tab)) == ([], [])
    tab.go_back()  # views added no history entries
    assert tab.url == "about:blank"


WORDS = " ".join(f"word{number}" for number in range(200))
HAN = "".join(chr(0x4E00 + 7 * number) for number in range(200))
DIFFER = """() => ['left', 'right'].map((side) => {
  const frame = document.querySelector(`#${side}-frames iframe:not(.frame--next)`);
  return [...(frame.contentWindow.CSS.highlights.get('topkapi-difference') ?? [])].map(String);
})"""


def badge_of(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext, one: Body, other: Body
) -> Page:
    context.clear_cookies()
    return new_assigned(pages=[one, other]).open_page(context)


def test_pages_with_the_same_text_say_so(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    plain = Body(f"Tulips & more\n\n{WORDS}.")
    html = Body(f"<!doctype html><h1>Tulips &amp; <i>more</i></h1><p>{WORDS}.", "text/html")
    near = Body(f"Tulips & more\n\n{WORDS.replace('word50 ', 'tall vases ')}.")
    chinese = [Body(start + HAN) for start in ("你好", "早安")]
    tab = badge_of(new_assigned, context, plain, html)
    expect(tab.locator(".badge--same")).to_have_text(["Same text", "Same text"])
    assert (flaws(tab), barriers(tab)) == ([], [])
    tab = badge_of(new_assigned, context, html, near)
    expect(tab.locator("#left .badge--same, #right .badge--same")).to_have_count(2)
    expect(tab.locator("#left .badge--same")).to_contain_text("Nearly the same")
    for wanted in (["tall vases", "word50"], []):
        tab.keyboard.press("c")
        tab.wait_for_function(
            f"wanted => ({DIFFER})().flat().sort().join('|') === wanted", arg="|".join(wanted)
        )
    assert (flaws(tab), barriers(tab)) == ([], [])
    tab = badge_of(new_assigned, context, *chinese)
    tab.get_by_role("button", name="Nearly the same").first.click()
    tab.wait_for_function(f"({DIFFER})().flat().sort().join('|') === '你好|早安'")


def test_pages_with_other_text_say_nothing(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    others = (" ".join(f"{word}{number}" for number in range(30)) for word in ("one", "two"))
    bodies = [Body(f"{WORDS} {other}") for other in others]
    bodies.append(Body(f"{bodies[0].data}."))
    assigned = new_assigned(pages=bodies)
    tab = assigned.open_page(context)
    texts = {str(at): body.data for at, body in enumerate(bodies)}
    for number in range(2):
        settled(tab)
        left, right = (texts[tab.inner_text(f"#{side}-title h2")[-1]] for side in ("left", "right"))
        is_near = left.rstrip(".") == right.rstrip(".")
        expect(tab.locator(".badge--same")).to_have_count(2 if is_near else 0)
        if number == 0:
            answer(tab, "ArrowLeft")
