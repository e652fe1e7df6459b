"""Sessions with tool T3, two rankings side by side."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect
from sqlalchemy import select

from tests.browser.assigned_work import (
    LONG_TEXT,
    AssignedWork,
    Site,
    happened,
    press,
    question_of,
    select_text,
)
from tests.browser.looks import barriers, flaws, sound, widths
from tests.factories import PASSWORD, make_user, queries_of
from tests.ranked import give_lists, grade_pages, make_ranked_study
from topkapi.app.db.models import Content, Document, Study

pytestmark = pytest.mark.browser
_NUMBERS = itertools.count(1)
KEYS = {
    "Shift+ArrowLeft": "left_much",
    "ArrowLeft": "left",
    "t": "same",
    "ArrowRight": "right",
    "Shift+ArrowRight": "right_much",
}
NAMES = ["Left much better", "Left better", "The same", "Right better", "Right much better"]


def list_assigned(
    site: Site, study: Study | None = None, *, round: int = 0, **settings: Any
) -> AssignedWork:
    """Create lists for a new person to compare: five systems of one query, or of ``study``."""
    number = next(_NUMBERS)
    with site.sessions.write.begin() as session:
        user = make_user(session, email=f"lists{number}-{id(site)}@example.org", password=PASSWORD)
        if study is None:
            study = make_ranked_study(
                session, slug=f"lists-{number}-{id(site)}", **{"systems": 5, **settings}
            )
            grade_pages(session, study)
            for content in session.scalars(
                select(Content).join(Document).where(Document.study_id == study.id)
            ):
                content.data, content.text = LONG_TEXT.encode(), f"{content.text} {LONG_TEXT}"
        else:
            study = session.merge(study)
        query = queries_of(session, study)[0]
        work = give_lists(session, study, query, user=user, round=round, seed=f"lists {round}")
        session.flush()
        return AssignedWork(site, user, work, study, query)


@pytest.fixture
def new_lists(postgresql_site: Site) -> Callable[..., AssignedWork]:
    """Return a function that creates assignments with lists, on PostgreSQL."""
    return lambda *given, **more: list_assigned(postgresql_site, *given, **more)


def systems_of(page: Page) -> tuple[str, str]:
    left, right = (
        page.locator(f"#entry [name={side}]").input_value() for side in ("left", "right")
    )
    return left, right


def test_lists_are_compared_by_keyboard_to_the_end(
    new_lists: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_lists()
    page = assigned.open_page(context)
    for name in [*NAMES, "Undo", "Redo", "Pause", "Note", "Help"]:
        expect(page.get_by_role("button", name=name, exact=True)).to_have_count(1)
    shown = page.locator("[aria-keyshortcuts]").evaluate_all(
        "all => all.map(x => x.closest('dialog')?.id + x.getAttribute('aria-keyshortcuts'))"
    )
    assert len(shown) == len(set(shown)), "no key stands for two controls"
    expect(page.locator("#left-list li")).to_have_count(5)
    expect(page.locator("#announce")).to_contain_text("Question 1. Left list, 5 results: ")
    answers = [*KEYS.items(), *KEYS.items()]
    seen = set()
    for count, (key, _) in enumerate(answers[:-1], 1):
        seen.add(frozenset(systems_of(page)))
        press(page, key, count)
    seen.add(frozenset(systems_of(page)))
    page.keyboard.press(answers[-1][0])
    expect(page.get_by_text("Finished and saved")).to_be_visible()
    assert [answer for _, answer in assigned.log()] == [answer for _, answer in answers]
    assert len(seen) == 10, "every pair of five systems"
    expect(page.get_by_role("row", name="The same 2")).to_be_visible()
    page.get_by_role("button", name="Undo last answer").click()
    expect(page.get_by_role("button", name="The same", exact=True)).to_be_visible()


def test_undo_leave_and_resume(
    new_lists: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_lists(lists_pairs="active")
    page = assigned.open_page(context)
    first = question_of(page)
    page.keyboard.press("n")
    page.keyboard.type("t for two")
    page.keyboard.press("Escape")
    press(page, "ArrowRight", 1)
    second = systems_of(page)
    press(page, "u", 0)
    assert question_of(page).split("&", 1)[1] == first.split("&", 1)[1], "the same lists and sides"
    press(page, "r", 1)
    assert systems_of(page) == second
    page.close()
    again = assigned.open_page(context)
    assert systems_of(again) == second
    expect(again.get_by_role("progressbar", name="Progress")).to_have_attribute(
        "aria-valuetext", "1 of 10 pairs of lists compared, 9 left"
    )
    press(again, "u", 0)
    assert question_of(again).split("&", 1)[1] == first.split("&", 1)[1]
    press(again, "Shift+ArrowLeft", 1)
    assert systems_of(again) == second, "what was chosen after it stays"
    log = [*assigned.log()]
    assert [entry for entry, _ in log] == ["answer", "undo", "redo", "undo", "answer"]
    assert assigned.rows()[0].note == "t for two"


def test_results_are_opened_read_and_marked_and_nothing_answers_behind_them(
    new_lists: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_lists()
    page = assigned.open_page(context)
    before = question_of(page)
    titles = {
        side: page.locator(f"#{side}-list h3").all_inner_texts() for side in ("left", "right")
    }
    opened, reader = page.locator("#left-list a"), page.get_by_role("dialog")
    heading, frame = reader.get_by_role("heading"), page.frame_locator("#reader iframe")
    looks = opened.first.evaluate("a => getComputedStyle(a).textDecorationLine")
    assert looks == "underline"
    page.locator("#right-list").evaluate("list => { list.scrollTop = 20 }")
    held: list[Route] = []
    page.route("**/pages/**", lambda route: held.append(route))
    opened.nth(1).click()
    expect(heading).to_have_text(titles["left"][1])
    happened(page, lambda: held, "the request for the page")
    expect(reader.locator("iframe")).to_be_hidden()  # until it hears keys
    held[0].continue_()
    page.unroute("**/pages/**")
    expect(reader.locator("iframe")).to_have_attribute("sandbox", "allow-same-origin")
    expect(frame.get_by_text("Paragraph 3.")).to_be_visible()
    frame.locator("body").click()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Escape")
    expect(reader).to_be_hidden()
    expect(page.locator("#reader iframe")).to_have_count(0)
    for place in ("#left-list", "button[value=left_much]"):  # a click beside it only closes it
        opened.nth(1).click()
        expect(reader).to_be_visible()
        box = page.locator(place).bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + 5, box["y"] + 5)
        expect(reader).to_be_hidden()
    expect(opened.nth(1)).to_be_focused()
    for keys, title in (("3", titles["left"][2]), ("s1", titles["right"][0])):
        for key in keys:  # digits open results of the active list
            page.keyboard.press(key)
        expect(heading).to_have_text(title)
        page.keyboard.press("Escape")
    page.evaluate(
        """() => {  // each key before the browser's event of closing
            for (const key of ["1", "Escape", "s", "1"])
                document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        }"""
    )
    expect(heading).to_have_text(titles["left"][0])
    expect(frame.get_by_text("Paragraph 3.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(reader).to_be_hidden()
    page.keyboard.press("9")
    expect(reader).to_be_hidden()

    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Resume", exact=True)).to_be_visible()
    expect(page.locator(".results")).to_have_count(0)
    page.keyboard.press("p")
    expect(page.locator(".results")).to_have_count(2)
    assert page.locator("#right-list").evaluate("list => list.scrollTop") == 20
    assert question_of(page) == before
    page.get_by_role("button", name="Larger text").click()
    expect(page.locator("#split")).to_have_attribute("data-size", "4")

    opened.first.focus()
    page.keyboard.press("Enter")
    expect(heading).to_have_text(titles["left"][0])
    expect(reader.get_by_role("button", name="Previous page")).to_be_disabled()
    for number in range(2, 6):
        page.keyboard.press(".")
        expect(heading).to_have_text(titles["left"][number - 1])
        expect(reader.get_by_text(f"{number} of 5")).to_be_visible()
    expect(reader.get_by_role("button", name="Next page")).to_be_disabled()
    page.keyboard.press(",")
    expect(heading).to_have_text(titles["left"][3])
    expect(frame.get_by_text("Paragraph 3.")).to_be_visible()
    select_text(page, "#reader", "Paragraph 3.")
    page.keyboard.press("m")
    marked = """() => [...(document.querySelector('#reader iframe').contentWindow
      .CSS.highlights.get('topkapi-passage') ?? [])].length"""
    page.wait_for_function(marked)
    assert [*barriers(page), *flaws(page)] == []
    page.keyboard.press("v")
    expect(reader.locator(".badge--text")).to_be_visible()
    expect(frame.locator(".plain")).to_be_visible()
    assert [*barriers(page), *flaws(page)] == []
    page.keyboard.press("v")
    expect(reader.locator(".badge--text")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(opened.nth(3)).to_be_focused()
    expect(page.locator("#left-list a[data-opened]")).to_have_count(5)
    names = page.locator(".results a[data-opened]").evaluate_all(
        "all => all.map(a => a.dataset.name)"
    )
    page.reload()
    expect(page.locator("#left-list a[data-opened]")).to_have_count(5)
    press(page, "t", 1)
    expect(page.locator("#announce")).to_contain_text("Right list, 5 results: ")
    assert assigned.log() == [("answer", "same")]
    shown = page.locator(".results a").evaluate_all(
        "all => all.map(a => [a.dataset.name, 'opened' in a.dataset])"
    )
    assert all(is_opened == (name in names) for name, is_opened in shown)


def test_the_page_is_sound_at_every_width(site: Site, context: BrowserContext) -> None:
    page = list_assigned(site, documents=9, k=8, systems=2).open_page(context)
    sound(page, "lists")
    for _ in widths(page):
        for name in NAMES:
            expect(page.get_by_role("button", name=name, exact=True)).to_be_in_viewport()
    page.locator("#left-list a").first.click()
    expect(page.locator("#reader iframe")).to_be_visible()
    sound(page, "lists-reader")
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    expect(page.get_by_text("Finished and saved")).to_be_visible()
    sound(page, "lists-finished")


HOSTILE = (
    "\"><script>document.title='ran'</script><svg onload=\"document.title='ran'\"></svg></template>"
    "</ol><style>.answers{display:none}</style><a href=\"javascript:document.title='ran'\">x</a>"
)


def test_hostile_titles_and_snippets_are_inert(site: Site, context: BrowserContext) -> None:
    assigned = list_assigned(site, systems=3)
    with site.sessions.write.begin() as session:
        mine = select(Document).where(Document.study_id == assigned.study.id)
        for page in session.scalars(mine):
            page.title, page.url = f"{page.id} {HOSTILE}", f"javascript:{HOSTILE}"
            content = session.get_one(Content, page.content_hash)
            content.text, content.media_type = f"tulips {HOSTILE} {page.id}", "text/html"
            content.data = f"<body onload=\"parent.document.title='ran'\">{HOSTILE}".encode()
    tab = assigned.open_page(context)
    title = tab.title()
    expect(tab.locator("#left-list h3").first).to_contain_text("<script>document.title")
    expect(tab.locator("#left-list p").first).to_contain_text("<svg onload=")
    expect(tab.locator(".results").locator("svg, script, style")).to_have_count(0)
    links = tab.locator(".results a").evaluate_all("all => all.map(x => x.pathname)")
    assert len(links) == 10
    assert all(link.startswith("/pages/") for link in links)
    tab.locator("#right-list a").first.click()
    expect(tab.frame_locator("#reader iframe").locator("body")).to_be_visible()
    assert tab.title() == title
