"""Plain texts of pages, kept in this process: a reply holds those of the pages asked about."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock

from sqlalchemy.orm import Session

from app.db.queries import labeling as queries


class PageTexts:
    """Texts lately read. They are known by the hash of their content, so none gets out of date.

    At most ``capacity`` characters are kept; the texts unused for longest go first.
    """

    def __init__(self, capacity: int = 16_000_000) -> None:
        self._capacity = capacity
        self._lock = Lock()
        self._kept: OrderedDict[str, str] = OrderedDict()
        self._size = 0

    def of(self, session: Session, hashes: Sequence[str]) -> Mapping[str, str]:
        """The plain text of contents, by their hash."""
        found = self._recall(hashes)
        missing = [each for each in hashes if each not in found]
        if missing:
            read = queries.texts_by_hash(session, missing)
            self._keep(read)
            found.update(read)
        return found

    def _recall(self, hashes: Sequence[str]) -> dict[str, str]:
        with self._lock:
            found = {each: self._kept[each] for each in hashes if each in self._kept}
            for each in found:
                self._kept.move_to_end(each)
        return found

    def _keep(self, texts: Mapping[str, str]) -> None:
        with self._lock:
            for digest, text in texts.items():
                if digest not in self._kept:
                    self._kept[digest] = text
                    self._size += len(text)
            while self._size > self._capacity:
                self._size -= len(self._kept.popitem(last=False)[1])
