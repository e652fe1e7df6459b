"""PDF files, pictures, wide pages and withheld parts on the judging page."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import select

from tests.browser.assigned_work import AssignedWork, Body, Site, frame_of, ready
from tests.browser.looks import sound, widths
from tests.factories import make_assignment, make_user
from tests.media import pdf_of, png_of
from tests.studies import write_jsonl
from topkapi.app.db.models import Query, Study
from topkapi.app.services.importing import import_study, open_source

pytestmark = pytest.mark.browser
GUIDE = pdf_of("Water the tulips daily", "Page two")
SMALL = pdf_of(f"Water the tulips daily {'and cut them ' * 4}", font="Courier", size=10)
# Where the marked word begins and how wide it is, in points of a page 595 points wide.
MARK = """mark => {
  const sheet = mark.closest('.sheet').getBoundingClientRect();
  const { left, width, top, height } = mark.getBoundingClientRect();
  const points = 595 / sheet.width;
  return [points * (left - sheet.left), points * width, points * (top - sheet.top + height / 2)];
}"""
WIDE = '<!doctype html><div style="width:3000px;background:#eee">A wide table of tulips.</div>'
HELD = (
    "<!doctype html><p>Before.</p><iframe src='https://film.example' width=300 height=80></iframe>"
    "<img src='https://pictures.example/tulip.png' alt='A tulip'><p>After.</p>"
)


def media_desks(
    site: Site, folder: Path, count: int, guide: bytes = GUIDE
) -> list[tuple[str, object]]:
    """Import a study of a PDF and a picture, and assign it to ``count`` people.

    Return for each person the address and the cookie.
    """
    slug = f"media-{id(folder)}"
    (folder / "pages").mkdir()
    (folder / "study.toml").write_text(f'name = "Media"\nslug = "{slug}"\nk = 2\n')
    (folder / "pages" / "guide.pdf").write_bytes(guide)
    (folder / "pages" / "vase.png").write_bytes(png_of(2000))
    records = [{"id": "guide", "path": "pages/guide.pdf"}, {"id": "vase", "path": "pages/vase.png"}]
    write_jsonl(folder / "documents.jsonl", records)
    write_jsonl(folder / "queries.jsonl", [{"id": "q", "text": "keep tulips"}])
    candidates = [{"query": "q", "document": each} for each in ("guide", "vase")]
    write_jsonl(folder / "candidates.jsonl", candidates)
    with site.sessions.write.begin() as session:
        with open_source(folder) as source:
            import_study(session, source)
        session.flush()
        study = session.scalars(select(Study).where(Study.slug == slug)).one()
        query = session.scalars(select(Query).where(Query.study_id == study.id)).one()
        users = [make_user(session) for _ in range(count)]
        made = [make_assignment(session, user=user, query=query, k=2) for user in users]
        address = f"{site.server.url}/assignments"
        return [
            (f"{address}/{assignment.id}", site.cookie(user))
            for user, assignment in zip(users, made, strict=True)
        ]


def test_a_pdf_and_a_picture_are_judged_side_by_side(
    postgresql_site: Site, context: BrowserContext, tmp_path: Path
) -> None:
    [(address, cookie)] = media_desks(postgresql_site, tmp_path, 1)
    page = context.new_page()
    context.add_cookies([cookie])  # type: ignore[list-item]
    page.goto(address)
    ready(page)
    for _ in widths(page):
        _shows_both(page)
    sound(page, "media")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("Finished and saved")).to_be_visible()


def _shows_both(page: Page) -> None:
    sides = {page.inner_text(f"#{side}-title h2"): side for side in ("left", "right")}
    guide, vase = frame_of(page, sides["guide"]), frame_of(page, sides["vase"])
    expect(guide.locator("mark", has_text="tulips")).to_be_attached()
    expect(guide.locator("img").first).to_have_js_property("naturalWidth", 1240)
    expect(vase.locator("img")).to_have_js_property("naturalWidth", 2000)
    for frame in (guide, vase):  # both fit without scrolling sideways
        room = "e => e.scrollWidth - e.clientWidth"
        assert frame.locator("html").evaluate(room) <= 0


def test_marks_in_a_pdf_lie_on_the_words_at_a_readable_size(
    site: Site, context: BrowserContext, tmp_path: Path
) -> None:
    [(address, cookie)] = media_desks(site, tmp_path, 1, SMALL)
    context.add_cookies([cookie])  # type: ignore[list-item]
    page = context.new_page()
    page.set_viewport_size({"width": 1024, "height": 768})
    page.goto(address)
    ready(page)
    side = next(each for each in ("left", "right") if _title(page, each) == "guide")
    mark = frame_of(page, side).locator("mark", has_text="tulips")
    sheet = frame_of(page, side).locator(".sheet")
    width = "e => e.getBoundingClientRect().width"
    left, wide, middle = mark.evaluate(MARK)
    letter = 6  # points: each letter of Courier is 0.6 of its size wide
    assert abs(left - (72 + len("Water the ") * letter)) < 1
    assert abs(wide - len("tulips") * letter) < 1
    assert abs(middle - (842 - 700 - 3)) < 3
    before = sheet.evaluate(width)
    assert before / 595 * 10 >= 10  # pixels of a text of ten points
    assert frame_of(page, side).locator("html").evaluate("e => e.scrollWidth - e.clientWidth") <= 0
    expect(page.get_by_role("button", name="Show its text")).to_have_count(0)
    page.get_by_role("button", name="Larger text").click()
    assert sheet.evaluate(width) > 1.1 * before
    assert abs(mark.evaluate(MARK)[0] - left) < 1


LOOKS = """addEventListener('ready', ({ target: frame }) => {
  const { prototype } = frame.contentWindow.Document;
  const look = prototype.elementsFromPoint;
  prototype.elementsFromPoint = function (...point) {
    window.looks = (window.looks ?? 0) + 1;
    return look.apply(this, point);
  };
}, true)"""


def test_a_long_pdf_is_looked_at_a_few_times_and_found_in(
    site: Site, context: BrowserContext, tmp_path: Path
) -> None:
    lines = ") Tj 0 -14 Td (".join(["Water and cut the tulips"] * 40)
    pdf = pdf_of(*[lines] * 29, "The last sheet of all", size=11)
    [(address, cookie)] = media_desks(site, tmp_path, 1, pdf)
    context.add_cookies([cookie])  # type: ignore[list-item]
    page = context.new_page()
    page.add_init_script(LOOKS)
    page.goto(address)
    ready(page)
    expect(page.locator("iframe[data-shows=something]")).to_have_count(2)
    assert 0 < page.evaluate("window.looks") < 10
    side = next(each for each in ("left", "right") if _title(page, each) == "guide")
    frame = frame_of(page, side)
    height = "e => e.scrollHeight"
    before = frame.locator("html").evaluate(height)
    page.keyboard.press("f")
    page.keyboard.type("last sheet")
    page.keyboard.press("Enter")
    expect(frame.locator(".sheet").last).to_be_in_viewport()
    assert frame.locator("html").evaluate(height) == before


def _title(page: Page, side: str) -> str:
    return page.inner_text(f"#{side}-title h2")


def test_a_wide_page_is_fitted_by_key_and_stays_so(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned(pages=[Body(WIDE + str(n), "text/html") for n in range(3)])
    tab = assigned.open_page(context)
    overflow = "e => e.scrollWidth - e.clientWidth"
    page = frame_of(tab, "left").locator("html")
    assert page.evaluate(overflow) > 1000
    tab.keyboard.press("w")
    expect(tab.locator("[data-fit]")).to_have_attribute("aria-pressed", "true")
    narrowed = page.evaluate(overflow)
    assert narrowed < 400  # as far as the text stays legible
    tab.keyboard.press("ArrowLeft")
    ready(tab)
    assert frame_of(tab, "right").locator("html").evaluate(overflow) < 400
    tab.reload()
    ready(tab)
    expect(tab.locator("[data-fit]")).to_have_attribute("aria-pressed", "true")
    tab.keyboard.press("w")
    assert frame_of(tab, "left").locator("html").evaluate(overflow) > 1000


def test_withheld_parts_are_marked(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned(pages=[Body(HELD + str(n), "text/html") for n in range(3)])
    tab = assigned.open_page(context)
    frame = frame_of(tab, "left")
    for part in ("iframe", "img"):
        found = frame.locator(part).evaluate(
            "e => [getComputedStyle(e).outlineStyle, getComputedStyle(e).backgroundImage]"
        )
        assert found[0] == "dashed"
        assert "not shown here" in found[1]
