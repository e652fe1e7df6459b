"""Every judging page in every state: accessible, no overlaps, no horizontal scrolling."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.assigned_work import (
    AssignedWork,
    Body,
    make_assigned,
    moved_on,
    plain_pages,
    press,
    question_of,
    saved,
    seen,
)
from tests.browser.looks import flaws, resize, sound
from topkapi.app.db.models import Document
from topkapi.app.domain.enums import Tool

pytestmark = pytest.mark.browser
HTML = Body("<!doctype html><title>t</title><h1>HTML tulips</h1><p>Cut and wrap.", "text/html")


def test_every_state_is_sound(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned(pages=[*plain_pages(3), HTML], k=1)
    graded = make_assigned(assigned.site, tool=Tool.GRADES, user=assigned.user)
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
    page.keyboard.press("l")
    page.keyboard.press("f")
    page.keyboard.type("cut")
    expect(page.locator("#finder-counts")).to_contain_text("Left")
    sound(page, "find-linked")
    page.keyboard.press("Escape")
    page.keyboard.press("p")
    sound(page, "paused")
    page.keyboard.press("p")
    press(page, "ArrowLeft", 1)
    page.keyboard.press("u")
    expect(page.get_by_text("You answered: Left is better.")).to_be_visible()
    sound(page, "undone")
    other = assigned.open_page(context)
    press(other, "ArrowLeft", 1)
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


def test_in_windows_of_every_other_size_it_still_fits(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned(pages=[Body("Water and cut."), Body("Wrap, then wait an hour.")])
    with assigned.site.sessions.write.begin() as session:
        for document in session.query(Document).filter_by(study_id=assigned.study.id):
            document.url = "https://a-very-long-name-of-a-host.pages.example/1"
            document.title = "How florists keep tulips upright for a week"
    page = assigned.open_page(context)
    for width, height in ((320, 640), (720, 400), (768, 1024), (900, 700), (1110, 800)):
        resize(page, width, height)
        assert flaws(page) == [], (width, height)
        expect(page.get_by_role("button", name="Left is better")).to_be_in_viewport()
    for side in ("left", "right"):  # a long host gives way to the title
        title = page.locator(f"#{side}-title h2").bounding_box()
        assert title is not None
        assert title["width"] > 120
        button = page.get_by_role("button", name=f"{side.capitalize()} is bad")
        expect(button).to_be_in_viewport(ratio=1)
