"""Error responses: a page or fragment for people, problem+json for API clients."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import OperationalError, TimeoutError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from topkapi.app.domain import errors
from topkapi.app.domain.errors import AppError, SignInNeeded, TooManyAttempts, TrainingRequired
from topkapi.app.domain.text.storable import storable
from topkapi.app.web.common import htmx
from topkapi.app.web.common.cookies import SESSION_COOKIE
from topkapi.app.web.common.links import is_api, local_path, sending_path
from topkapi.app.web.common.prefix import route_path
from topkapi.app.web.common.templates import render
from topkapi.extras import MissingPackage

RETRY_SECONDS = 2
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
    400: "The request failed",
    401: "Sign-in required",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "The request took too long",
    409: "Conflict with the current state",
    413: "The request is too large",
    422: "Please fix the following",
    429: "Too many attempts",
    500: "Unexpected error",
    501: "Not installed on this server",
    503: "The server is busy",
}
_TITLES_BY_CODE = {
    "withdrawn": "Assignment withdrawn",
    "archived": "Study archived",
    "training_required": "Training required",
    "study_full": "This study is full",
    "rule_broken": "The rule of the rotation forbids this",
}
CODES = {413: "request_entity_too_large"}  # whose phrase differs between versions of Python
_DEFAULT_DETAIL = {
    404: "There is no page at this address.",
    405: "This address does not accept this kind of request.",
}
_PLAIN = {  # by the type of a validation error
    "decimal_parsing": "must be a number",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
}
_log = logging.getLogger("topkapi.errors")


class Busy(Exception):
    """No slot was free in time; nothing was done, and the client should retry."""


@dataclass(frozen=True, slots=True)
class ErrorView:
    """Content of an error page."""

    status: int
    code: str
    title: str
    message: str
    request_id: str
    back: str = ""  # the page whose form was refused


def add_error_handlers(app: FastAPI) -> None:
    """Register a handler for every kind of error."""
    app.add_exception_handler(AppError, show_app_error)
    app.add_exception_handler(HTTPException, show_http_error)
    app.add_exception_handler(RequestValidationError, show_invalid_request)
    app.add_exception_handler(MissingPackage, show_missing_package)
    app.add_exception_handler(Busy, show_busy)
    app.add_exception_handler(OperationalError, show_busy_database)
    app.add_exception_handler(TimeoutError, show_busy_database)
    app.add_exception_handler(ClientDisconnect, show_cut_off)


def status_of(error: AppError) -> int:
    """Return the HTTP status of an error: that of its class or nearest base class."""
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def show_app_error(request: Request, error: Exception) -> Response:
    """Return the response for a refusal; a page that needs a sign-in redirects to it."""
    assert isinstance(error, AppError)
    if type(error) is SignInNeeded and not is_api(request):
        return _redirect_to_sign_in(request)
    if isinstance(error, TrainingRequired) and not is_api(request):
        return _redirect_to_training(request, error.slug)
    found = {name: getattr(error, name, ()) for name in ("causes", "problems")}
    lists = {name: [each.as_json() for each in given] for name, given in found.items() if given}
    response = show(request, status_of(error), error.code, str(error), lists)
    if isinstance(error, TooManyAttempts):
        response.headers["Retry-After"] = str(error.wait_seconds)
    if isinstance(error, SignInNeeded) and is_api(request):
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def show_http_error(request: Request, error: Exception) -> Response:
    """Return the response for an unknown address or method."""
    assert isinstance(error, HTTPException)
    status = error.status_code
    if isinstance(error.__cause__, RecursionError | ValueError) and status == 400:
        return show(request, 422, "invalid", "The body of the request is malformed.")
    code = CODES.get(status) or HTTPStatus(status).phrase.lower().replace(" ", "_")
    response = show(request, status, code, _DEFAULT_DETAIL.get(status, str(error.detail)))
    response.headers.update(error.headers or {})
    return response


def show_invalid_request(request: Request, error: Exception) -> Response:
    """Return the response for an invalid form or body, with each field and its problem."""
    assert isinstance(error, RequestValidationError)
    found = [f"{_field(problem['loc'])}: {_reason(problem)}" for problem in error.errors()]
    return show(request, 422, "invalid", "; ".join(found) + ".")


def show_missing_package(request: Request, error: Exception) -> Response:
    """Return the response for a feature whose optional package is not installed."""
    assert isinstance(error, MissingPackage)
    return show(
        request, 501, "missing_package", f"{error.elsewhere}. Ask the administrator of the server."
    )


def show_busy_database(request: Request, error: Exception) -> Response:
    """Return the response for a database timeout: nothing was written; the client should retry."""
    cause = getattr(error, "orig", None) or error
    reason = str(cause).partition("\n")[0]  # further lines may have values
    _log.error("the database did not answer: %s: %s", type(cause).__name__, reason)
    return _busy(request, "The database did not answer in time.")


def show_busy(request: Request, _error: Exception) -> Response:
    """Return the response for overload: nothing was done; the client should retry."""
    return _busy(request, "The server has too many requests at the moment.")


def show_restarting(request: Request) -> Response:
    """Return the response for a request that takes longer than a server that stops can wait."""
    return _busy(
        request,
        "The server restarts.",
        "The request may or may not have been saved; send it again.",
    )


def _busy(request: Request, why: str, advice: str = "Nothing was written; try again.") -> Response:
    response = show(request, 503, "busy", f"{why} {advice}")
    response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def show_cut_off(request: Request, error: Exception) -> Response:
    """Return the response for an incomplete body; only the log shows it, the client is gone."""
    assert isinstance(error, ClientDisconnect)
    return show(request, 400, "incomplete", "The request ended before its body was complete.")


def show_unexpected(request: Request) -> Response:
    """Return the response for an unhandled exception; the log has the traceback by request id."""
    return show(
        request, 500, "unexpected", "An internal error occurred. Everything saved before is safe."
    )


def show(
    request: Request,
    status: int,
    code: str,
    message: str,
    lists: Mapping[str, Sequence[Mapping[str, Any]]] = MappingProxyType({}),
) -> Response:
    """Return an error as a page, a fragment or problem+json, as the client needs it.

    ``lists`` has further members of problem+json, such as every problem of a study.
    """
    message = storable(message)  # it may quote a lone surrogate, which UTF-8 cannot encode
    title = _TITLES_BY_CODE.get(code) or _TITLES.get(status, HTTPStatus(status).phrase)
    if is_api(request):
        content = {
            "type": "about:blank",
            "title": title,
            "status": status,
            "detail": message,
            "code": code,
            **lists,
        }
        return JSONResponse(content, status, media_type="application/problem+json")
    page = sending_path(request) if status == 422 else "/"
    back = page if page != "/" else ""
    view = ErrorView(status, code, title, message, getattr(request.state, "request_id", ""), back)
    return render(request, "error.html", view, fragment="_error.html", status=status)


def _redirect_to_sign_in(request: Request) -> Response:
    url = str(request.app.url_path_for("get_sign_in"))
    if route_path(request.scope) == "/sign-out":
        return RedirectResponse(url, status_code=303)
    wanted = _wanted(request)
    parameters = {"next": wanted} if wanted != "/" else {}
    if request.method != "GET" and not htmx.wants_fragment(request):
        parameters["reason"] = "unsaved"
    elif SESSION_COOKIE in request.cookies or request.method != "GET":
        parameters["reason"] = "expired"
    if parameters:
        url += f"?{urlencode(parameters)}"
    if htmx.wants_fragment(request):
        return htmx.redirect(Response(status_code=401), url)
    return RedirectResponse(url, status_code=303)


def _redirect_to_training(request: Request, slug: str) -> Response:
    url = str(request.app.url_path_for("get_training", slug=slug))
    if htmx.wants_fragment(request):
        return htmx.redirect(Response(status_code=403), url)
    return RedirectResponse(url, status_code=303)


def _wanted(request: Request) -> str:
    """Return where to go after the sign-in: the page asked for, or the one that sent a form."""
    if htmx.wants_fragment(request):
        return local_path(htmx.current_path(request))
    if request.method != "GET":
        return sending_path(request)
    query = request.scope["query_string"].decode("latin-1")
    if route_path(request.scope) == "/":
        return "/"
    path: str = request.scope["path"]
    return path + (f"?{query}" if query else "")


def _reason(problem: Mapping[str, Any]) -> str:
    plain = _PLAIN.get(problem["type"])
    return plain.format(**problem.get("ctx", {})) if plain else str(problem["msg"])


def _field(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location[1:]) or str(location[0])
