"""What the API says of itself: the errors that every operation can answer with are added here.

Routes describe what they send when all is well; refusals look alike everywhere (problem+json), so
they are described in one place, where a generated client finds them.
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
    "description": "A refusal, after RFC 9457; `code` is stable, `detail` is for people.",
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
            "description": "What is to be mended, place by place.",
            "items": {"type": "object"},
        },
    },
}
REFUSALS = {
    "400": "It could not be read.",
    "401": "No token, or one that is not valid.",
    "403": "The role does not allow it.",
    "404": "There is no such thing, or it is not yours to see.",
    "409": "It contradicts what is there.",
    "408": "The body took too long to arrive.",
    "413": "Too large.",
    "422": "A value breaks a rule; the detail says which and how to mend it.",
    "503": "Busy; nothing was written, try again after `Retry-After` seconds.",
}


def describe(app: FastAPI) -> None:
    """Let ``app`` tell of its refusals in its OpenAPI description, and serve it to everyone.

    It is written once: strangers may ask for it as often as they like.
    """
    plain = app.openapi

    def full() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _with_refusals(plain())
        return app.openapi_schema

    app.openapi = full  # type: ignore[method-assign]

    one_at_a_time = Lock()

    @cache
    def written() -> bytes:
        return json.dumps(full(), ensure_ascii=False).encode()

    @app.get("/api/v1/openapi.json", include_in_schema=False)
    async def get_description() -> Response:
        async with one_at_a_time:  # the first one takes long, so it is written in a thread
            content = await run_in_threadpool(written)
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
