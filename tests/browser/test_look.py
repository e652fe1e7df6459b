"""Every judging page in every state: accessible, no overlaps, no horizontal scrolling."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.assigned_work import (
    AssignedWork,
    Body,
    answered,
    make_assigned,
    moved_on,
    plain_pages,
    press,
    question_of,
    saved,
    seen,
)
from tests.browser.looks import barriers, flaws, resize, schemes
from topkapi.app.domain.enums import Tool

pytestmark = pytest.mark.browser
SIZES = ((1440, 900), (1024, 768), (390, 844))
HTML = Body("<!doctype html><title>t</title><h1>HTML tulips</h1><p>Cut and wrap.", "text/html")


# Contrast depends on the colour scheme, names on nothing, so axe need not check each width twice.
ASKED = {(1440, "light"), (1440, "dark"), (390, "light")}


def sound(page: Page, where: str) -> None:
    """Check the state at every width, in both colour schemes; leave the window wide."""
    for width, height in SIZES:
        resize(page, width, height)
        for scheme in schemes(page):
            assert flaws(page) == [], (where, width, scheme)
            found = barriers(page) if (width, scheme) in ASKED else []
            assert found == [], (where, width, scheme)
    resize(page, 1440, 900)


def test_every_state_is_sound(new_assigned: Callable[..., AssignedWork], browser: Browser) -> None:
    assigned = new_assigned(pages=[*plain_pages(3), HTML], k=1)
    graded = make_assigned(assigned.site, tool=Tool.GRADES, user=assigned.user)
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(assigned.url)
    sound(page, "sign-in")
    page.close()
    page = assigned.open_page(context)
    sound(page, "asking")
    for key, name in {"?": "Help", "n": "Note", "d": "upright", "g": "Guidelines"}.items():
        page.keyboard.press(key)
        expect(page.get_by_role("dialog", name=name)).to_be_visible()
        sound(page, name)
        page.keyboard.press("Escape")
    page.keyboard.press("f")
    page.keyboard.type("cut")
    expect(page.locator("#finder-counts")).to_contain_text("Left")
    sound(page, "find")
    page.keyboard.press("Escape")
    page.keyboard.press("l")
    sound(page, "linked")
    page.keyboard.press("p")
    sound(page, "paused")
    page.keyboard.press("p")
    press(page, "ArrowLeft", 1)
    page.keyboard.press("u")
    expect(page.get_by_text("You answered: Left is better.")).to_be_visible()
    sound(page, "undone")
    other = assigned.open_page(context)
    other.keyboard.press("ArrowLeft")
    answered(other, 1)
    saved(other)
    other.close()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("This question was already answered")).to_be_visible()
    sound(page, "stale")
    context.set_offline(True)
    page.keyboard.press("t")
    expect(page.get_by_text("No connection.")).to_be_visible()
    sound(page, "offline")
    context.set_offline(False)
    saved(page)
    page.goto(graded.url)
    expect(page.get_by_role("button", name="excellent")).to_be_visible()
    sound(page, "grades")
    page.goto(f"{assigned.site.server.url}/keys")
    sound(page, "keys")
    page.goto(assigned.site.server.url)
    sound(page, "queue")
    page.goto(assigned.url)
    for _ in range(10):
        if page.get_by_text("Finished and saved").is_visible():
            break
        seen(page)
        before = question_of(page)
        page.keyboard.press("ArrowLeft")
        moved_on(page, before)
        page.wait_for_load_state()
    expect(page.get_by_text("Finished and saved")).to_be_visible()
    sound(page, "finished")
    context.close()


def test_nothing_moves_from_question_to_question(
    new_assigned: Callable[..., AssignedWork], browser: Browser
) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = new_assigned().open_page(context)
    boxes = """(kinds) => [...document.querySelectorAll(kinds)]
      .map((e) => JSON.stringify(e.getBoundingClientRect()))"""
    everything = ".answers button, .pane__acts button, .frames"
    answers, panes = page.evaluate(boxes, ".answers button"), []
    for count, key in enumerate(["ArrowLeft", "t", "Shift+ArrowRight"], 1):
        press(page, key, count)
        assert page.evaluate(boxes, ".answers button") == answers
        panes.append(page.evaluate(boxes, everything))
    assert panes[0] == panes[1] == panes[2], "the header folds after the first question only"
    context.close()


def test_in_windows_of_every_other_size_it_still_fits(
    new_assigned: Callable[..., AssignedWork], browser: Browser
) -> None:
    for width, height in ((320, 640), (720, 400), (768, 1024), (900, 700)):
        context = browser.new_context(viewport={"width": width, "height": height})
        page = new_assigned().open_page(context)
        assert flaws(page) == []
        expect(page.get_by_role("button", name="Left is better")).to_be_in_viewport()
        context.close()
