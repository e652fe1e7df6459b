"""Cache of the pages under judgment in this process: their metadata and rendered bodies.

The cache is small: a browser keeps the pages it has loaded, so only assessors who judge the same
query at about the same time share a rendering. The key of a rendering contains the hash of its
content, so it never goes stale. Metadata from a document's row is cached for ``HEAD_SECONDS``,
during which a page of a deleted study may still be shown.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from sys import getsizeof

from sqlalchemy.orm import Session

from topkapi.app.db.queries.judging import labeling as queries
from topkapi.app.db.queries.judging import lists
from topkapi.app.domain.lists.session import AskingLists
from topkapi.app.domain.text.snippets import LOOK
from topkapi.app.services.byte_cache import ByteCache
from topkapi.app.services.judging.states import AssignmentState

CAPACITY = 8_000_000
HEAD_SECONDS = 30
_HEADS = 1_000_000
_OVERHEAD = 500  # bytes per entry besides its texts


class PageTexts:
    """Recently read texts by the hash of their content, so that none goes stale.

    At most ``capacity`` bytes are cached; the least recently used texts are evicted.
    """

    def __init__(self, capacity: int = 32_000_000) -> None:
        self._cache: ByteCache[str, str] = ByteCache(capacity)

    def of(self, session: Session, hashes: Sequence[str]) -> Mapping[str, str]:
        """Return the plain texts of contents by their hash."""
        cached = {each: self._cache.get(each) for each in hashes}
        texts = {each: text for each, text in cached.items() if text is not None}
        missing = [each for each in hashes if each not in texts]
        if missing:
            read = queries.texts_by_hash(session, missing)
            for digest, text in read.items():
                self._cache.put(digest, text, getsizeof(text))
            texts.update(read)
        return texts


def snippet_texts(session: Session, assignment_state: AssignmentState) -> dict[str, str]:
    """Return the openings of the listed pages by content hash; empty if no lists are shown."""
    if not isinstance(assignment_state.state, AskingLists):
        return {}
    hashes = {
        assignment_state.documents[number].content_hash for number in assignment_state.state.shown
    }
    return lists.openings(session, hashes, LOOK)


@dataclass(frozen=True, slots=True)
class PageHead:
    """Metadata of a page from the row of its document."""

    content_hash: str
    media_type: str
    path: str
    title: str


@dataclass(frozen=True, slots=True)
class BodyKey:
    """Everything that the body of a rendered page depends on; ``as_text`` is its text view."""

    content_hash: str
    terms: tuple[str, ...]
    links: bool
    as_text: bool = False


@dataclass(frozen=True, slots=True)
class PageBody:
    """A rendered body with its digest."""

    data: bytes
    digest: bytes

    @classmethod
    def of(cls, data: bytes) -> "PageBody":
        """Return a body of ``data`` with its digest."""
        return cls(data, blake2b(data, digest_size=16).digest())

    def tag_between(self, before: bytes, after: bytes) -> str:
        """Return the entity tag of the page made of ``before``, this body and ``after``."""
        parts = b"%d:" % len(before) + before + self.digest + after
        return f'"{blake2b(parts, digest_size=16).hexdigest()}"'


class ShownPages:
    """Cache of heads and rendered bodies of pages, bounded in bytes.

    A body of more than a quarter of ``capacity`` is not cached.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._heads: ByteCache[tuple[int, int], tuple[PageHead, float]] = ByteCache(_HEADS)
        self._bodies: ByteCache[BodyKey, PageBody] = ByteCache(capacity, largest=capacity // 4)

    def head(self, study_id: int, document_id: int) -> PageHead | None:
        """Return the cached metadata of a document, or None if missing or expired."""
        found = self._heads.get((study_id, document_id))
        return found[0] if found and found[1] > time.monotonic() else None

    def keep_head(self, study_id: int, document_id: int, head: PageHead) -> None:
        """Cache the metadata of a document."""
        size = len(head.path) + len(head.title) + _OVERHEAD
        entry = (head, time.monotonic() + HEAD_SECONDS)
        self._heads.put((study_id, document_id), entry, size)

    def body(self, key: BodyKey) -> PageBody | None:
        """Return a cached body, or None."""
        return self._bodies.get(key)

    def keep_body(self, key: BodyKey, body: PageBody) -> None:
        """Cache a rendered body."""
        self._bodies.put(key, body, len(body.data) + sum(map(len, key.terms)) + _OVERHEAD)
