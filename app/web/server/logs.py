"""The log: one JSON object per line, one line per request, no secrets; plain lines on a terminal.

A request is logged with the template of its path, so that neither tokens in links nor ids of people
are logged.
"""

import json
import logging
import re
import secrets
import sys
import time
from asyncio import CancelledError
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from topkapi.app.web.common.errors import show_restarting, show_unexpected
from topkapi.app.web.server.counting import count_request

_log = logging.getLogger("topkapi.requests")
_encode = json.JSONEncoder(default=str, ensure_ascii=False).encode
_STATIC = "/static/{path}"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class JsonLines(logging.Formatter):
    """A log record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Format time, level, logger, message, and the fields in ``extra['fields']``."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            text = self.formatException(record.exc_info)
            line["traceback"] = _without_values(text, record.exc_info[1])
        return _encode(line)


class PlainLines(logging.Formatter):
    """A log record as a line for people: time, severity unless it is routine, message, fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Format the record; its traceback follows on lines of its own."""
        time_of_day = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        severity = [] if record.levelno <= logging.INFO else [record.levelname.lower()]
        fields = getattr(record, "fields", {})
        said = _request_line(fields) if "method" in fields else [record.getMessage()]
        others = [f"{name}={value}" for name, value in fields.items() if "method" not in fields]
        line = " ".join([time_of_day, *severity, *said, *others])
        if record.exc_info:
            text = self.formatException(record.exc_info)
            line += "\n" + _without_values(text, record.exc_info[1])
        return line


def _request_line(fields: Mapping[str, Any]) -> list[str]:
    return [
        *(str(fields["method"]), str(fields["path"] or "(no such address)")),
        *(str(fields["status"]), f"{fields['ms']:.0f} ms"),
    ]


def _without_values(text: str, error: BaseException | None) -> str:
    """Replace PostgreSQL's details, which may hold an e-mail address, by its primary message."""
    while error is not None:
        diagnosis = getattr(error, "diag", None)
        if diagnosis is not None:
            text = text.replace(str(error), diagnosis.message_primary or "no details")
        error = error.__cause__ or error.__context__
    return text


def configure_logs(level: str) -> None:
    """Send every log of this process to standard error: JSON, but plain lines on a terminal."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(PlainLines() if sys.stderr.isatty() else JsonLines())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # A line has none of these, and to look them up takes as long as to write it.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None  # the way that the manual of `logging` names for "no caller"
    logging.getLogger("uvicorn.access").disabled = True  # RequestLog logs requests
    logging.getLogger("httpcore").setLevel(logging.INFO)  # else headers, which may repeat a key
    logging.getLogger("alembic").setLevel(logging.WARNING)


class RequestLog:
    """Middleware that assigns request ids, logs requests, and shows an error page on exceptions."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward the request and log it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        request.state.request_id = _request_id(request)
        started, status = time.perf_counter(), 0

        async def watched_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = request.state.request_id
            await send(message)

        try:
            await self._app(scope, receive, watched_send)
        except CancelledError:  # the server stops, and has waited as long as it can
            if status:
                raise
            await show_restarting(request)(scope, receive, watched_send)
        except Exception:
            _log.exception("unexpected error", extra={"fields": _measured(request, 500, started)})
            if status:
                raise  # the response has started: it can only be cut off
            await show_unexpected(request)(scope, receive, watched_send)
            return
        fields = _measured(request, status, started)
        routine = fields["path"] == _STATIC and status < 400
        _log.log(logging.DEBUG if routine else logging.INFO, "request", extra={"fields": fields})


def _measured(request: Request, status: int, started: float) -> dict[str, Any]:
    """Count the request for `/metrics`; return the fields of its line."""
    seconds = time.perf_counter() - started
    route = request.scope.get("route")
    is_static = isinstance(request.scope.get("endpoint"), StaticFiles)
    path = _STATIC if is_static else getattr(route, "path", None)
    count_request(request.method, path, status, seconds)
    user = getattr(request.state, "user", None)
    return {
        "method": request.method,
        "path": path,
        "status": status,
        "ms": round(1000 * seconds, 2),
        "user_id": user.id if user is not None else None,
        "request_id": request.state.request_id,
    }


def _request_id(request: Request) -> str:
    given = request.headers.get("X-Request-ID", "")
    return given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
