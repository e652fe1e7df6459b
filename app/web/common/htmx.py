"""Everything specific to htmx: its headers, its settings, the responses it expects."""

import json
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

# No inline styles and no eval (the CSP forbids both); errors are shown in #notice.
CONFIG: Final = json.dumps(
    {
        "includeIndicatorStyles": False,
        "allowEval": False,
        "selfRequestsOnly": True,
        "historyCacheSize": 0,
        "reportValidityOfForms": True,
        "responseHandling": [
            {"code": "204", "swap": False},
            {"code": "[23]..", "swap": True},
            {"code": "409", "swap": True, "error": True},
            {
                "code": "[45]..",
                "swap": True,
                "error": True,
                "target": "#notice",
                "swapOverride": "innerHTML",  # the next error needs the element, too
            },
        ],
    }
)


def wants_fragment(request: Request) -> bool:
    """Return whether htmx asks for a fragment; a boosted link needs a whole page."""
    headers = request.headers
    return headers.get("HX-Request") == "true" and headers.get("HX-Boosted") != "true"


def current_path(request: Request) -> str:
    """Return the path of the page that htmx runs in, or `/` if its address cannot be parsed."""
    try:
        return urlsplit(request.headers.get("HX-Current-URL", "")).path or "/"
    except ValueError:
        return "/"


def redirect(response: Response, url: str) -> Response:
    """Make htmx load another page."""
    response.headers["HX-Redirect"] = url
    return response


def headers_attribute(header: str, value: str) -> str:
    """Return the value of ``hx-headers`` that adds ``header`` to every htmx request."""
    return json.dumps({header: value})
