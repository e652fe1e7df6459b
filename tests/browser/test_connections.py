"""No page under judgment makes the browser connect to another server, not even by `preconnect`.

Chromium preconnects only in a persistent profile, and its headless shell never does, so these tests
use a profile of the complete browser. As a control, the same pages without sanitising, under the
same headers, do connect.
"""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, BrowserContext, expect
from sqlalchemy import select

from tests.browser.assigned_work import AssignedWork, Body, Site, frame_of, make_assigned
from tests.browser.chromium import ARGUMENTS, LONGEST, required_chromium
from tests.browser.page_clock import GIVEN_CLOCK
from tests.browser.sinks import RawPages, Sink
from tests.factories import make_content
from topkapi.app.db.models import Document, StudyFile
from topkapi.app.installation.secret import load_secret
from topkapi.app.web.pages.page_links import PageLink, PageLinks

pytestmark = pytest.mark.browser
HINT = '<link rel="preconnect" href="{sink}">'
CONNECT = [  # unsanitised, each opens a connection
    HINT,
    "<LINK HREF={sink} REL=PreConnect>",
    '<link rel="&#112;reconnect" href="{sink}">',
    '<link rel="pre&#x63;onnect&#32;x" href="{sink}">',
    f"<svg><style><p>{HINT}",
    f"<math><mtext><style><!--</style>{HINT}--></mtext></math>",
    f"<math><style><p>{HINT}",
    f"<svg><title/></svg>{HINT}",
    f"<svg><desc><b>{HINT}",
    f"<noscript>{HINT}</noscript>",
    f"<noscript><p title='</noscript>'>{HINT}",
    f"<style><!--</style>{HINT}<!-- -->",
    f"<!-->{HINT}-->",
    f"<iframe srcdoc='{HINT}'></iframe>",
    "<iframe srcdoc='&lt;link rel=preconnect href={sink}&gt;'></iframe>",
    "<iframe src={sink}></iframe>",
    f"<div><template shadowrootmode=open>{HINT}</template>",
    f"<select><option>{HINT}</select>",
    f"<table><caption>{HINT}",
]
HARMLESS = [  # blocked by the headers, and tested all the same
    "<link rel=dns-prefetch href={sink}><link rel=prefetch href={sink}/a>",
    "<link rel=preload as=image imagesrcset='{sink}/a 1x'><link rel=modulepreload href={sink}/b>",
    "<link rel=prerender href={sink}/a><link rel=stylesheet href={sink}/b>",
    "<link rel=icon href={sink}/a><link rel=manifest href={sink}/b>",
    "<style>@import url({sink}/a); p {{ background: url({sink}/b) }}</style><p>x",
    "<svg><style>@import url({sink}/a);</style></svg>",
    "<svg><image href={sink}/b /><use href={sink}/c#d /><feImage href={sink}/d /></svg>",
    "<object data={sink}/a></object><embed src={sink}/b>",
    "<video poster={sink}/c src={sink}/d></video><track src={sink}/e>",
    "<img src={sink}/a srcset='{sink}/b 2x'><picture><source srcset={sink}/c><img></picture>",
    "<body background={sink}/a><input type=image src={sink}/b><audio autoplay src={sink}/c>",
    "<meta http-equiv=refresh content='0;url={sink}'>",
    "<meta http-equiv=x-dns-prefetch-control content=on><a href={sink}>x</a>",
    "<base href={sink}><img src=a><link rel=stylesheet href=b>",
    "<frameset><frame src={sink}></frameset>",
    "<img src=x attributionsrc={sink}><a href=#a ping={sink}>x</a>",
    '<script type=speculationrules>{{"prerender":[{{"urls":["{sink}/a"]}}]}}</script>',
    "<svg><style><link rel=preconnect href={sink}></style></svg>",
    "<template><link rel=preconnect href={sink}></template>",
    "<xmp><link rel=preconnect href={sink}></xmp><textarea><link rel=preconnect href={sink}>",
    "<title><link rel=preconnect href={sink}></title><!-- <link rel=preconnect href={sink}>",
    "<plaintext><link rel=preconnect href={sink}>",
    "<p title='<link rel=preconnect href={sink}>'>x",
]


@pytest.fixture(scope="module")
def profile(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """Launch a browser with a profile on disk that may preconnect, as users have."""
    quiet = "--disable-background-networking"
    context = browser.browser_type.launch_persistent_context(
        tmp_path_factory.mktemp("profile"),
        executable_path=required_chromium(complete=True),
        args=[argument for argument in ARGUMENTS if argument != quiet],
        ignore_default_args=[quiet],
        timeout=LONGEST,
    )
    context.set_default_timeout(LONGEST)
    context.add_init_script(GIVEN_CLOCK)
    yield context
    context.close()


@pytest.fixture
def raw() -> Iterator[RawPages]:
    with RawPages() as raw:
        yield raw


@pytest.fixture
def sinks() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def visit(profile: BrowserContext, *addresses: str) -> None:
    """Load each address in turn, in one tab."""
    tab = profile.new_page()
    for address in addresses:
        tab.goto(address)
    tab.close()


def connects_in_advance(profile: BrowserContext, raw: RawPages) -> bool:
    """Return whether an unsanitised hint opens a connection; earlier hints have done so by then."""
    with Sink() as control:
        tab = profile.new_page()
        tab.goto(raw.address("<!doctype html>" + HINT.format(sink=control.url)))
        connected = control.is_connected_to()
        tab.close()
        return connected


def address_of(site: Site, document: Document) -> str:
    links = PageLinks(load_secret(site.server.secret_file), minutes=60)
    return site.server.url + links.address(
        PageLink(document.study_id, document.id, terms=("x",)), document.path
    )


def documents_of(assigned: AssignedWork) -> list[Document]:
    statement = select(Document).where(Document.study_id == assigned.study.id).order_by(Document.id)
    with assigned.site.sessions.read.begin() as session:
        return list(session.scalars(statement))


def test_the_tricks_work_on_pages_as_they_are(profile: BrowserContext, raw: RawPages) -> None:
    tab = profile.new_page()
    for trick in CONNECT:
        with Sink() as sink:
            tab.goto(raw.address("<!doctype html>" + trick.format(sink=sink.url)))
            assert sink.is_connected_to(), trick
    tab.close()


def test_no_trick_works_on_pages_as_they_are_shown(
    profile: BrowserContext, raw: RawPages, site: Site, sinks: ExitStack
) -> None:
    witnesses = {trick: sinks.enter_context(Sink()) for trick in CONNECT + HARMLESS}
    pages = [
        Body("<!doctype html>" + trick.format(sink=sink.url), "text/html")
        for trick, sink in witnesses.items()
    ]
    assigned = make_assigned(site, pages=pages)
    visit(profile, *(address_of(site, document) for document in documents_of(assigned)))
    assert connects_in_advance(profile, raw)
    assert [trick for trick, sink in witnesses.items() if sink.connections] == []


def test_files_beside_a_page_are_as_harmless(
    profile: BrowserContext, raw: RawPages, site: Site, sinks: ExitStack
) -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><x:link xmlns:x="http://www.w3.org/1999/xhtml" '
    svg += 'rel="preconnect" href="{sink}"/><text y="20">picture</text></svg>'
    one, other = (sinks.enter_context(Sink()) for _ in range(2))
    assigned = make_assigned(site, pages=[Body("a", "text/html"), Body("b", "text/html")])
    with site.sessions.write.begin() as session:
        for name, text, kind in (
            ("other.html", HINT.format(sink=one.url), "text/html"),
            ("picture.svg", svg.format(sink=other.url), "image/svg+xml"),
        ):
            content = make_content(session, text, kind)
            path = f"pages/{name}"
            session.add(StudyFile(study_id=assigned.study.id, path=path, content_hash=content.hash))
    address = address_of(site, documents_of(assigned)[0]).rsplit("/", 1)[0]
    visit(profile, f"{address}/other.html")
    tab = profile.new_page()
    tab.goto(f"{address}/picture.svg")
    picture = tab.locator("img")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.naturalWidth") > 0
    tab.close()
    assert connects_in_advance(profile, raw)
    assert one.is_untouched()
    assert other.is_untouched()


def test_nor_does_a_link_that_is_pointed_at_and_pressed(
    profile: BrowserContext, raw: RawPages, site: Site, sinks: ExitStack
) -> None:
    sink = sinks.enter_context(Sink())
    body = (
        f'<!doctype html><p>A page. <a id=out href="{sink.url}/out">out</a>{{}}'
        f'<form action="{sink.url}/form"><button id=send formaction="{sink.url}/button">send</form>'
    )
    assigned = make_assigned(site, pages=[Body(body.format(n), "text/html") for n in range(4)])
    page = assigned.open_page(profile)
    for link in ("#out", "#send"):
        pressed = frame_of(page, "left").locator(link)
        pressed.hover()
        pressed.click()
        pressed.click(button="middle")
    assert connects_in_advance(profile, raw)
    assert sink.is_untouched()
    page.close()
