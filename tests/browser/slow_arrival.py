"""A proxy on this machine that sends a page in two parts, as a slow network may."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import httpx

from tests.waiting import WATCHDOG

_OF_A_CONNECTION = {"connection", "content-length", "content-encoding", "transfer-encoding"}


@contextmanager
def in_two_parts(site: str, path: str, second: str) -> Iterator[tuple[str, Event]]:
    """Run a proxy of ``site`` while the context is open; yield its address.

    The page at ``path`` is sent up to where the text ``second`` begins, and the rest after the
    event.
    """
    go_on = Event()

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            headers = {name: self.headers[name] for name in ("Host", "Cookie", "Accept")}
            reply = httpx.get(f"{site}{self.path}", headers=headers, timeout=WATCHDOG)
            self.send_response(reply.status_code)
            for name, value in reply.headers.items():
                if name not in _OF_A_CONNECTION:
                    self.send_header(name, value)
            self.end_headers()
            cut = reply.content.index(second.encode()) if self.path == path else 0
            if cut:
                self.wfile.write(reply.content[:cut])
                self.wfile.flush()
                go_on.wait(WATCHDOG)
            self.wfile.write(reply.content[cut:])

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("localhost", 0), Proxy)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://localhost:{server.server_port}", go_on
    finally:
        go_on.set()
        server.shutdown()
        thread.join()
        server.server_close()
