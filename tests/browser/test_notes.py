"""Notes belong to their question: undo, another answer, a reload and a closed tab lose none."""

import pytest
from playwright.sync_api import BrowserContext, Dialog, Page, expect

from tests.browser.assigned_work import (
    AssignedWork,
    press,
    shows_what_it_asks,
)

pytestmark = pytest.mark.browser


def write(page: Page, text: str) -> None:
    page.keyboard.press("n")
    page.get_by_label("What should the researchers know?").fill(text)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_a_note_stays_with_the_pair_it_was_written_on(assigned: AssignedWork, tab: Page) -> None:
    press(tab, "ArrowLeft", 1)
    write(tab, "about the second pair")
    press(tab, "u", 0)
    expect(tab.locator("#note-text")).to_have_value("")
    press(tab, "ArrowLeft", 1)
    expect(tab.locator("#note-text")).to_have_value("about the second pair")
    press(tab, "ArrowRight", 2)
    notes = [row.note for row in assigned.rows()]
    assert notes == [None, None, None, "about the second pair"]


def test_after_undo_the_answer_and_its_note_are_shown_and_sent_again(
    assigned: AssignedWork, tab: Page
) -> None:
    write(tab, "the left page is newer")
    press(tab, "ArrowLeft", 1)
    tab.keyboard.press("u")
    shown = tab.locator("#notice")
    expect(shown).to_contain_text("You answered: Left is better.")
    expect(shown).to_contain_text("the left page is newer")
    expect(tab.locator("#note-text")).to_have_value("the left page is newer")
    tab.reload()
    shows_what_it_asks(tab)
    expect(shown).to_contain_text("You answered: Left is better.")
    press(tab, "ArrowRight", 1)
    expect(shown).to_be_empty()
    notes = [(row.answer, row.note) for row in assigned.rows()]
    assert notes == [
        ("left", "the left page is newer"),
        (None, None),
        ("right", "the left page is newer"),
    ]


def test_a_draft_survives_a_reload_and_a_closed_tab(
    assigned: AssignedWork, tab: Page, context: BrowserContext
) -> None:
    write(tab, "half a thought")
    tab.reload()
    shows_what_it_asks(tab)
    expect(tab.locator("#note-text")).to_have_value("half a thought")
    tab.close()
    again = assigned.open_page(context)
    expect(again.locator("#note-text")).to_have_value("half a thought")
    press(again, "t", 1)
    expect(again.locator("#note-text")).to_have_value("")
    assert assigned.rows()[0].note == "half a thought"


def test_signing_out_deletes_drafts_and_keeps_unsent_answers(
    assigned: AssignedWork, tab: Page
) -> None:
    write(tab, "only for the researchers")
    stored = "Object.keys(localStorage).filter(key => /^topkapi-(notes|outbox)-/.test(key))"
    tab.wait_for_function(f"{stored}.length === 1")
    of_another = "topkapi-notes-99999-1"
    outbox = f"topkapi-outbox-{assigned.user.id}-{assigned.assignment.id}"
    tab.goto(f"{assigned.site.server.url}/queue")
    tab.evaluate("name => localStorage.setItem(name, '{}')", of_another)
    tab.evaluate("name => localStorage.setItem(name, '[\"answer=left\"]')", outbox)
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    tab.once("dialog", stay)
    tab.get_by_role("button", name="Sign out").click()
    assert asked[0].startswith("One answer is stored in this browser and not saved yet.")
    expect(tab.get_by_role("button", name="Sign out")).to_be_visible()
    assert len(tab.evaluate(stored)) == 3
    tab.once("dialog", lambda dialog: dialog.accept())
    tab.get_by_role("button", name="Sign out").click()
    expect(tab.get_by_role("button", name="Sign in")).to_be_visible()
    assert sorted(tab.evaluate(stored)) == sorted([of_another, outbox])
