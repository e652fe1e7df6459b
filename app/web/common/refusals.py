"""Refused changes: undo them, and show the form again with the reason."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy.orm import Session
from starlette.requests import Request
from starlette.responses import Response

from topkapi.app.domain.errors import AppError, Conflict, Invalid, NotFound, TooManyAttempts
from topkapi.app.web.common.errors import status_of
from topkapi.app.web.common.templates import render


@dataclass(slots=True)
class TriedChange:
    """A change that was tried; ``refusal`` says why nothing was changed."""

    refusal: AppError | None = None


@contextmanager
def try_change(session: Session) -> Iterator[TriedChange]:
    """Run the block in a savepoint; a refusal undoes all of it and is kept."""
    tried = TriedChange()
    try:
        with session.begin_nested():
            yield tried
    except (Invalid, Conflict, NotFound) as refusal:
        tried.refusal = refusal


def show_form(
    request: Request, page: str, view: object, refusal: AppError | None = None, status: int = 200
) -> Response:
    """Render the page of a form; after a refusal with the status of that."""
    response = render(request, page, view, status=status_of(refusal) if refusal else status)
    if isinstance(refusal, TooManyAttempts):
        response.headers["Retry-After"] = str(refusal.wait_seconds)
    return response
