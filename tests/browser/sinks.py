"""Servers of another origin: one that records connections, one that serves raw pages."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from playwright.sync_api import BrowserContext

from tests.waiting import WATCHDOG
from topkapi.app.web.pages.stored_pages import CSP


class _Elsewhere:
    """A server on another port, which is another origin."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        elsewhere = self
        self.connections = 0
        self._connected = threading.Event()

        class Server(ThreadingHTTPServer):
            def get_request(self) -> Any:
                elsewhere.connections += 1
                elsewhere._connected.set()
                return super().get_request()

        self._server = Server(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def is_connected_to(self) -> bool:
        """Wait for a connection."""
        return self._connected.wait(WATCHDOG)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class Sink(_Elsewhere):
    """A server that records connections and requests."""

    def __init__(self) -> None:
        asked = self.asked = list[str]()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_response(200)
                self.end_headers()

            do_POST = do_GET

            def log_message(self, *_: Any) -> None:
                """Log nothing."""

        super().__init__(Handler)

    def is_untouched(self) -> bool:
        assert self.asked == []
        assert self.connections == 0
        return True

    def is_reached_only_by(self, context: BrowserContext) -> bool:
        """Ask for something in a new tab: whatever was asked before has arrived by then."""
        tab = context.new_page()
        tab.goto(f"{self.url}/last")
        tab.close()
        assert self.asked == ["/last"]
        self.asked.clear()
        return True


class RawPages(_Elsewhere):
    """A server of pages under judgment with our headers, but without sanitising."""

    def __init__(self) -> None:
        pages = self._pages = dict[str, str]()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200 if self.path in pages else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Security-Policy", CSP)
                self.end_headers()
                self.wfile.write(pages.get(self.path, "").encode())

            def log_message(self, *_: Any) -> None:
                """Log nothing."""

        super().__init__(Handler)

    def address(self, page: str) -> str:
        """Serve a page and return its address."""
        path = f"/{len(self._pages)}"
        self._pages[path] = page
        return self.url + path
