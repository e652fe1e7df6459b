"""Sessions kept alive in this process, so that an answer costs one step and not a replay.

A live session is only ever a faster way to what the log says: whoever takes one checks it against
the log, and drops it where they disagree. Several processes may keep one of the same assignment.
It is found by number, creation and digest of the plan: a number alone could be used again.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from app.db.queries.labeling import AssignmentKey
from app.domain.progress import Progress
from app.domain.words import Tool
from app.services.tools import KITS, AnySession


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
    the most questions that were expected at its beginning.
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
    _told: tuple[int, Progress] | None = None

    def progress(self) -> Progress:
        """How far the session is, told once for each length of its log."""
        length = self.session.length
        if self._told is None or self._told[0] != length:
            self._told = length, KITS[self.tool].progress(self.session)
        return self._told[1]


class LiveSessions:
    """The live sessions of a process; one that is taken belongs to the taker until put back."""

    def __init__(self, capacity: int = 2000) -> None:
        self._capacity = capacity
        self._lock = Lock()
        self._kept: OrderedDict[AssignmentKey, LiveAssignment] = OrderedDict()

    def take(self, key: AssignmentKey) -> LiveAssignment | None:
        """The live session of an assignment, if one is kept and nobody has it now."""
        with self._lock:
            return self._kept.pop(key, None)

    def put(self, live: LiveAssignment) -> None:
        """Keep a session for the next request; the ones unused for longest go first."""
        with self._lock:
            self._kept[live.key] = live
            self._kept.move_to_end(live.key)
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)
