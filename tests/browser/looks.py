"""Layout checks for every page: accessibility, overlaps, horizontal scrolling."""

import os
from collections.abc import Iterator
from typing import Any, Literal

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

_OVERLAPS = """() => {
  const open = document.querySelector('dialog[open], :popover-open') ?? document;
  const wide = document.documentElement.clientWidth;
  const kinds = 'a, button, input, textarea, h1, h2, h3, p, li, time, .badge, th, td';
  // What a list has scrolled out of sight lies over nothing.
  const seen = (e) => {
    const b = e.getBoundingClientRect();
    const box = e.closest('.pane__scroll, .scroll, .chips')?.getBoundingClientRect();
    if (!box) return b;
    const [top, bottom] = [Math.max(b.top, box.top), Math.min(b.bottom, box.bottom)];
    const [left, right] = [Math.max(b.left, box.left), Math.min(b.right, box.right)];
    return new DOMRect(left, top, Math.max(0, right - left), Math.max(0, bottom - top));
  };
  const name = (e) => `${e.tagName} "${e.textContent.trim().slice(0, 30)}"`;
  const parts = [...open.querySelectorAll(kinds)]
    .filter((e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .filter((e) => !e.closest('.vh, .skip, .toast, svg'))
    .filter((e) => getComputedStyle(e.closest('thead, .pane__head') ?? e).clipPath === 'none')
    .filter((e) => open !== document || !e.closest('dialog'))
    .map((e) => [e, seen(e)])
    .filter(([, b]) => b.width > 1 && b.height > 1 && b.left >= -1 && b.right <= wide + 1);
  const found = [];
  for (const [a, p] of parts) for (const [b, q] of parts) {
    const across = Math.min(p.right, q.right) - Math.max(p.left, q.left);
    const down = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
    if (across <= 2 || down <= 2 || a === b || a.contains(b) || b.contains(a)) continue;
    if (!(a.compareDocumentPosition(b) & 2)) found.push(`${name(a)} over ${name(b)}`);
  }
  return found;
}"""
# Frames hold no axe to wait for. Of what rules may preload only media is used: the stylesheets
# would be fetched again for a rule that is off.
_AXE = {"iframes": False, "preload": {"assets": ["media"]}, "resultTypes": ["violations"]}
_WCAG = {"wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"}
_CONTRAST = {"runOnly": ["color-contrast"]}
_ALL_BUT_CONTRAST = {"rules": {"color-contrast": {"enabled": False}}}
_TWO_FRAMES = (
    "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
)
_SIDEWAYS = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
_CUT = """() => [...document.querySelectorAll('.btn, .answer, .chip, .badge, th, td')]
  .filter((e) => e.checkVisibility() && !e.closest('thead, .vh'))
  .filter((e) => e.scrollWidth > e.clientWidth + 1)
  .map((e) => e.textContent.trim().replace(/\\s+/g, ' ').slice(0, 60))"""
# Names that leave less than a third of a table's width to what it says about them.
_CROWDED = """() => [...document.querySelectorAll('.scroll > table')]
  .filter((e) => e.checkVisibility() && e.offsetWidth > e.parentElement.clientWidth + 1)
  .map((e) => [e.querySelector('tbody th'), e.parentElement.clientWidth])
  .filter(([name, width]) => name && name.offsetWidth > width * 2 / 3)
  .map(([name]) => name.textContent.trim().slice(0, 60))"""


def schemes(page: Page) -> Iterator[Literal["light", "dark"]]:
    """Show the page as it is now in each colour scheme, without a transition between the two."""
    both: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")
    for scheme in both:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        yield scheme


def resize(page: Page, width: int, height: int) -> None:
    """Resize the window, and wait until the scripts that watch its width have run."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(_TWO_FRAMES)


def widths(page: Page) -> Iterator[int]:
    """Show the page on a phone, in a narrow window, and in a wide one."""
    for width, height in ((390, 844), (1024, 768), (1440, 900)):
        resize(page, width, height)
        yield width


def violations(page: Page, **options: Any) -> list[dict[str, Any]]:
    """Run axe on the page as it is now, or on its open dialog; return the violations of its rules.

    Axe is loaded once per document, and only the violations leave the browser.
    """
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    run = """options => axe.run([...document.querySelectorAll('dialog:modal')].at(-1) ?? document,
      options).then(({ violations }) => violations)"""
    found: list[dict[str, Any]] = page.evaluate(run, {**_AXE, **options})
    return found


def barriers(page: Page, **options: Any) -> list[str]:
    """Return what breaks WCAG 2.2 (A and AA), or is serious for axe, with its elements."""
    return [
        f"{each['id']}: {node['target']} {node['failureSummary']}"
        for each in violations(page, **options)
        if each["impact"] in ("serious", "critical") or _WCAG & set(each["tags"])
        for node in each["nodes"]
    ]


def flaws(page: Page) -> list[str]:
    """Return all layout errors of the page."""
    sideways = page.evaluate(_SIDEWAYS)
    cut = [f"cut off: {text}" for text in page.evaluate(_CUT)]
    scrolls = [f"scrolls sideways by {sideways} px"] if sideways > 0 else []
    crowded = [f"leaves no room: {text}" for text in page.evaluate(_CROWDED)]
    return [*page.evaluate(_OVERLAPS), *scrolls, *cut, *crowded]


def sound(page: Page, name: str) -> None:
    """Check layout and accessibility of the page as it is now; leave it wide and light.

    Colours do not depend on the width, and everything else does not depend on the colours. If
    SNAPSHOTS names a folder, screenshots called ``name`` are stored there.
    """
    for width in widths(page):
        _keep(page, f"{name}-{width}")
        assert flaws(page) == [], (name, width)
        found = barriers(page, **_ALL_BUT_CONTRAST) if width == 390 else []
        assert found == [], (name, width)
    for scheme in schemes(page):
        _keep(page, f"{name}-{scheme}")
        assert flaws(page) == [], (name, scheme)
        assert barriers(page, **(_CONTRAST if scheme == "dark" else {})) == [], (name, scheme)
    page.emulate_media(color_scheme="light", reduced_motion="no-preference")


def _keep(page: Page, name: str) -> None:
    if folder := os.environ.get("SNAPSHOTS"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)
