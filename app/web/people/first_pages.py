"""The page on which the first administrator of a new server creates their account."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Path, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.engine import Sessions
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.accounts.first_admin import create_first, refuse_code
from topkapi.app.web.access.admission import admit_visitor
from topkapi.app.web.access.deps import SessionDep, check_visitor_form
from topkapi.app.web.access.slots import TransactionLimits
from topkapi.app.web.common.cookies import Cookies
from topkapi.app.web.common.errors import status_of
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.common.visitors import visitor_of
from topkapi.app.web.people.forms import AcceptForm
from topkapi.app.web.people.views import AcceptView

router = APIRouter(prefix="/first", include_in_schema=False)
Code = Annotated[str, Path(max_length=100)]


async def _right_code(request: Request, code: Code) -> None:
    """Refuse a wrong code in a short read of its own, because strangers may try many."""
    limits: TransactionLimits = request.app.state.transaction_limits
    sessions: Sessions = request.app.state.sessions

    def check() -> None:
        with sessions.read() as session:
            refuse_code(session, request.app.state.secret, code)

    async with limits.strangers.hold(key=visitor_of(request).address):
        await run_in_threadpool(check)
    admit_visitor(request)


@router.get("/{code}", dependencies=[Depends(_right_code)])
def get_first(request: Request, code: Code) -> Response:
    """Show the form for e-mail address, name and password."""
    return _page(request, AcceptView(code, "", "", has_password=False, is_first=True))


@router.post("/{code}", dependencies=[Depends(check_visitor_form), Depends(_right_code)])
def post_first(
    request: Request, session: SessionDep, code: Code, form: Annotated[AcceptForm, Form()]
) -> Response:
    """Create the administrator, and sign in."""
    secret: str = request.app.state.secret
    fields = {"email": form.email, "name": form.name, "password": form.password}
    try:
        with session.begin_nested():
            user = create_first(session, secret, code, **fields)
    except Invalid as refusal:
        reason = Refusal.of(refusal)
        view = AcceptView(code, form.email, form.name, False, reason, is_first=True)
        return _page(request, view, status_of(refusal))
    cookies: Cookies = request.app.state.cookies
    response = RedirectResponse(str(request.app.url_path_for("get_start")), status_code=303)
    cookies.set_session(response, cookies.session_token(user))
    return response


def _page(request: Request, view: AcceptView, status: int = 200) -> Response:
    """Render the form; the address is a secret, so the page sends no referrer."""
    response = render(request, "people/invitation.html", view, status=status)
    response.headers["Referrer-Policy"] = "no-referrer"
    return response
