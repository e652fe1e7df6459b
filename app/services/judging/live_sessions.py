"""Cache of sessions in this process, so that an answer costs one step and not a replay.

A live session is only a faster way to the state that the log defines: the caller that takes one
checks it against the log and discards it if they disagree. Several processes may cache a session
of the same assignment. The key is the assignment's id, its creation time and the digest of its
plan, because the database may reuse an id.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from sys import getsizeof
from threading import Lock
from typing import TYPE_CHECKING, Any

from sqlalchemy.orm import Session

from topkapi.app.db.queries.judging.labeling import AssignmentKey
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.log import Entry
from topkapi.app.domain.pairs.known import KnownPairs
from topkapi.app.domain.pairs.team_session import TeamSession
from topkapi.app.domain.session import AnySession, Progress
from topkapi.app.services.judging.teams import Team

if TYPE_CHECKING:
    from topkapi.app.domain.pairs.robust.sorter import RobustSorter

DEFAULT_BYTES = 64 * 2**20
_FINISHED_PART = 16
_BYTES, _BYTES_PER_PAGE, _BYTES_PER_ANSWER = 4000, 160, 120


@dataclass(frozen=True, slots=True)
class DocumentHead:
    """Metadata of a page, without its content."""

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
    """An open session with its immutable context: the plan, the query and the pages.

    ``key`` contains the digest of ``plan``; ``ids`` maps the names of the judged items to their
    ids; ``scale`` is the largest number of questions expected at the start; ``heads`` holds the
    documents once they are shared with other assignments that judge the same pages. ``known`` is
    what is known about the query's pairs, read with the first answer of this process. ``foreseen``
    is an expected entry and the session after it, computed before its transaction began. ``team``
    is the team as of this request, if the assignment belongs to one.
    """

    key: AssignmentKey
    id: int
    user_id: int
    tool: Tool
    plan: Mapping[str, Any]
    session: AnySession
    query: QueryHead
    documents: dict[int, DocumentHead]
    ids: Mapping[str, int]
    scale: int
    known: KnownPairs | None = None
    heads: "SharedHeads | None" = None
    team: Team | None = None
    foreseen: tuple[Entry[Any], AnySession] | None = None
    _cached_progress: tuple[Any, Progress] | None = None

    @property
    def finished(self) -> bool:
        """Whether nothing is left to ask."""
        return not self.session.state.shown

    @property
    def size(self) -> int:
        """Estimated size in bytes, without the heads of its pages.

        Plan, names and stacks grow with the number of pages, the log and the sorter's memory with
        the number of answers; a sampled sorter adds its chains. A test compares the estimate with
        the memory that is allocated.
        """
        by_pages = _BYTES_PER_PAGE * len(self.documents)
        by_answers = _BYTES_PER_ANSWER * self.session.answered
        foreseen = 0 if self.foreseen is None else self.foreseen[1].nbytes
        return _BYTES + by_pages + by_answers + self.session.nbytes + foreseen

    def append(self, entry: Entry[Any]) -> None:
        """Apply one entry, or raise and stay unchanged; continue with a foreseen session."""
        foreseen, self.foreseen = self.foreseen, None
        after_this = self.session.length + 1
        if foreseen is not None and foreseen[0] == entry and foreseen[1].length == after_this:
            self.session = foreseen[1]
        else:
            self.session.append(entry)

    def progress(self) -> Progress:
        """Return the progress of the session, computed once per version."""
        version = self.session.version
        if self._cached_progress is None or self._cached_progress[0] != version:
            self._cached_progress = version, self.session.progress
        return self._cached_progress[1]


class SharedHeads:
    """The heads of a query's pages, stored once for all assignments with the same pages.

    They are compared by value, so that heads that differ in any field are not shared.
    """

    __slots__ = ("_hash", "documents", "size")

    def __init__(self, documents: dict[int, DocumentHead]) -> None:
        self.documents = documents
        self.size = getsizeof(documents) + sum(map(_size_of_head, documents.values()))
        self._hash = hash(tuple(documents.values()))

    def __hash__(self) -> int:
        """Return the hash, computed once because every answer needs it."""
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Return whether all heads are equal."""
        if self is other:
            return True
        return isinstance(other, SharedHeads) and self.documents == other.documents


def _team_key(live: LiveAssignment) -> tuple[int, str]:
    return live.query.id, live.key[2]


def _size_of_head(head: DocumentHead) -> int:
    texts = (head.name, head.title, head.url, head.content_hash, head.media_type, head.path)
    return getsizeof(head) + getsizeof(head.id) + sum(map(getsizeof, texts))


class LiveSessions:
    """The live sessions of a process: a least-recently-used cache bounded in bytes.

    Sizes are estimates (`LiveAssignment.size`). `take` removes a session from the cache, and the
    caller owns it until `put`. Finished sessions, which are rarely needed again, may use only a
    small part of the capacity. ``when_finished`` is called with the
    transaction and the study when a query with sampled questions is finished.
    """

    def __init__(
        self,
        capacity: int = DEFAULT_BYTES,
        when_finished: Callable[[Session, int], None] | None = None,
    ) -> None:
        self._capacity, self.when_finished = capacity, when_finished
        self._lock = Lock()
        self._kept: OrderedDict[AssignmentKey, tuple[LiveAssignment, int]] = OrderedDict()
        self._heads: dict[SharedHeads, SharedHeads] = {}
        self._users: Counter[SharedHeads] = Counter()
        self._slow: dict[tuple[int, int], AssignmentKey] = {}
        self._teams: dict[int, int | None] = {}
        self._sorters: OrderedDict[tuple[int, str], RobustSorter] = OrderedDict()
        self.size = 0

    def __len__(self) -> int:
        """Return the number of cached sessions."""
        return len(self._kept)

    def take(self, key: AssignmentKey) -> LiveAssignment | None:
        """Remove and return a cached session; None if there is none or another request has it."""
        with self._lock:
            found = self._kept.pop(key, None)
            return None if found is None else self._release(*found)

    def key_if_slow(self, assignment_id: int, user_id: int) -> AssignmentKey | None:
        """Return the key of the person's cached session if its questions take milliseconds."""
        return self._slow.get((assignment_id, user_id))

    def query_of_team(self, assignment_id: int, find: Callable[[], int | None]) -> int | None:
        """Return the query if the assignment belongs to a team; ``find`` is for unknown ones.

        An answer from the cache may be about an earlier assignment with the same id.
        """
        with self._lock:
            if assignment_id in self._teams:
                return self._teams[assignment_id]
        return find()

    def lend_sorter(self, live: LiveAssignment) -> None:
        """Let the session of a team's member start from the sorter of the last member served."""
        found = self._sorters.get(_team_key(live))
        if found is not None and isinstance(live.session, TeamSession):
            live.session.team.borrow(found)

    def _keep_sorter(self, live: LiveAssignment) -> None:
        """Keep one sorter per team; nobody changes it, members work on copies."""
        if isinstance(live.session, TeamSession):
            sorter, key = live.session.team.lend(), _team_key(live)
            if sorter is not None:
                self._sorters[key] = sorter
                self._sorters.move_to_end(key)
            while sum(each.nbytes for each in self._sorters.values()) > self._capacity // 4:
                self._sorters.popitem(last=False)

    def put(self, live: LiveAssignment) -> None:
        """Cache a session for the next request, replacing one with the same key."""
        with self._lock:
            self._keep_sorter(live)
        heads, size = live.heads or SharedHeads(live.documents), live.size
        with self._lock:
            before = self._kept.pop(live.key, None)
            if before is not None:
                self._release(*before)
            live.heads = self._share(heads)
            live.documents = live.heads.documents
            self._kept[live.key] = live, size
            self._teams[live.id] = live.query.id if isinstance(live.session, TeamSession) else None
            if live.session.slow:
                self._slow[live.id, live.user_id] = live.key
            self.size += size
            if self.size > self._capacity // _FINISHED_PART and live.finished:
                self._release(*self._kept.popitem()[1])
            while self.size > self._capacity and self._kept:
                self._release(*self._kept.popitem(last=False)[1])

    def _share(self, heads: SharedHeads) -> SharedHeads:
        """Increment the reference count of ``heads``, or of equal heads that are in use."""
        if not self._users[heads]:
            self._heads[heads] = heads
            self.size += heads.size
        self._users[heads] += 1
        return self._heads[heads]

    def _release(self, live: LiveAssignment, size: int) -> LiveAssignment:
        """Subtract the size of a session, and of its heads if no other session uses them."""
        assert live.heads is not None
        self._slow.pop((live.id, live.user_id), None)
        self._teams.pop(live.id, None)
        self.size -= size
        self._users[live.heads] -= 1
        if not self._users[live.heads]:
            del self._users[live.heads], self._heads[live.heads]
            self.size -= live.heads.size
        return live
