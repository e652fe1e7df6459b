"""A proxy forwards what is under a path, without the path: judging and importing work."""

import http.client
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.assigned_work import AssignedWork, Site, make_assigned, press, ready
from tests.browser.test_administration import send, study_zip
from tests.factories import PASSWORD, make_user
from tests.live import FORKER, LiveServer, free_port, serving
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.db.models import User
from topkapi.app.domain.enums import Role

pytestmark = pytest.mark.browser
PREFIX = "/labels"
DROPPED = {"connection", "transfer-encoding", "content-length"}


class Proxy(BaseHTTPRequestHandler):
    """Forwards requests under the prefix to ``target``; all others are noted and refused."""

    target = 0
    escaped: list[str] = []  # noqa: RUF012
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if not self.path.startswith(f"{PREFIX}/"):
            self.escaped.append(self.path)
            self.send_error(404)
            return
        upstream = http.client.HTTPConnection("127.0.0.1", self.target)
        path = self.path.removeprefix(PREFIX)
        upstream.request(self.command, path, body, dict(self.headers.items()))
        reply = upstream.getresponse()
        content = reply.read()
        upstream.close()
        self.send_response(reply.status)
        for name, value in reply.getheaders():
            if name.lower() not in DROPPED:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


@pytest.fixture
def proxied(sqlite_url: str, tmp_path: Path) -> Iterator[Site]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    Proxy.target, Proxy.escaped = free_port(), []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://localhost:{server.server_address[1]}{PREFIX}"
    engine = make_engine(sqlite_url)
    try:
        with serving(
            sqlite_url, tmp_path, port=Proxy.target, start=FORKER.start, public_url=url
        ) as live:
            behind = LiveServer(url, live.process, live.log, sqlite_url, live.secret_file)
            yield Site(behind, make_sessions(engine))
    finally:
        engine.dispose()
        server.shutdown()
        server.server_close()


def test_a_person_judges_and_an_administrator_imports_under_a_path(
    proxied: Site, context: BrowserContext, tmp_path: Path
) -> None:
    walk_under_path(proxied, context, tmp_path)
    assert Proxy.escaped == []


def walk_under_path(site: Site, context: BrowserContext, folder: Path) -> AssignedWork:
    """Sign in, judge, look at the frames, and import a study as an administrator."""
    assigned = make_assigned(site)
    page = context.new_page()
    sign_in(page, site, assigned.user)
    page.keyboard.press("Enter")
    ready(page)
    press(page, "ArrowLeft", 1)
    press(page, "ArrowRight", 2)
    press(page, "u", 1)
    assert assigned.log() == [("answer", "left"), ("answer", "right"), ("undo", None)]
    page.reload()
    ready(page)
    assert {urlsplit(frame.url).path.split("/")[1] for frame in page.frames} == {"labels"}
    paths = {str(each.get("path")) for each in context.cookies()}
    assert paths <= {PREFIX, f"{PREFIX}/"}

    with site.sessions.write.begin() as session:
        admin = make_user(session, role=Role.ADMIN, password=PASSWORD)
    context.clear_cookies()
    sign_in(page, site, admin)
    send(page, site, study_zip(folder, "tulips"))
    page.get_by_role("button", name="Import 4 queries").click()
    expect(page.get_by_text("The study was imported.")).to_be_visible()
    return assigned


def sign_in(page: Page, site: Site, user: User) -> None:
    """Sign in on the page, as a person does."""
    page.goto(f"{site.server.url}/")
    page.get_by_label("E-mail").fill(user.email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{site.server.url}/")
