"""The person's own keys on the judging page."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.shortcuts import ACTIONS, KEYS, chosen_keys, keys_of
from topkapi.app.web.access.deps import CurrentUser
from topkapi.app.web.accounts.forms import KeysForm
from topkapi.app.web.accounts.views import KeysView
from topkapi.app.web.common.errors import status_of
from topkapi.app.web.common.links import landing, local_path
from topkapi.app.web.common.templates import render

router = APIRouter(include_in_schema=False)


@router.get("/keys")
def get_keys(request: Request, user: CurrentUser, next: str = "/") -> Response:
    """Show the keys of the person, each with a choice."""
    return _show(request, keys_of(user.keys), local_path(next))


@router.post("/keys")
def post_keys(request: Request, user: CurrentUser, form: Annotated[KeysForm, Form()]) -> Response:
    """Store the chosen keys, or the default keys, and return to where the person came from."""
    wanted = {} if form.reset else form.keys
    try:
        user.keys = chosen_keys(wanted) or None
    except Invalid as refusal:
        return _show(request, keys_of(wanted), form.next, refusal)
    return RedirectResponse(landing(request, form.next), status_code=303)


def _show(
    request: Request, keys: Mapping[str, str], next: str, refusal: Invalid | None = None
) -> Response:
    view = KeysView(
        rows=[(action.name, action.label, keys[action.name]) for action in ACTIONS],
        keys=KEYS,
        next=next,
        error=str(refusal) if refusal else None,
    )
    return render(
        request, "accounts/keys.html", view, status=status_of(refusal) if refusal else 200
    )
