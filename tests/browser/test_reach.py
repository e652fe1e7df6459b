"""Every page at 200 %, in high contrast and without motion; the way to work by key alone."""

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.assigned_work import Site, make_assigned, make_colleague
from tests.browser.looks import barriers, flaws, resize
from tests.browser.test_administration import FURTHER, OF_STUDY, PAGES
from tests.exporting import make_judged_study
from tests.factories import queries_of
from topkapi.app.db.models import User
from topkapi.app.domain.enums import Tool

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

# In high contrast: controls and boxes that nothing sets off from the ground, and what is selected
# or primary but looks like its neighbours.
_LOST = r"""() => {
  const shown = (e) => !e.closest('.vh')
    && e.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const style = (e) => getComputedStyle(e);
  const ground = style(document.documentElement).backgroundColor;
  const seen = (color) => !/^rgba.*, 0\)$/.test(color) && color !== ground;
  const name = (e) => `${e.className} "${e.textContent.trim().slice(0, 30)}"`;
  const boxes = `.btn:not(.btn--ghost), .answer, .input, .card, .hero, .badge, .chip, .meter,
    #p-stats`;
  const edgeless = [...document.querySelectorAll(boxes)].filter(shown).filter((e) => {
    const { backgroundColor, borderTopColor, borderTopStyle } = style(e);
    return !seen(backgroundColor) && (borderTopStyle === 'none' || !seen(borderTopColor));
  });
  const alike = (e, others) => {
    const peer = others.find((other) => other !== e && shown(other));
    return peer && style(peer).backgroundColor === style(e).backgroundColor;
  };
  const chosen = 'a[aria-current], .btn[aria-pressed="true"], .answer[aria-pressed="true"]';
  const same = [...document.querySelectorAll(chosen)].filter(shown).filter((e) =>
    alike(e, [...e.parentElement.children].filter((o) => o.tagName === e.tagName
      && !o.hasAttribute('aria-current') && o.ariaPressed !== 'true')));
  const plain = [...document.querySelectorAll('.btn:not(.btn--primary, .btn--ghost)')];
  const main = [...document.querySelectorAll('.btn--primary:not(.btn--next)')].filter(shown);
  return [
    ...edgeless.map((e) => `no edge: ${name(e)}`),
    ...same.map((e) => `not told apart: ${name(e)}`),
    ...main.filter((e) => alike(e, plain)).map((e) => `like any other: ${name(e)}`),
  ];
}"""
# What moves by the clock; a shade that follows the scroll position rests when it does.
_MOVING = """() => [...document.querySelectorAll('*')]
  .flatMap((e) => [null, '::before', '::after'].map((part) => [e, getComputedStyle(e, part)]))
  .filter(([, s]) => s.scrollBehavior === 'smooth'
    || (s.animationName !== 'none' && (s.animationTimeline ?? 'auto') === 'auto')
    || s.transitionDuration.split(', ').some((each) => parseFloat(each) > 0))
  .map(([e]) => `${e.tagName} ${e.className}`)"""
# What is wrong with the focus: it is lost, unseen, covered, or went back up the page.
_FOCUS = """() => {
  const e = document.activeElement;
  if (!e || e === document.body) return 'nothing has the focus';
  const { outlineStyle, outlineWidth } = getComputedStyle(e);
  const name = `${e.tagName} "${e.textContent.trim().slice(0, 30)}"`;
  if (outlineStyle === 'none' || parseFloat(outlineWidth) < 2) return `no ring: ${name}`;
  const box = e.getClientRects()[0];
  const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  if (!at || !(e.contains(at) || at.contains(e))) return `out of sight: ${name}`;
  const part = e.closest('main > *');
  const top = part ? part.getBoundingClientRect().top + scrollY : 0;
  const back = top < (window.lastTop ?? 0);
  window.lastTop = top;
  return back ? `back up the page: ${name}` : '';
}"""


def faults(page: Page) -> list[str]:
    """Return what is lost at 200 % (page or text alone), in high contrast, or moves unasked."""
    found = []
    for width, height in ((720, 450), (512, 384)):
        resize(page, width, height)
        found += [f"{width} px: {flaw}" for flaw in flaws(page)]
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    resize(page, 1440, 900)
    found += [f"large text: {flaw}" for flaw in flaws(page)]
    page.evaluate("document.documentElement.style.fontSize = ''")
    page.emulate_media(forced_colors="active", reduced_motion="reduce")
    found += [f"high contrast: {each}" for each in page.evaluate(_LOST)]
    page.emulate_media(forced_colors="none", reduced_motion="reduce")
    found += [f"moves: {each}" for each in page.evaluate(_MOVING)]
    page.emulate_media(reduced_motion="no-preference")
    return found


def test_every_page_is_whole_when_enlarged_in_high_contrast_and_at_rest(
    own_site: Site, admin: User, context: BrowserContext
) -> None:
    pairs = make_assigned(own_site)
    graded = make_assigned(own_site, tool=Tool.GRADES, user=pairs.user)
    make_colleague(pairs)
    with own_site.sessions.write.begin() as session:
        study = make_judged_study(session)
        below = f"/studies/{study.slug}"
        query = f"{below}/queries/{queries_of(session, study)[0].id}"
        assessor = session.query(User).filter_by(email="bao@tulips.example").one()
        of_people = [f"/people/{each.id}" for each in (assessor, admin)]
    further = ("/systems", "/models", "/messages", "/guidelines/history")
    tabs = [below + each for each in (*OF_STUDY, *FURTHER, *further)]
    judging = [f"/assignments/{each.assignment.id}" for each in (pairs, graded)]
    paths = {
        admin: ["/", *PAGES, "/audit?action=all", *of_people, "/me", "/keys", query, *tabs],
        pairs.user: ["/queue", *judging],
        assessor: ["/queue"],
    }
    found = {}
    for user, addresses in paths.items():
        context.add_cookies([own_site.cookie(user)])
        page = context.new_page()
        for address in addresses:
            page.goto(own_site.server.url + address)
            found[address] = faults(page) + barriers(page)
            if address in of_people:
                expect(page.locator(".btn--primary:visible")).to_have_count(1)
        page.close()
    assert {address: wrong for address, wrong in found.items() if wrong} == {}


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until ``target`` has the focus, which must be seen wherever it goes."""
    expect(target).to_be_visible()
    while not target.evaluate("e => e === document.activeElement"):
        page.keyboard.press("Tab")
        assert page.evaluate(_FOCUS) == ""


@pytest.mark.usefixtures("admin")
def test_by_key_alone_from_the_first_run_to_assigned_work(
    own_site: Site, context: BrowserContext
) -> None:
    page = context.new_page()

    def enter(role: str, name: str) -> None:
        tab_to(page, page.get_by_role(role, name=name).first)  # type: ignore[arg-type]
        page.keyboard.press("Enter")

    page.goto(own_site.server.url)
    enter("button", "Use it here")
    enter("button", "Import 2 queries")
    tab_to(page, page.get_by_label("E-mail"))
    page.keyboard.type("ansa@x.example")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Send this link to ansa@x.example")).to_be_visible()
    tab_to(page, page.get_by_label("People per query"))
    page.keyboard.type("1")
    enter("button", "Create 2 assignments")
    expect(page.get_by_text("2 assignments created.")).to_be_visible()
    enter("link", "Set up")
    expect(page.get_by_role("heading", name="0 of 2 assignments finished")).to_be_visible()
    enter("link", "2 queries")
    tab_to(page, page.locator(".named a").first)
    page.keyboard.press("Enter")
    enter("link", "Next query")
    expect(page.get_by_text("Query 2 of 2")).to_be_visible()
    tab_to(page, page.locator(".behind summary").first)
    page.keyboard.press("Enter")
    expect(page.locator(".behind[open]")).to_be_visible()
