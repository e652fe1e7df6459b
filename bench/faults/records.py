"""What clients know about an assignment: questions shown, entries sent and acknowledged."""

from collections import defaultdict
from dataclasses import dataclass, field

from bench.browser_client import Entry, Question

Pages = tuple[str, ...]
Logged = tuple[str, Pages, str | None]  # kind, pages, answer


def pages_of(shown: Question | Entry) -> Pages:
    """Return the pages in the order they were shown."""
    return tuple(shown.shown.values())


def logged(entry: Entry) -> Logged:
    """Return what the log should contain for ``entry``."""
    if entry.kind != "answer":
        return entry.kind, (), None
    return entry.kind, pages_of(entry), entry.answer


@dataclass
class Record:
    """The record of one assignment, shared by the tabs it is open in."""

    assignment_id: int
    shown: dict[int, set[Pages]] = field(default_factory=lambda: defaultdict(set))
    sent: dict[int, list[Entry]] = field(default_factory=lambda: defaultdict(list))
    acknowledged: dict[int, set[Logged]] = field(default_factory=lambda: defaultdict(set))

    def show(self, question: Question) -> None:
        """Record the question that the server shows."""
        self.shown[question.position].add(pages_of(question))

    def send(self, entry: Entry) -> None:
        """Record an entry that a client is about to send."""
        self.sent[entry.position].append(entry)

    def acknowledge(self, entry: Entry) -> None:
        """Record that the server acknowledged the entry."""
        self.acknowledged[entry.position].add(logged(entry))
