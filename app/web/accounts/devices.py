"""The cookie of a known device: which people have signed in with this browser.

It does not authenticate anyone. It only counts sign-in attempts from this browser separately from
those of strangers, so that a stranger who guesses passwords cannot lock the owner out. It is signed
and does not expire on the server.
"""

import secrets

from itsdangerous import BadData, URLSafeSerializer
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.models import User
from topkapi.app.services.accounts.sign_in import Device
from topkapi.app.web.common.cookies import cookies_of, set_cookie

DEVICE_COOKIE = "topkapi_device"
_MOST = 10  # most recent people remembered per browser
_SECONDS = 365 * 24 * 3600


class Devices:
    """Creates and reads the device cookie, signed with the application's secret."""

    def __init__(self, secret: str, *, secure: bool) -> None:
        self._serializer = URLSafeSerializer(secret, salt="device")
        self._secure = secure

    def device_of(self, request: Request) -> Device | None:
        """Return the device that the request comes from, if it has a valid cookie."""
        try:
            name, user_ids = self._serializer.loads(request.cookies.get(DEVICE_COOKIE, ""))
        except (BadData, ValueError, TypeError):
            return None
        return Device(name, tuple(user_ids))

    def remember(self, request: Request, response: Response, user_id: int) -> None:
        """Set the cookie that records that this person has signed in here."""
        device = self.device_of(request) or Device(secrets.token_urlsafe(16), ())
        others = [known for known in device.user_ids if known != user_id]
        value = self._serializer.dumps([device.id, [user_id, *others][:_MOST]])
        set_cookie(response, DEVICE_COOKIE, str(value), max_age=_SECONDS, secure=self._secure)


def signed_in(request: Request, user: User, url: str) -> Response:
    """Redirect to ``url`` with a session of the person, whose device this browser is now."""
    response, cookies = RedirectResponse(url, status_code=303), cookies_of(request)
    cookies.set_session(response, cookies.session_token(user))
    request.app.state.devices.remember(request, response, user.id)
    return response
