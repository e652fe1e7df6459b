"""Validation of requests: values that no database can store are refused, naming the field."""

from collections.abc import Mapping
from typing import Annotated, TypeVar
from urllib.parse import parse_qsl

from fastapi.exceptions import RequestValidationError
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from topkapi.app.domain.text.storable import problem_with, unfit_character
from topkapi.app.web.common.errors import show

Value = TypeVar("Value")
PersonId = Annotated[int, Field(ge=1, le=2**31 - 1)]
Line = Annotated[str, Field(max_length=400)]


def storable(value: Value) -> Value:
    """Return a value that both databases can store, or raise a validation error."""
    problem = problem_with(value)
    if problem:
        raise PydanticCustomError("unstorable", "{problem}", {"problem": f"The value {problem}"})
    return value


StorableLine = Annotated[str, Field(max_length=100), AfterValidator(storable)]


class Received(BaseModel):
    """A form or a JSON body in which both databases can store every field."""

    @field_validator("*")
    @classmethod
    def _refuse_unstorable(cls, value: object) -> object:
        return storable(value)


class Body(Received):
    """A JSON body; unknown fields are refused, not ignored."""

    model_config = ConfigDict(extra="forbid")


Form = TypeVar("Form", bound=Received)


async def read_form(request: Request, form: type[Form]) -> Form:
    """Return the form of a request; empty fields count as absent, as in FastAPI's own forms."""
    sent = await request.form()
    return validated(form, {name: value for name, value in sent.items() if value != ""})


def validated(form: type[Form], sent: Mapping[str, object]) -> Form:
    """Return what was sent as a form; raise `RequestValidationError` naming a wrong field."""
    try:
        return form.model_validate(sent)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        raise RequestValidationError(
            [{**each, "loc": ("body", *each["loc"])} for each in problems]
        ) from None


class AddressCheck:
    """Refuses NUL in path, query string and headers, and query strings that are not UTF-8."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it with 422."""
        message = _problem(scope) if scope["type"] == "http" else None
        if message is None:
            await self._app(scope, receive, send)
            return
        await show(Request(scope, receive), 422, "invalid", message)(scope, receive, send)


def _problem(scope: Scope) -> str | None:
    field = _field_with_nul(scope)
    if field is not None:
        return f"{field} {problem_with(chr(0))}."
    query: bytes = scope["query_string"]
    if not query.isascii() and unfit_character(query.decode(errors="surrogateescape")):
        return "The address is not valid UTF-8."
    return None


def _field_with_nul(scope: Scope) -> str | None:
    if "\0" in scope["path"]:
        return "The address"
    query: bytes = scope["query_string"]
    if b"%00" in query or b"\0" in query:
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
        return next((name for name, value in pairs if "\0" in value), "The address")
    named = (name for name, value in scope["headers"] if b"\0" in value)
    return next((f"The header {name.decode('latin-1')}" for name in named), None)
