"""Texts to invite or remind assessors; Topkapi sends no e-mail, so people copy them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from sqlalchemy.orm import Session

from topkapi.app.db.models import Study
from topkapi.app.db.queries.assignments import manual_assignment as named
from topkapi.app.db.queries.progress import Ordered
from topkapi.app.services.progress import study_progress

_ALL = 10_000_000


@dataclass(frozen=True, slots=True)
class Addressee:
    """A person with work in the study who has an e-mail address, and the work that is left."""

    id: int
    name: str
    email: str
    has_password: bool
    assigned: int
    finished: int

    @property
    def left(self) -> int:
        """Number of unfinished assignments."""
        return self.assigned - self.finished


@dataclass(frozen=True, slots=True)
class Message:
    """A text for one person, or for several at once."""

    to: str
    subject: str
    text: str
    name: str = ""

    @property
    def mailto(self) -> str:
        """Link that opens an e-mail program; several people are put into the blind copy."""
        query = f"subject={quote(self.subject)}&body={quote(self.text)}"
        if "," in self.to:
            return f"mailto:?bcc={quote(self.to, safe='@,')}&{query}"
        return f"mailto:{quote(self.to, safe='@')}?{query}"


def addressees(session: Session, study: Study) -> list[Addressee]:
    """Return the people of a study by name, without crowd workers and disabled accounts."""
    known = {user.id: user for user, _ in named.workers(session, study.id)}
    seen = study_progress.overview(session, study)
    people, _ = study_progress.people(session, Ordered("name", False, "", _ALL, 0), seen)
    return [
        Addressee(
            id=person.id,
            name=person.name,
            email=person.email,
            has_password=known[person.id].password_hash is not None,
            assigned=line.sums.assigned,
            finished=line.sums.finished,
        )
        for person, line in people
        if person.id in known and known[person.id].disabled_at is None
    ]


def reminders(study: str, people: Sequence[Addressee], url: str) -> list[Message]:
    """Return a reminder per person that says what is left."""
    return [
        Message(
            person.email,
            f"Reminder: {study}",
            f"Dear {person.name},\n\nyou have finished {person.finished} of {person.assigned} "
            f"assignments in the study \N{LEFT DOUBLE QUOTATION MARK}{study}"
            f"\N{RIGHT DOUBLE QUOTATION MARK}; {_assignments(person.left)} left. Your answers are "
            f"saved, and you continue where you stopped:\n\n{url}\n\nThank you.",
            person.name,
        )
        for person in people
    ]


def invitations(
    study: str, people: Sequence[Addressee], links: Mapping[int, str], url: str
) -> list[Message]:
    """Return an invitation per person; ``links`` are one-time links of people without password."""
    return [
        Message(
            person.email,
            f"Invitation: {study}",
            f"Dear {person.name},\n\nyou are invited to complete {_assignments(person.left)} in "
            f"the study \N{LEFT DOUBLE QUOTATION MARK}{study}\N{RIGHT DOUBLE QUOTATION MARK}. "
            f"{_beginning(person.id, links, url)}\n\nThank you.",
            person.name,
        )
        for person in people
    ]


def to_all(study: str, people: Sequence[Addressee], url: str) -> Message:
    """Return one reminder for all these people, without personal figures."""
    return Message(
        ",".join(person.email for person in people),
        f"Reminder: {study}",
        f"Dear all,\n\nsome of your queries in the study \N{LEFT DOUBLE QUOTATION MARK}{study}"
        f"\N{RIGHT DOUBLE QUOTATION MARK} are not finished. Your answers are saved, and you "
        f"continue where you stopped:\n\n{url}\n\nThank you.",
    )


def _assignments(count: int) -> str:
    return "1 assignment" if count == 1 else f"{count} assignments"


def _beginning(user_id: int, links: Mapping[int, str], url: str) -> str:
    if user_id in links:
        once = "Choose a password with this link, which works once and for 7 days:"
        return f"{once}\n\n{links[user_id]}"
    return f"Sign in and begin here:\n\n{url}"
