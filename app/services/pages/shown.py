"""Pages under judgment in this process: what is known about each, and how it was rendered.

Renderings are known by the hash of their content, so none gets out of date. What a document's row
says is believed for ``HEAD_SECONDS``: so long a page of a deleted study may still be shown.
"""

import time
from dataclasses import dataclass
from hashlib import blake2b

from topkapi.app.services.byte_cache import ByteCache

CAPACITY = 64_000_000
HEAD_SECONDS = 30
_HEADS = 8_000_000
_OVERHEAD = 500  # bytes of an entry besides its texts


@dataclass(frozen=True, slots=True)
class PageHead:
    """What the row of a document says about its page."""

    content_hash: str
    media_type: str
    path: str
    title: str


@dataclass(frozen=True, slots=True)
class BodyKey:
    """What the body of a rendered page depends on."""

    content_hash: str
    terms: tuple[str, ...]
    links: bool


@dataclass(frozen=True, slots=True)
class Body:
    """A rendered body with a digest of it."""

    data: bytes
    digest: bytes

    @classmethod
    def of(cls, data: bytes) -> "Body":
        """Return the body that ``data`` is."""
        return cls(data, blake2b(data, digest_size=16).digest())

    def tag_between(self, before: bytes, after: bytes) -> str:
        """Return the entity tag of the page that has this body between the two."""
        parts = b"%d:" % len(before) + before + self.digest + after
        return f'"{blake2b(parts, digest_size=16).hexdigest()}"'


class ShownPages:
    """Heads and rendered bodies of pages, bounded in bytes.

    A body of more than a quarter of ``capacity`` is rendered for each reader.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._heads: ByteCache[tuple[int, int], tuple[PageHead, float]] = ByteCache(_HEADS)
        self._bodies: ByteCache[BodyKey, Body] = ByteCache(capacity, largest=capacity // 4)

    def head(self, study_id: int, document_id: int) -> PageHead | None:
        """Return what the document's row said a short while ago."""
        found = self._heads.get((study_id, document_id))
        return found[0] if found and found[1] > time.monotonic() else None

    def keep_head(self, study_id: int, document_id: int, head: PageHead) -> None:
        """Remember what the document's row says."""
        size = len(head.path) + len(head.title) + _OVERHEAD
        entry = (head, time.monotonic() + HEAD_SECONDS)
        self._heads.put((study_id, document_id), entry, size)

    def body(self, key: BodyKey) -> Body | None:
        """Return a body that was rendered before."""
        return self._bodies.get(key)

    def keep_body(self, key: BodyKey, body: Body) -> None:
        """Remember a rendered body."""
        self._bodies.put(key, body, len(body.data) + sum(map(len, key.terms)) + _OVERHEAD)
