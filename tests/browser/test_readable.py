"""Every stored page can be read: it scrolls to its end, and its text can be shown instead."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.assigned_work import (
    LONG_TEXT,
    AssignedWork,
    Body,
    frame_of,
    moved_on,
    question_of,
    ready,
)
from topkapi.app.domain.enums import Tool

pytestmark = pytest.mark.browser
WALL = "<div style='position:fixed;inset:0;background:#0008'></div>"
LONG = "".join(f"<p>{line}</p>" for line in LONG_TEXT.split("\n\n")) + "<p id=end>The end.</p>"
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


def test_a_page_that_locks_scrolling_scrolls_to_its_end(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    pages = [Body(f"<!doctype html>{html}", "text/html") for html in LOCKED.values()]
    tab = new_assigned(pages=pages, tool=Tool.GRADES).open_page(context)
    box = tab.locator("#page-frames").bounding_box()
    assert box is not None
    for number in range(len(pages)):
        tab.mouse.move(box["x"] + 200 + number, box["y"] + 200)
        top = frame_of(tab, "page").get_by_text("Paragraph 0.")
        expect(top).to_be_in_viewport()
        tab.mouse.wheel(0, 20_000)
        tab.wait_for_function(IS_SEEN)
        if number + 1 < len(pages):
            before = question_of(tab)
            tab.keyboard.press("3")
            moved_on(tab, before)
            ready(tab)
