"""From a refusal to a response: a page or fragment for people, problem+json for programs."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import OperationalError, TimeoutError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from topkapi.app.domain import errors
from topkapi.app.domain.errors import AppError, SignInNeeded, TooManyAttempts
from topkapi.app.domain.text.storable import storable
from topkapi.app.web.common import htmx
from topkapi.app.web.common.busy import RETRY_SECONDS, Busy
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.visitors import is_api

STATUS: Mapping[type[AppError], int] = {
    errors.NotFound: 404,
    errors.Forbidden: 403,
    errors.SignInNeeded: 401,
    errors.WrongCredentials: 401,
    errors.TooManyAttempts: 429,
    errors.BadToken: 403,
    errors.Invalid: 422,
    errors.Conflict: 409,
    errors.LogRefusal: 409,
    errors.AnswerNotAllowed: 422,
    AppError: 400,
}
_TITLES = {
    400: "That did not work",
    401: "Sign in first",
    403: "Not allowed",
    404: "Nothing here",
    405: "Not allowed here",
    408: "Too slow",
    409: "Already changed",
    413: "Too large",
    422: "Something is to be mended",
    429: "Wait a little",
    500: "Something went wrong",
    503: "Busy",
}
_TITLES_BY_CODE = {"withdrawn": "Taken back"}
_DEFAULT_DETAIL = {
    404: "There is no page at this address.",
    405: "This address does not take that kind of request.",
}
_log = logging.getLogger("topkapi.errors")


@dataclass(frozen=True, slots=True)
class ErrorView:
    """What an error page says."""

    status: int
    code: str
    title: str
    message: str
    request_id: str


def add_error_handlers(app: FastAPI) -> None:
    """Give every kind of error its one way out."""
    app.add_exception_handler(AppError, show_app_error)
    app.add_exception_handler(HTTPException, show_http_error)
    app.add_exception_handler(RequestValidationError, show_invalid_request)
    app.add_exception_handler(Busy, show_busy)
    app.add_exception_handler(OperationalError, show_busy_database)
    app.add_exception_handler(TimeoutError, show_busy_database)
    app.add_exception_handler(ClientDisconnect, show_cut_off)


def status_of(error: AppError) -> int:
    """The status of an error: its own, or that of the nearest class above it."""
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def show_app_error(request: Request, error: Exception) -> Response:
    """A refusal, with its true status; a page that needs a sign-in leads to it."""
    assert isinstance(error, AppError)
    if type(error) is SignInNeeded and not is_api(request):
        return _lead_to_sign_in(request)
    problems = [each.as_json() for each in getattr(error, "problems", ())]
    response = show(request, status_of(error), error.code, str(error), problems)
    if isinstance(error, TooManyAttempts):
        response.headers["Retry-After"] = str(error.wait_seconds)
    if isinstance(error, SignInNeeded) and is_api(request):
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def show_http_error(request: Request, error: Exception) -> Response:
    """An unknown address or method."""
    assert isinstance(error, HTTPException)
    status = error.status_code
    if isinstance(error.__cause__, RecursionError | ValueError) and status == 400:
        return show(request, 422, "invalid", "The body cannot be read: it is malformed.")
    code = HTTPStatus(status).phrase.lower().replace(" ", "_")
    response = show(request, status, code, _DEFAULT_DETAIL.get(status, str(error.detail)))
    response.headers.update(error.headers or {})
    return response


def show_invalid_request(request: Request, error: Exception) -> Response:
    """A form or a body that lacks a field or has a wrong one: say which and why."""
    assert isinstance(error, RequestValidationError)
    said = [f"{_field(problem['loc'])}: {problem['msg']}" for problem in error.errors()]
    return show(request, 422, "invalid", "; ".join(said) + ".")


def show_busy_database(request: Request, error: Exception) -> Response:
    """The database did not answer in time: nothing was written, and trying again is right."""
    _log.error("the database did not answer", exc_info=error)
    return _say_busy(request, "The database did not answer in time.")


def show_busy(request: Request, _error: Exception) -> Response:
    """Too many requests at once: nothing was done, and trying again is right."""
    return _say_busy(request, "Many people are at work just now.")


def _say_busy(request: Request, why: str) -> Response:
    response = show(request, 503, "busy", f"{why} Nothing was written; try again.")
    response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def show_cut_off(request: Request, error: Exception) -> Response:
    """The client went away before its body was sent: nobody reads this, the log notes it."""
    assert isinstance(error, ClientDisconnect)
    return show(request, 400, "incomplete", "The request ended before its body was complete.")


def show_unexpected(request: Request) -> Response:
    """A fault of the program: its traceback is in the log under the number shown."""
    return show(
        request, 500, "unexpected", "The program made a mistake. What was saved before is safe."
    )


def show(
    request: Request,
    status: int,
    code: str,
    message: str,
    problems: Sequence[Mapping[str, Any]] = (),
) -> Response:
    """An error as a page, a fragment or problem+json, whichever the asker reads."""
    message = storable(message)  # it may quote half of a surrogate pair, which UTF-8 has not
    title = _TITLES_BY_CODE.get(code) or _TITLES.get(status, HTTPStatus(status).phrase)
    if is_api(request):
        content = {
            "type": "about:blank",
            "title": title,
            "status": status,
            "detail": message,
            "code": code,
            **({"problems": list(problems)} if problems else {}),
        }
        return JSONResponse(content, status, media_type="application/problem+json")
    view = ErrorView(status, code, title, message, getattr(request.state, "request_id", ""))
    return render(request, "error.html", view, fragment="_error.html", status=status)


def _lead_to_sign_in(request: Request) -> Response:
    url = str(request.app.url_path_for("get_sign_in"))
    path, query = request.scope["path"], request.scope["query_string"].decode("latin-1")
    if request.method == "GET" and path != "/":
        wanted = path + (f"?{query}" if query else "")
        url += f"?next={quote(wanted, safe='')}"
    if htmx.wants_fragment(request):
        return htmx.redirect(
            Response(status_code=401), str(request.app.url_path_for("get_sign_in"))
        )
    return RedirectResponse(url, status_code=303)


def _field(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location[1:]) or str(location[0])
