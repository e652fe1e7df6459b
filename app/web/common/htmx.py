"""The only place that knows the names of htmx: its headers, its settings, what it wants back."""

import json
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

# No inline styles and no eval (the CSP forbids both); refusals are shown, in #notice.
CONFIG: Final = json.dumps(
    {
        "includeIndicatorStyles": False,
        "allowEval": False,
        "selfRequestsOnly": True,
        "historyCacheSize": 0,
        "responseHandling": [
            {"code": "204", "swap": False},
            {"code": "[23]..", "swap": True},
            {"code": "409", "swap": True, "error": True},
            {"code": "[45]..", "swap": True, "error": True, "target": "#notice"},
        ],
    }
)


def wants_fragment(request: Request) -> bool:
    """Whether the request came from htmx and a fragment is enough; a boosted link wants a page."""
    headers = request.headers
    return headers.get("HX-Request") == "true" and headers.get("HX-Boosted") != "true"


def redirect(response: Response, url: str) -> Response:
    """Tell htmx to load another page as a whole."""
    response.headers["HX-Redirect"] = url
    return response


def headers_attribute(header: str, value: str) -> str:
    """The value of ``hx-headers`` that makes every htmx request carry ``header``."""
    return json.dumps({header: value})
