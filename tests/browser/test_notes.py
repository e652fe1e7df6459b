"""Notes belong to their question: undo, another answer, a reload and a closed tab lose none."""

import pytest
from playwright.sync_api import BrowserContext, Dialog, Page, expect

from tests.browser.assigned_work import AssignedWork, press, shows_what_it_asks

pytestmark = pytest.mark.browser
LONGEST_NOTE = "郁" * 10_000


def write(page: Page, text: str) -> None:
    page.keyboard.press("n")
    page.get_by_label("What should the researchers know?").fill(text)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_a_note_stays_with_its_question_and_is_sent_with_the_answer(
    assigned: AssignedWork, tab: Page, context: BrowserContext
) -> None:
    write(tab, "the left page is newer")
    press(tab, "ArrowLeft", 1)
    write(tab, "about the second pair")
    tab.keyboard.press("u")
    shown, field = tab.locator("#notice"), tab.locator("#note-text")
    expect(shown).to_contain_text("You answered: Left is better.")
    expect(shown).to_contain_text("the left page is newer")
    expect(field).to_have_value("the left page is newer")
    tab.reload()
    shows_what_it_asks(tab)
    expect(shown).to_contain_text("You answered: Left is better.")
    press(tab, "ArrowLeft", 1)
    expect(shown).to_be_empty()
    expect(field).to_have_value("about the second pair")
    tab.close()
    again = assigned.open_page(context)
    expect(again.locator("#note-text")).to_have_value("about the second pair")
    press(again, "ArrowRight", 2)
    expect(again.locator("#note-text")).to_have_value("")
    write(again, LONGEST_NOTE)
    press(again, "t", 3)
    expect(again.get_by_text("No connection.")).not_to_be_visible()
    assert [(row.answer, row.note) for row in assigned.rows()] == [
        ("left", "the left page is newer"),
        (None, None),
        ("left", "the left page is newer"),
        ("right", "about the second pair"),
        ("tie", LONGEST_NOTE),
    ]


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
