"""Cache of the plain texts of open pages, and the texts from which snippets are cut."""

from collections.abc import Mapping, Sequence
from sys import getsizeof

from sqlalchemy.orm import Session

from topkapi.app.db.queries.judging import labeling as queries
from topkapi.app.db.queries.judging import lists
from topkapi.app.domain.lists.session import AskingLists
from topkapi.app.domain.text.snippets import LOOK
from topkapi.app.services.byte_cache import ByteCache
from topkapi.app.services.judging.states import AssignmentState


class PageTexts:
    """Recently read texts by the hash of their content, so that none goes stale.

    At most ``capacity`` bytes are cached; the least recently used texts are evicted.
    """

    def __init__(self, capacity: int = 32_000_000) -> None:
        self._cache: ByteCache[str, str] = ByteCache(capacity)

    def of(self, session: Session, hashes: Sequence[str]) -> Mapping[str, str]:
        """Return the plain texts of contents by their hash."""
        cached = {each: self._cache.get(each) for each in hashes}
        found = {each: text for each, text in cached.items() if text is not None}
        missing = [each for each in hashes if each not in found]
        if missing:
            read = queries.texts_by_hash(session, missing)
            for digest, text in read.items():
                self._cache.put(digest, text, getsizeof(text))
            found.update(read)
        return found


def snippet_texts(session: Session, assignment_state: AssignmentState) -> dict[str, str]:
    """Return the openings of the listed pages by content hash; empty if no lists are shown."""
    if not isinstance(assignment_state.state, AskingLists):
        return {}
    hashes = {
        assignment_state.documents[number].content_hash for number in assignment_state.state.shown
    }
    return lists.openings(session, hashes, LOOK)
