"""OpenAPI description of the API, with the errors that every operation can return.

Routes describe their successful responses. Errors have the same form everywhere (problem+json), so
they are added to all operations here, for generated clients.
"""

import json
from functools import cache
from typing import Any

from anyio import Lock
from fastapi import FastAPI, Response
from fastapi.concurrency import run_in_threadpool

MEDIA_TYPE = "application/problem+json"
PROBLEM: dict[str, Any] = {
    "title": "Problem",
    "description": "An error (RFC 9457); `code` is stable, `detail` is for people.",
    "type": "object",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "problems": {
            "type": "array",
            "description": "What to fix, with the location of each problem.",
            "items": {"type": "object"},
        },
    },
}
REFUSALS = {
    "400": "The request could not be parsed.",
    "401": "The token is missing or not valid.",
    "403": "Your role does not allow this.",
    "404": "Not found, or you may not see it.",
    "409": "Conflict with the current state.",
    "408": "The body took too long to arrive.",
    "413": "The body is too large.",
    "422": "A value is not valid; `detail` says which one and how to fix it.",
    "503": "The server is busy. Nothing was written; retry after `Retry-After` seconds.",
}


def describe(app: FastAPI) -> None:
    """Add errors to the OpenAPI description of ``app``, and serve it without authentication.

    It is serialised once and cached, because anyone may request it at any rate.
    """
    plain = app.openapi

    def full() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _with_refusals(plain())
        return app.openapi_schema

    app.openapi = full  # type: ignore[method-assign]  # as FastAPI documents

    one_at_a_time = Lock()

    @cache
    def serialised() -> bytes:
        return json.dumps(full(), ensure_ascii=False).encode()

    @app.get("/api/v1/openapi.json", include_in_schema=False)
    async def get_description() -> Response:
        async with one_at_a_time:  # the first call is slow, so it runs in a thread
            content = await run_in_threadpool(serialised)
        return Response(content, media_type="application/json")


def _with_refusals(schema: dict[str, Any]) -> dict[str, Any]:
    parts = schema.setdefault("components", {}).setdefault("schemas", {})
    parts["Problem"] = PROBLEM
    for name in ("HTTPValidationError", "ValidationError"):
        parts.pop(name, None)
    for path in schema["paths"].values():
        for operation in path.values():
            for status, description in REFUSALS.items():
                _add(operation["responses"], status, description)
    return schema


def _add(responses: dict[str, Any], status: str, description: str) -> None:
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    found = responses.get(status)
    if found is None or status == "422":  # FastAPI's own 422 is not what is sent here
        responses[status] = {"description": description, "content": content}
    else:
        found.setdefault("content", {}).update(content)
