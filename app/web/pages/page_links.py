"""Signed links to pages under judgment: the holder of a link may see the page until it expires.

The link itself is the permission: no cookie is needed or read. It names the page and its display
settings. Links made within a quarter of the lifetime are identical, so that browsers can use their
cache.
"""

import time
from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import Literal
from urllib.parse import quote

from itsdangerous import BadData, URLSafeSerializer

from topkapi.app.web.common.prefix import prefix

CLOCK_SKEW = 300  # seconds by which the clocks of hosts may differ
Theme = Literal["auto", "light", "dark"]
_CACHED_LINKS = 4096  # half a kilobyte each; a question has up to a dozen, mostly cached ones


class LinkExpired(Exception):
    """The link was valid and has expired."""


class LinkWrong(Exception):
    """The link was not signed by this server."""


@dataclass(frozen=True, slots=True)
class PageLink:
    """A page of a study, its theme and text size, and the terms marked in it."""

    study_id: int
    document_id: int
    theme: Theme = "auto"
    size: int = 3
    terms: tuple[str, ...] = ()


class PageLinks:
    """Makes and reads links, signed with the secret of the server."""

    def __init__(self, secret: str, *, minutes: int) -> None:
        self._serializer = URLSafeSerializer(secret, salt="page")
        self._seconds = minutes * 60
        self._signed = lru_cache(maxsize=_CACHED_LINKS)(self._sign)

    def address(self, link: PageLink, path: str) -> str:
        """Return the address of the page.

        It ends with ``path``, the path of the file in the study, so that relative links to images
        work.
        """
        step = max(1, self._seconds // 4)
        until = int(time.time()) // step * step + self._seconds + step
        return prefix() + self._signed(link, path, until)

    def _sign(self, link: PageLink, path: str, until: int) -> str:
        token = self._serializer.dumps([*astuple(link), until])
        return f"/pages/{token}/{quote(path)}"

    def read(self, token: str) -> tuple[PageLink, int]:
        """Return the link in a token and the seconds until it expires."""
        try:
            study_id, document_id, theme, size, terms, until = self._serializer.loads(token)
        except (BadData, ValueError, TypeError) as error:
            raise LinkWrong from error
        left = until - int(time.time())
        if left <= -CLOCK_SKEW:
            raise LinkExpired
        return PageLink(study_id, document_id, theme, size, tuple(terms)), max(left, 1)

    def document_of(self, token: str) -> int | None:
        """Return the document of a link, expired or not; None if this server did not sign it."""
        try:
            document_id: int = self._serializer.loads(token)[1]
        except (BadData, LookupError, TypeError):
            return None
        return document_id
