"""Sessions with tool T3, two rankings side by side."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from sqlalchemy import select

from tests.browser.assigned_work import (
    LONG_TEXT,
    AssignedWork,
    Site,
    answered,
    press,
    question_of,
    saved,
    select_text,
    settled,
)
from tests.browser.looks import barriers, flaws, resize, schemes
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
        work = give_lists(session, study, query, user=user, round=round, seed=str(number))
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


@pytest.mark.parametrize("choice", ["all", "active"])
def test_undo_leave_and_resume(
    new_lists: Callable[..., AssignedWork], context: BrowserContext, choice: str
) -> None:
    assigned = new_lists(lists_pairs=choice)
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


def test_two_people_at_once_are_never_shown_the_same_pair(any_site: Site, browser: Browser) -> None:
    mine = list_assigned(any_site, lists_pairs="active", lists_size=5)
    theirs = list_assigned(any_site, mine.study, round=1)
    contexts = [browser.new_context() for _ in range(2)]
    pages = [
        assigned.open_page(own) for assigned, own in zip((mine, theirs), contexts, strict=True)
    ]
    seen: list[frozenset[str]] = []
    for turn in range(5):
        seen += [frozenset(systems_of(page)) for page in pages]
        for page in pages:
            page.keyboard.press("ArrowLeft")
        for page in pages:
            if turn < 4:
                answered(page, turn + 1)
                saved(page)
            else:
                expect(page.get_by_text("Finished and saved")).to_be_visible()
    assert len(seen) == len(set(seen)) == 10
    for own in contexts:
        own.close()


def test_a_result_opens_in_the_safe_frame_and_pausing_takes_all_away(
    new_lists: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_lists()
    page = assigned.open_page(context)
    before = question_of(page)
    page.locator("#right-list").evaluate("list => { list.scrollTop = 20 }")
    page.locator("#left-list a").nth(1).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    frame = dialog.locator("iframe")
    expect(frame).to_have_attribute("sandbox", "allow-same-origin")
    expect(page.frame_locator("#reader iframe").get_by_text("Paragraph 3.")).to_be_visible()
    page.frame_locator("#reader iframe").locator("body").click()
    page.keyboard.press("ArrowLeft")
    settled(page)
    assert assigned.log() == [], "behind an open page nothing answers"
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.locator("#reader iframe")).to_have_count(0)
    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Resume", exact=True)).to_be_visible()
    expect(page.locator(".results")).to_have_count(0)
    page.keyboard.press("p")
    expect(page.locator(".results")).to_have_count(2)
    assert page.locator("#right-list").evaluate("list => list.scrollTop") == 20
    assert question_of(page) == before
    page.get_by_role("button", name="Larger text").click()
    expect(page.locator("#split")).to_have_attribute("data-size", "4")
    press(page, "t", 1)
    assert assigned.log() == [("answer", "same")]


def test_a_click_beside_an_opened_result_only_closes_it(
    new_lists: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_lists()
    page = assigned.open_page(context)
    opened = page.locator("#left-list a").nth(1)
    for place in ("#left-list", "button[value=left_much]"):
        opened.click()
        expect(page.get_by_role("dialog")).to_be_visible()
        box = page.locator(place).bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + 5, box["y"] + 5)
        expect(page.get_by_role("dialog")).to_be_hidden()
    expect(opened).to_be_focused()
    press(page, "t", 1)
    assert assigned.log() == [("answer", "same")]


def test_results_are_read_one_after_the_other_and_marked(
    new_lists: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_lists()
    page = assigned.open_page(context)
    titles = page.locator("#left-list h3").all_inner_texts()
    page.locator("#left-list a").first.focus()
    page.keyboard.press("Enter")
    reader = page.get_by_role("dialog")
    expect(reader.get_by_role("heading")).to_have_text(titles[0])
    expect(reader.get_by_role("button", name="Previous page")).to_be_disabled()
    for number in range(2, 6):
        page.keyboard.press(".")
        expect(reader.get_by_role("heading")).to_have_text(titles[number - 1])
        expect(reader.get_by_text(f"{number} of 5")).to_be_visible()
    expect(reader.get_by_role("button", name="Next page")).to_be_disabled()
    page.keyboard.press(",")
    expect(reader.get_by_role("heading")).to_have_text(titles[3])
    expect(page.frame_locator("#reader iframe").get_by_text("Paragraph 3.")).to_be_visible()
    select_text(page, "#reader", "Paragraph 3.")
    page.keyboard.press("m")
    marked = """() => [...(document.querySelector('#reader iframe').contentWindow
      .CSS.highlights.get('topkapi-passage') ?? [])].length"""
    page.wait_for_function(marked)
    assert (barriers(page), flaws(page)) == ([], [])
    page.keyboard.press("Escape")
    expect(page.locator("#left-list a").nth(3)).to_be_focused()
    expect(page.locator("#left-list a[data-opened]")).to_have_count(5)
    names = page.locator("#left-list a").evaluate_all("all => all.map(a => a.dataset.name)")
    page.reload()
    expect(page.locator("#left-list a[data-opened]")).to_have_count(5)
    press(page, "t", 1)
    assert assigned.log() == [("answer", "same")]
    shown = page.locator(".results a").evaluate_all(
        "all => all.map(a => [a.dataset.name, 'opened' in a.dataset])"
    )
    assert all(is_opened == (name in names) for name, is_opened in shown)


def test_two_tabs_and_a_double_click_count_once(
    new_lists: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_lists(lists_pairs="active")
    page, other = assigned.open_page(context), assigned.open_page(context)
    other.get_by_role("button", name="Left better", exact=True).dblclick()
    answered(other, 1)
    saved(other)
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("This question was already answered")).to_be_visible()
    assert question_of(page) == question_of(other)
    assert assigned.log() == [("answer", "left")]


HOSTILE = (
    '"><script>document.title="ran"</script><img src=x onerror="document.title=\'ran\'">'
    "<svg onload=\"document.title='ran'\"></svg><a href=\"javascript:document.title='ran'\">x</a>"
    "</template></ol><style>.answers{display:none}</style>"
)


def test_hostile_titles_and_snippets_are_inert(site: Site, context: BrowserContext) -> None:
    assigned = list_assigned(site, systems=3)
    with site.sessions.write.begin() as session:
        for number, page in enumerate(
            session.scalars(select(Document).where(Document.study_id == assigned.study.id))
        ):
            page.title, page.url = f"{number} {HOSTILE}", f"javascript:{HOSTILE}"
            content = session.get_one(Content, page.content_hash)
            content.text = f"tulips {HOSTILE} {number}"
            content.data = f"<body onload=\"parent.document.title='ran'\">{HOSTILE}".encode()
            content.media_type = "text/html"
    tab = assigned.open_page(context)
    title = tab.title()
    for count in (1, 2):
        expect(tab.locator("#left-list h3").first).to_contain_text("<script>document.title")
        expect(tab.locator("#left-list p").first).to_contain_text("<svg onload=")
        expect(
            tab.locator(".results img, .results svg, .results script, .results style")
        ).to_have_count(0)
        links = tab.locator(".results a").evaluate_all("all => all.map(x => x.pathname)")
        assert len(links) == 10
        assert all(link.startswith("/pages/") for link in links)
        press(tab, "ArrowLeft", count)
    tab.locator("#right-list a").first.click()
    expect(tab.locator("#reader iframe")).to_be_visible()
    tab.wait_for_function(
        """() => {
          const shown = document.querySelector('#reader iframe').contentDocument;
          return shown.readyState === 'complete' && shown.URL.includes('/pages/');
        }"""
    )
    assert tab.title() == title
    assert [frame.url for frame in tab.frames[1:] if "/pages/" not in frame.url] == []
    tab.keyboard.press("Escape")
    expect(tab.get_by_role("button", name="The same", exact=True)).to_be_visible()


AXE = {(1440, "light"), (1440, "dark"), (390, "light")}


def test_the_page_is_sound_at_every_width(site: Site, browser: Browser) -> None:
    assigned = list_assigned(site, documents=9, k=8)
    finished = list_assigned(site, systems=2)
    context = browser.new_context()
    page = assigned.open_page(context)
    for width, height in ((1440, 900), (1024, 768), (390, 844)):
        resize(page, width, height)
        for scheme in schemes(page):
            assert flaws(page) == [], (width, scheme)
            assert (barriers(page) if (width, scheme) in AXE else []) == []
        page.locator("#left-list a").first.click()
        expect(page.locator("#reader iframe")).to_be_visible()
        for scheme in schemes(page):
            assert flaws(page) == [], f"opened at {width}, {scheme}"
            assert (barriers(page) if width == 1440 else []) == []
        page.keyboard.press("Escape")
        for name in NAMES:
            expect(page.get_by_role("button", name=name, exact=True)).to_be_in_viewport()
    context.close()
    context = browser.new_context()
    page = finished.open_page(context)
    page.keyboard.press("t")
    expect(page.get_by_text("Finished and saved")).to_be_visible()
    for scheme in schemes(page):
        assert (barriers(page), flaws(page)) == ([], []), scheme
    context.close()


def test_on_a_phone_the_lists_are_a_strip_with_tabs(site: Site, browser: Browser) -> None:
    assigned = list_assigned(site)
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = assigned.open_page(context)
    expect(page.locator("#left-list")).to_be_in_viewport(ratio=0.9)
    page.get_by_role("link", name="Right list").click()
    expect(page.locator("#right-list")).to_be_in_viewport(ratio=0.9)
    page.get_by_role("button", name="Right better", exact=True).click()
    answered(page, 1)
    saved(page)
    assert assigned.log() == [("answer", "right")]
    context.close()
