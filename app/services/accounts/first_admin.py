"""The first administrator of a new server, created in the browser with a code from its terminal."""

import hmac
from hashlib import sha256

from sqlalchemy.orm import Session

from topkapi.app.db.models import User
from topkapi.app.db.queries.accounts.accounts import any_users
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import BadToken
from topkapi.app.services.accounts.users import create_user


def first_code(secret: str) -> str:
    """Return the code that the terminal of the server shows; it works while there is no account."""
    return hmac.new(secret.encode(), b"first administrator", sha256).hexdigest()[:32]


def refuse_code(session: Session, secret: str, code: str) -> None:
    """Raise unless the code is right and there is no account yet."""
    if any_users(session) or not hmac.compare_digest(first_code(secret).encode(), code.encode()):
        raise BadToken(
            "This link is not valid: the first administrator exists, or the server that printed "
            "it had another secret. Sign in, or ask an administrator for an invitation."
        )


def create_first(
    session: Session, secret: str, code: str, *, email: str, name: str, password: str
) -> User:
    """Create the first administrator, once."""
    refuse_code(session, secret, code)
    return create_user(session, email=email, name=name, role=Role.ADMIN, password=password)
