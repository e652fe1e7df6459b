"""Pages under judgment over HTTP: rendered once, then served from a bounded cache."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from html import unescape
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import event

from tests.cases import each_case
from tests.factories import make_content
from tests.waiting import WATCHDOG
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Document, Study, StudyFile
from topkapi.app.services.pages import shown
from topkapi.app.services.pages.shown import ShownPages
from topkapi.app.web.pages import stored_pages as route
from topkapi.app.web.pages.page_html import page_body, plain_html
from topkapi.app.web.pages.page_links import PageLink

PAGE = "<!doctype html><p>Tulips.<link rel=preconnect href=//x><a href='other.html'>next</a>"


@dataclass
class Shelf:
    """A study of one page, with counts of the work done to serve it."""

    app: FastAPI
    client: httpx.Client
    study_id: int
    document_id: int
    statements: list[str]
    renderings: list[Any]

    def address(self, path: str = "pages/a.html", **more: Any) -> str:
        link = PageLink(self.study_id, self.document_id, **{"terms": ("tulip",), **more})
        return str(self.app.state.page_links.address(link, path))

    def get(self, path: str = "pages/a.html", dest: str = "iframe", **more: Any) -> httpx.Response:
        headers = {"Sec-Fetch-Dest": dest} if dest else {}
        return self.client.get(self.address(path, **more), headers=headers)


@pytest.fixture
def shelf(
    app: FastAPI, client: httpx.Client, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> Shelf:
    with sessions.write.begin() as session:
        study = Study(slug="s", name="S", guidelines="")
        session.add(study)
        session.flush()
        content = make_content(session, PAGE, "text/html")
        document = Document(
            study_id=study.id, external_id="a", content_hash=content.hash, path="pages/a.html"
        )
        session.add(document)
        for name, text, kind in (
            ("other.html", "<p>tulip<link rel=preconnect href=//x>", "text/html"),
            ("a b.svg", "<svg/>", "image/svg+xml"),
            ("a.css", "p {}", "text/css"),
            ("slow.css", "p:has(b){} p:h\\61 s(b){}", "text/css"),
        ):
            digest = make_content(session, text, kind).hash
            session.add(StudyFile(study_id=study.id, path=f"pages/{name}", content_hash=digest))
        session.flush()
        numbers = study.id, document.id
    shelf = Shelf(app, client, *numbers, [], [])
    rendered = page_body

    def counted(*given: Any, **more: Any) -> bytes:
        shelf.renderings.append(given)
        return rendered(*given, **more)

    monkeypatch.setattr(route, "page_body", counted)
    event.listen(
        app.state.engine, "before_cursor_execute", lambda *args: shelf.statements.append(args[2])
    )
    return shelf


def test_a_page_is_read_and_rendered_once(shelf: Shelf) -> None:
    first = shelf.get()
    assert first.status_code == 200
    assert '<mark data-mark="1">Tulip</mark>s' in first.text
    assert "<link" not in first.text
    asked = len(shelf.statements)
    assert shelf.get().content == first.content
    assert len(shelf.statements) == asked
    assert len(shelf.renderings) == 1


def test_size_and_theme_share_a_rendering_and_terms_do_not(shelf: Shelf) -> None:
    pages = {shelf.get(size=size).text for size in (1, 3, 5)}
    assert len(pages) == 3
    assert len(shelf.renderings) == 1
    assert "<mark" not in shelf.get(terms=()).text
    assert 'href="javascript:"' in shelf.get(dest="document").text
    assert len(shelf.renderings) == 3


def test_a_browser_that_has_the_page_is_not_sent_it_again(shelf: Shelf) -> None:
    first = shelf.get()
    tag = first.headers["etag"]
    again = shelf.client.get(shelf.address(), headers={"If-None-Match": f'"x", W/{tag}'})
    assert again.status_code == 304
    assert again.content == b""
    for name in ("etag", "content-security-policy", "vary"):
        assert again.headers[name] == first.headers[name]
    assert again.headers["cache-control"].startswith("private, max-age=")
    others = (shelf.get(size=1), shelf.get(terms=()), shelf.get(dest="document"))
    assert len({tag, *(other.headers["etag"] for other in others)}) == 4


def test_the_text_of_a_page_comes_under_the_same_link(shelf: Shelf) -> None:
    page = shelf.get()
    for _ in range(2):  # rendered once, besides the page
        text = shelf.client.get(shelf.address() + "?view=text")
        assert (text.status_code, len(shelf.renderings)) == (200, 2)
    assert '<div class="plain" dir="auto"><mark data-mark="1">Tulip</mark>s.next</div>' in text.text
    assert text.headers["content-security-policy"] == page.headers["content-security-policy"]
    assert shelf.get().content == page.content
    assert shelf.client.get("/pages/wrong/pages/a.html?view=text").status_code == 403
    style = shelf.client.get(shelf.address("pages/a.css") + "?view=text")
    assert style.text == "p {}"


class Clock:
    def __init__(self) -> None:
        self.at = 1000.0

    def monotonic(self) -> float:
        return self.at


def test_a_page_of_a_deleted_study_is_soon_gone(
    shelf: Shelf, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(shown, "time", clock)
    shelf.get()
    clock.at += shown.HEAD_SECONDS + 1
    asked = len(shelf.statements)
    assert shelf.get().status_code == 200
    assert len(shelf.statements) > asked
    assert len(shelf.renderings) == 1
    with sessions.write.begin() as session:
        session.delete(session.get_one(Study, shelf.study_id))
    clock.at += shown.HEAD_SECONDS + 1
    gone = shelf.get()
    assert gone.status_code == 404
    assert 'data-problem="missing"' in gone.text


def test_a_page_too_large_to_keep_is_rendered_for_each_reader(shelf: Shelf) -> None:
    shelf.app.state.pages = ShownPages(capacity=2_000)
    for _ in range(2):
        assert shelf.get().status_code == 200
    assert len(shelf.renderings) == 2


def test_headers_of_a_page_replace_the_usual_ones(shelf: Shelf) -> None:
    headers = shelf.get().headers
    for name in ("content-security-policy", "referrer-policy", "cache-control"):
        assert len(headers.get_list(name)) == 1, name
    assert headers["permissions-policy"]


def test_other_pages_of_the_study_are_cleaned_too(shelf: Shelf) -> None:
    for dest in ("iframe", "document", ""):
        other = shelf.get("pages/other.html", dest)
        assert other.status_code == 200
        assert "<link" not in other.text
        assert "<mark" not in other.text.partition("<style>")[0]


def test_a_drawing_opened_by_itself_is_shown_as_a_picture(shelf: Shelf) -> None:
    assert shelf.get("pages/a b.svg", "image").headers["content-type"] == "image/svg+xml"
    for dest in ("document", "iframe"):
        opened = shelf.get("pages/a b.svg", dest)
        assert opened.headers["content-type"].startswith("text/html")
        assert '<img src="a%20b.svg"' in opened.text
        assert "sandbox" in opened.headers["content-security-policy"]
    assert shelf.get("pages/a.css", "style").text == "p {}"


def test_a_wrong_link_asks_the_database_nothing(shelf: Shelf) -> None:
    assert shelf.client.get("/pages/wrong/pages/a.html").status_code == 403
    assert shelf.statements == []


def test_a_long_plain_text_comes_in_parts_that_end_with_a_line_break() -> None:
    paragraph = "Cut & wrap <tulips>. " * 20
    for text in (f"{paragraph}\n\n" * 100, f"{paragraph}\n" * 100 + "end"):
        parts = plain_html(text).split("<div data-topkapi-part>")[1:]
        assert 5 < len(parts) < 20
        assert all(part.removesuffix("</div>").endswith("\n") for part in parts[:-1])
        assert unescape("".join(parts).replace("</div>", "")) == text
    for short in ("", "a\n\nb"):
        assert plain_html(short) == f'<div class="plain" dir="auto">{short}</div>'


def test_styles_are_served_without_selectors_that_hold_the_browser(shelf: Shelf) -> None:
    assert shelf.get("pages/slow.css", "style").text == "p:-has(b){} p:-has(b){}"
    wide = route._as_stored("p:has(b){}".encode("utf-16"), "text/css")
    assert wide.body == b"p:-has(b){}"
    assert (
        ":-has(b)"
        in page_body("text/html", b"<style>p:HAS(b){}</style><p>a", (), in_frame=True).decode()
    )


@each_case("page", ["<style>p{}</style>", "<p style='color:red'>", "<body bgcolor=red>"])
def test_html_without_looks_of_its_own_is_set_for_reading(page: str) -> None:
    assert b"68ch" in page_body("text/html", b"<h1>Tulips</h1><p>a", (), in_frame=True)
    assert b"68ch" not in page_body("text/html", page.encode() + b"a", (), in_frame=True)


@each_case("piece", ["![[](", "[![](", "![![![](", "["])
def test_markdown_that_takes_long_to_parse_is_shown_as_text(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    shown_as = page_body("text/markdown", text.encode(), (), in_frame=True)
    assert shown_as == page_body("text/plain", text.encode(), (), in_frame=True)
    assert b"<h1>" in page_body("text/markdown", b"# Tulips\n[a](b)", (), in_frame=True)


def test_a_page_that_takes_long_does_not_hold_the_others(
    shelf: Shelf, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sessions.write.begin() as session:
        content = make_content(session, "# Slow", "text/markdown")
        page = Document(
            study_id=shelf.study_id, external_id="b", content_hash=content.hash, path="pages/b.md"
        )
        session.add(page)
        session.flush()
        slow = replace(shelf, document_id=page.id)
    entered, go_on = threading.Event(), threading.Event()
    rendered = page_body

    def waiting(media_type: str, *given: Any, **more: Any) -> bytes:
        if media_type == "text/markdown":
            entered.set()
            assert go_on.wait(WATCHDOG)
        return rendered(media_type, *given, **more)

    monkeypatch.setattr(route, "page_body", waiting)
    with ThreadPoolExecutor(1) as others:
        answer = others.submit(slow.get, "pages/b.md")
        assert entered.wait(WATCHDOG)
        assert "Tulips." in unescape(shelf.get().text).replace('<mark data-mark="1">', "").replace(
            "</mark>", ""
        )
        go_on.set()
        assert "Slow" in answer.result().text
