"""Display preferences of a person on one device: a cookie that scripts write and the server reads.

A phone and a desktop need different text sizes, so these belong to the device, not to the account.
"""

import re
from dataclasses import dataclass

from starlette.requests import Request

VIEW_COOKIE = "topkapi_view"
_VALUE = re.compile(r"s([1-5])\.l([01])(?:\.d\d{1,2})?(?:\.h([01])\.m[01])?")


@dataclass(frozen=True, slots=True)
class DisplayPreferences:
    """Text size from 1 to 5, and whether single-letter shortcuts are on and the header is pinned.

    A pinned header is whole at every question of a query, not only at the first.
    """

    size: int = 3
    letters: bool = True
    pinned: bool = False


def display_preferences_of(request: Request) -> DisplayPreferences:
    """Return the preferences in the cookie, or the defaults."""
    found = _VALUE.fullmatch(request.cookies.get(VIEW_COOKIE, ""))
    if found is None:
        return DisplayPreferences()
    return DisplayPreferences(int(found[1]), found[2] == "1", found[3] == "1")
