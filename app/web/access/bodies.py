"""Limits of request bodies, declared at the routes.

A route that declares nothing accepts what a form of some fields or a JSON record takes.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from re import Pattern
from typing import Any, TypeVar

from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute, compile_path

KB = 1024
_FORM_OVERHEAD = 1024 * KB  # bytes that a form adds to its file
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class BodyLimit:
    """Maximum size of a body in bytes, and the seconds within which it must arrive.

    ``needs_admin``: an administrator is authenticated in the database before the body is read, and
    the body is then streamed instead of being collected in memory. ``for_visitors``: visitors who
    are not signed in may send it.
    """

    most_bytes: int
    seconds: float = 15.0
    needs_admin: bool = False
    for_visitors: bool = False


DEFAULT = BodyLimit(256 * KB)
VISITOR = BodyLimit(32 * KB, seconds=10.0, for_visitors=True)


def upload(most_bytes: int, *, seconds: float) -> BodyLimit:
    """Return the limit of a file that administrators send, as a body or in a form."""
    return BodyLimit(most_bytes + _FORM_OVERHEAD, seconds, needs_admin=True)


LONG_TEXT = upload(3 * 1024 * KB, seconds=60.0)
_declared: dict[Callable[..., Any], BodyLimit] = {}


def limit_body(limit: BodyLimit) -> Callable[[Endpoint], Endpoint]:
    """Declare the limit of the bodies that a route accepts; stands below the route's decorator."""

    def declare(endpoint: Endpoint) -> Endpoint:
        _declared[endpoint] = limit
        return endpoint

    return declare


class BodyLimits:
    """The declared limits of an application, by method and path."""

    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        self._rules: list[tuple[str, Pattern[str], BodyLimit]] = []
        for route in iter_route_contexts(list(routes)):
            endpoint = getattr(route.original_route, "endpoint", None)
            if endpoint in _declared:
                pattern = compile_path(str(route.path))[0]
                limit = _declared[endpoint]
                self._rules += [(each, pattern, limit) for each in sorted(route.methods or ())]

    def of(self, method: str, path: str) -> BodyLimit:
        """Return the limit of a request, which is the default unless its route declares one.

        A method that a visitor's path does not have is refused as such, not for want of a sign-in.
        """
        limits = {
            each: limit for each, pattern, limit in reversed(self._rules) if pattern.match(path)
        }
        visitor = next((limit for limit in limits.values() if limit.for_visitors), DEFAULT)
        return limits.get(method, visitor)


def is_declared(endpoint: Callable[..., Any]) -> bool:
    """Return whether a route declares its limit."""
    return endpoint in _declared
