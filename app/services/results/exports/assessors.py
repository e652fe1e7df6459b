"""Names of assessors in exports: e-mails, or stable pseudonyms."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from topkapi.app.db.queries.results import exports as queries
from topkapi.app.domain.errors import NotFound


@dataclass(frozen=True, slots=True)
class ExportedAssessor:
    """A user with present or past assignments in the study."""

    user_id: int
    email: str
    name: str
    pseudonym: str


class Assessors:
    """All assessors of a study; pseudonyms follow the order of their first assignments."""

    def __init__(self, session: Session, study_id: int, *, pseudonyms: bool) -> None:
        rows = queries.assessors_in_order(session, study_id)
        self._people = {
            user_id: ExportedAssessor(user_id, email, name, f"assessor-{number:02}")
            for number, (user_id, email, name) in enumerate(rows, start=1)
        }
        shown = {user_id: _shown(each, pseudonyms) for user_id, each in self._people.items()}
        self._names = shown
        order = list(shown) if pseudonyms else sorted(shown, key=lambda user_id: shown[user_id])
        self._positions = {user_id: position for position, user_id in enumerate(order)}

    def name(self, user_id: int) -> str:
        """Return the name of an assessor in the export."""
        return self._names[user_id]

    def position(self, user_id: int) -> int:
        """Return the position of an assessor in the order of the export."""
        return self._positions[user_id]

    @property
    def people(self) -> list[ExportedAssessor]:
        """All assessors, in the order of the export."""
        return [self._people[user_id] for user_id in self._positions]

    @property
    def names(self) -> list[str]:
        """Names of all assessors, in the order of the export."""
        return [self._names[user_id] for user_id in self._positions]

    def find(self, wanted: str) -> ExportedAssessor:
        """Return the assessor with this e-mail, pseudonym or full name."""
        people = self._people.values()
        for known in ("email", "pseudonym", "name"):
            found = [each for each in people if getattr(each, known).lower() == wanted.lower()]
            if len(found) == 1:
                return found[0]
        raise NotFound(f"No assessor {wanted!r} has work in this study. {self.offer()}")

    def offer(self) -> str:
        """Return a sentence that lists the assessors to choose from."""
        names = self.names
        if not names:
            return "Nothing has been assigned yet."
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        return f"Choose one of {', '.join(names[:10])}{more}."


def _shown(assessor: ExportedAssessor, pseudonyms: bool) -> str:
    return assessor.pseudonym if pseudonyms else assessor.email
