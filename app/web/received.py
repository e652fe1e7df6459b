"""What a request sends is checked for what no database can store, with the field named."""

from urllib.parse import parse_qsl

from pydantic import BaseModel, field_validator
from pydantic_core import PydanticCustomError
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.domain.texts import problem_with
from app.web.errors import show


class Received(BaseModel):
    """A form or a JSON body: every field is storable on both databases."""

    @field_validator("*")
    @classmethod
    def _refuse_unstorable(cls, value: object) -> object:
        problem = problem_with(value)
        if problem:
            raise PydanticCustomError(
                "unstorable", "{problem}", {"problem": f"The value {problem}"}
            )
        return value


class AddressCheck:
    """Refuses NUL in the path, the query string and the headers of a request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it with 422."""
        field = _field_with_nul(scope) if scope["type"] == "http" else None
        if field is None:
            await self._app(scope, receive, send)
            return
        message = f"{field} {problem_with(chr(0))}."
        await show(Request(scope, receive), 422, "invalid", message)(scope, receive, send)


def _field_with_nul(scope: Scope) -> str | None:
    if "\0" in scope["path"]:
        return "The address"
    query: bytes = scope["query_string"]
    if b"%00" in query or b"\0" in query:
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
        return next((name for name, value in pairs if "\0" in value), "The address")
    named = (name for name, value in scope["headers"] if b"\0" in value)
    return next((f"The header {name.decode('latin-1')}" for name in named), None)
