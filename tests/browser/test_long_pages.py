"""Long pages: laid out in slices while the person reads, and complete and unchanged afterwards."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.assigned_work import AssignedWork, Body, moved_on, question_of, ready, saved
from tests.browser.page_clock import pass_time

pytestmark = pytest.mark.browser
SHOWN = "document.querySelector('#left-frames iframe:not(.frame--next)')"
LATER = """() => ![...document.querySelectorAll('.frames iframe')]
  .some((frame) => frame.contentDocument.querySelector('[data-topkapi-later]'))"""
IS_SLICED = """() => [...document.querySelectorAll('.frame--next')]
  .every((frame) => frame.contentDocument.adoptedStyleSheets.length)"""
# The height of a page on the screen, and that of the same page in a new frame of the same size.
HEIGHTS = """async () => {
  const frame = document.querySelector('#left-frames iframe:not(.frame--next)');
  const other = document.createElement('iframe');
  other.sandbox = 'allow-same-origin';
  other.src = frame.src;
  other.style = `width:${frame.clientWidth}px;height:${frame.clientHeight}px;border:0`;
  await new Promise((loaded) => { other.onload = loaded; document.body.append(other); });
  const heights = [frame, other].map((each) => each.contentDocument.documentElement.scrollHeight);
  other.remove();
  return heights;
}"""
NOT_YET_READY = """() => [...document.querySelectorAll('.frames iframe')]
  .every((f) => f.dataset.ready === '0' || f.contentDocument.readyState === 'complete')"""
PARAGRAPH = "Water, cut, wrap and wait. " * 12


def long_pages() -> list[Body]:
    """Return pages of about 130 kB: flat and nested HTML, and plain text."""
    paragraphs = [f"<h2>{number}</h2><p>{PARAGRAPH}</p>" for number in range(400)]
    texts = "\n\n".join(f"{number}. {PARAGRAPH}" for number in range(400))
    flat = "".join(paragraphs)
    nested = f"<main><article>{flat}<ul><li>Last</ul></article></main><footer>End</footer>"
    bodies = [Body(f"<!doctype html><p>{name}{flat}", "text/html") for name in ("One", "Two")]
    return [*bodies, Body(f"<!doctype html>{nested}", "text/html"), Body(texts)]


def answer(page: Page) -> None:
    before = question_of(page)
    page.keyboard.press("ArrowLeft")
    moved_on(page, before)
    saved(page)
    ready(page)


def test_long_pages_are_laid_out_completely_and_keep_their_place(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned(pages=long_pages(), text="cut tulips")
    page = assigned.open_page(context)
    ready(page)
    assert page.evaluate(IS_SLICED), "prefetched pages begin with their first slice"
    for _ in range(2):
        answer(page)
        pass_time(page, 1000)  # of reading, after which prefetched pages are laid out
        page.wait_for_function(LATER)
        shown, alone = page.evaluate(HEIGHTS)
        assert shown == alone > 20_000
    page.evaluate(f"{SHOWN}.contentWindow.scrollTo(0, 15000)")
    page.wait_for_function(f"{SHOWN}.contentWindow.scrollY === 15000")
    name = page.evaluate(f"{SHOWN}.dataset.name")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.click("#pause")
    page.click("#resume")
    assert page.evaluate(NOT_YET_READY), "a frame that loads again is not ready before that"
    ready(page)
    assert page.evaluate(f"{SHOWN}.dataset.name") == name
    page.wait_for_function(f"{SHOWN}.contentWindow.scrollY === 15000")
    pass_time(page, 1000)
    page.wait_for_function(LATER)


# Types a word letter by letter, faster than a person, and counts how often hits were painted.
TYPED = """async (word) => {
  const painted = [];
  for (const { contentWindow: view } of document.querySelectorAll('iframe:not(.frame--next)')) {
    const Highlight = view.Highlight;
    view.Highlight = class extends Highlight {
      constructor(...ranges) { super(...ranges); painted.push(ranges.map(String)); }
    };
  }
  const field = document.querySelector('#finder-text');
  const counts = document.querySelector('#finder-counts');
  const counted = new Promise((done) => new MutationObserver(done).observe(counts, {
    childList: true, characterData: true, subtree: true }));
  for (let length = 1; length <= word.length; length += 1) {
    field.value = word.slice(0, length);
    field.dispatchEvent(new InputEvent('input'));
  }
  await counted;
  return painted;
}"""


def test_a_word_is_searched_once_it_is_typed(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    page = new_assigned(pages=long_pages()[:2], text="cut tulips").open_page(context)
    page.keyboard.press("f")
    painted = page.evaluate(TYPED, "399")
    assert painted == [["399"], ["399"]]
    page.keyboard.press("Enter")
    expect(page.locator("#finder-counts")).to_have_text("1 of 2 · Left 1, right 1")
    page.wait_for_function(f"{SHOWN}.contentWindow.scrollY > 10000")
    page.fill("#finder-text", "wait")
    page.keyboard.press("Enter")  # at once, before the word would be searched by itself
    expect(page.locator("#finder-counts")).to_contain_text("Left 2000, right 2000")
