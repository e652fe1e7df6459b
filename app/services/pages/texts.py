"""Plain texts of pages, kept in this process: a reply holds those of the pages asked about."""

from collections.abc import Mapping, Sequence
from sys import getsizeof

from sqlalchemy.orm import Session

from topkapi.app.db.queries.judging import labeling as queries
from topkapi.app.services.byte_cache import ByteCache


class PageTexts:
    """Texts lately read. They are known by the hash of their content, so none gets out of date.

    At most ``capacity`` bytes are kept; the texts unused for longest go first.
    """

    def __init__(self, capacity: int = 32_000_000) -> None:
        self._kept: ByteCache[str, str] = ByteCache(capacity)

    def of(self, session: Session, hashes: Sequence[str]) -> Mapping[str, str]:
        """The plain text of contents, by their hash."""
        kept = {each: self._kept.get(each) for each in hashes}
        found = {each: text for each, text in kept.items() if text is not None}
        missing = [each for each in hashes if each not in found]
        if missing:
            read = queries.texts_by_hash(session, missing)
            for digest, text in read.items():
                self._kept.put(digest, text, getsizeof(text))
            found.update(read)
        return found
