"""Signed links to pages under judgment: who holds one may see the page, for a while.

A link is its own permission, so that no cookie is needed or read. It names the page and how it is
shown. Links made within a quarter of their life are the same, so that browsers keep what they have
loaded.
"""

import time
from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import Literal
from urllib.parse import quote

from itsdangerous import BadData, URLSafeSerializer

CLOCK_SKEW = 300  # seconds by which the clocks of hosts may differ
Theme = Literal["auto", "light", "dark"]
_KEPT_LINKS = 4096  # of half a kilobyte; a question has up to a dozen, mostly the same again


class LinkExpired(Exception):
    """The link was right once."""


class LinkWrong(Exception):
    """The link was not made here."""


@dataclass(frozen=True, slots=True)
class PageLink:
    """A page of a study, the terms marked in it, and how it is set."""

    study_id: int
    document_id: int
    theme: Theme = "auto"
    size: int = 3
    terms: tuple[str, ...] = ()


class PageLinks:
    """Makes and reads the links of one program, signed with its secret."""

    def __init__(self, secret: str, *, minutes: int) -> None:
        self._serializer = URLSafeSerializer(secret, salt="page")
        self._seconds = minutes * 60
        self._signed = lru_cache(maxsize=_KEPT_LINKS)(self._sign)

    def address(self, link: PageLink, path: str) -> str:
        """Where the page is; ``path`` is where its file stood, so that its images are found."""
        step = max(1, self._seconds // 4)
        until = int(time.time()) // step * step + self._seconds + step
        return self._signed(link, path, until)

    def _sign(self, link: PageLink, path: str, until: int) -> str:
        token = self._serializer.dumps([*astuple(link), until])
        return f"/pages/{token}/{quote(path)}"

    def read(self, token: str) -> tuple[PageLink, int]:
        """What a token names, and for how many seconds it still does."""
        try:
            study_id, document_id, theme, size, terms, until = self._serializer.loads(token)
        except (BadData, ValueError, TypeError) as error:
            raise LinkWrong from error
        left = until - int(time.time())
        if left <= -CLOCK_SKEW:
            raise LinkExpired
        return PageLink(study_id, document_id, theme, size, tuple(terms)), max(left, 1)
