"""Sessions kept alive in this process, so that an answer costs one step and not a replay.

A live session is only ever a faster way to what the log says: whoever takes one checks it against
the log, and drops it where they disagree. Several processes may keep one of the same assignment.
It is found by number, creation and digest of the plan: a number alone could be used again.
"""

from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from sys import getsizeof
from threading import Lock
from typing import Any

from topkapi.app.db.queries.judging.labeling import AssignmentKey
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.pairs.progress import Progress
from topkapi.app.services.judging.tool_adapters import TOOL_ADAPTERS, AnySession, shown_in

DEFAULT_BYTES = 64 * 2**20
_FINISHED_PART = 16
_BYTES, _BYTES_PER_PAGE, _BYTES_PER_ANSWER = 4000, 160, 120


@dataclass(frozen=True, slots=True)
class DocumentHead:
    """What is said of a page without showing it."""

    id: int
    name: str
    title: str
    url: str
    content_hash: str
    media_type: str
    path: str


@dataclass(frozen=True, slots=True)
class QueryHead:
    """The query of an assignment and the study it belongs to."""

    id: int
    study_id: int
    study_slug: str
    study_name: str
    name: str
    text: str
    description: str
    narrative: str


@dataclass(slots=True)
class LiveAssignment:
    """A session at work, with what never changes about it: its plan, its query, its pages.

    ``key`` has the digest of ``plan``; ``ids`` are those of what is judged, by name; ``scale`` is
    the most questions that were expected at its beginning; ``heads`` are its documents once they
    are shared with others who judge the same.
    """

    key: AssignmentKey
    id: int
    tool: Tool
    plan: Mapping[str, Any]
    session: AnySession
    query: QueryHead
    documents: dict[int, DocumentHead]
    ids: dict[str, int]
    scale: int
    heads: "SharedHeads | None" = None
    _told: tuple[int, Progress] | None = None

    @property
    def finished(self) -> bool:
        """Whether nothing is left to ask."""
        return not shown_in(TOOL_ADAPTERS[self.tool].state(self.session))

    @property
    def size(self) -> int:
        """The bytes it takes, about, without the heads of its pages.

        Plan, names and stacks grow with the pages, the log and the memory of the sorter with the
        answers; a sampled sorter adds its chains. A test holds this against what is allocated.
        """
        by_pages = _BYTES_PER_PAGE * len(self.documents)
        return _BYTES + by_pages + _BYTES_PER_ANSWER * self.session.answered + self.session.nbytes

    def progress(self) -> Progress:
        """How far the session is, told once for each length of its log."""
        length = self.session.length
        if self._told is None or self._told[0] != length:
            self._told = length, TOOL_ADAPTERS[self.tool].progress(self.session)
        return self._told[1]


class SharedHeads:
    """The heads of a query's pages, kept once for all who judge the same pages.

    They are compared by value, so that nothing is shared that differs in any field.
    """

    __slots__ = ("_hash", "documents", "size")

    def __init__(self, documents: dict[int, DocumentHead]) -> None:
        self.documents = documents
        self.size = getsizeof(documents) + sum(map(_size_of_head, documents.values()))
        self._hash = hash(tuple(documents.values()))

    def __hash__(self) -> int:
        """Computed once: it is asked for with every answer."""
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Whether all heads are equal."""
        if self is other:
            return True
        return isinstance(other, SharedHeads) and self.documents == other.documents


def _size_of_head(head: DocumentHead) -> int:
    texts = (head.name, head.title, head.url, head.content_hash, head.media_type, head.path)
    return getsizeof(head) + getsizeof(head.id) + sum(map(getsizeof, texts))


class LiveSessions:
    """The live sessions of a process, bounded in bytes by an estimate (`LiveAssignment.size`).

    One that is taken belongs to the taker until put back. The ones unused for longest go first;
    finished ones, which are hardly asked for again, are kept in a small part of the memory.
    """

    def __init__(self, capacity: int = DEFAULT_BYTES) -> None:
        self._capacity = capacity
        self._lock = Lock()
        self._kept: OrderedDict[AssignmentKey, tuple[LiveAssignment, int]] = OrderedDict()
        self._heads: dict[SharedHeads, SharedHeads] = {}
        self._users: Counter[SharedHeads] = Counter()
        self.size = 0

    def __len__(self) -> int:
        """How many sessions are kept."""
        return len(self._kept)

    def take(self, key: AssignmentKey) -> LiveAssignment | None:
        """The live session of an assignment, if one is kept and nobody has it now."""
        with self._lock:
            found = self._kept.pop(key, None)
            return None if found is None else self._release(*found)

    def put(self, live: LiveAssignment) -> None:
        """Keep a session for the next request, in place of one kept under the same number."""
        heads, size = live.heads or SharedHeads(live.documents), live.size
        with self._lock:
            before = self._kept.pop(live.key, None)
            if before is not None:
                self._release(*before)
            live.heads = self._share(heads)
            live.documents = live.heads.documents
            self._kept[live.key] = live, size
            self.size += size
            if self.size > self._capacity // _FINISHED_PART and live.finished:
                self._release(*self._kept.popitem()[1])
            while self.size > self._capacity and self._kept:
                self._release(*self._kept.popitem(last=False)[1])

    def _share(self, heads: SharedHeads) -> SharedHeads:
        """Count one more user of ``heads``, or of equal ones that are in use."""
        if not self._users[heads]:
            self._heads[heads] = heads
            self.size += heads.size
        self._users[heads] += 1
        return self._heads[heads]

    def _release(self, live: LiveAssignment, size: int) -> LiveAssignment:
        """Stop counting a session, and the heads of its pages if nobody else has them."""
        assert live.heads is not None
        self.size -= size
        self._users[live.heads] -= 1
        if not self._users[live.heads]:
            del self._users[live.heads], self._heads[live.heads]
            self.size -= live.heads.size
        return live
