"""What assessors are called in exports: by e-mail, or by pseudonyms that never change."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from topkapi.app.db.queries.results import exports as queries
from topkapi.app.domain.errors import NotFound


@dataclass(frozen=True, slots=True)
class Assessor:
    """Someone who has or had work in the study."""

    user_id: int
    email: str
    name: str
    pseudonym: str


class Assessors:
    """Everyone with work in a study; who had work first has the first pseudonym, for good."""

    def __init__(self, session: Session, study_id: int, *, pseudonyms: bool) -> None:
        rows = queries.assessors_in_order(session, study_id)
        self._people = {
            user_id: Assessor(user_id, email, name, f"assessor-{number:02}")
            for number, (user_id, email, name) in enumerate(rows, start=1)
        }
        shown = {user_id: _shown(each, pseudonyms) for user_id, each in self._people.items()}
        self._names = shown
        order = list(shown) if pseudonyms else sorted(shown, key=lambda user_id: shown[user_id])
        self._places = {user_id: place for place, user_id in enumerate(order)}

    def name(self, user_id: int) -> str:
        """What the person is called."""
        return self._names[user_id]

    def place(self, user_id: int) -> int:
        """Where the person stands in the order of the export."""
        return self._places[user_id]

    @property
    def people(self) -> list[Assessor]:
        """Everyone, in the order of the export."""
        return [self._people[user_id] for user_id in self._places]

    @property
    def names(self) -> list[str]:
        """What everyone is called, in the order of the export."""
        return [self._names[user_id] for user_id in self._places]

    def find(self, wanted: str) -> Assessor:
        """The person with this e-mail, pseudonym or full name."""
        people = self._people.values()
        for known in ("email", "pseudonym", "name"):
            found = [each for each in people if getattr(each, known).lower() == wanted.lower()]
            if len(found) == 1:
                return found[0]
        raise NotFound(f"No assessor {wanted!r} has work in this study; {self.offer()}")

    def offer(self) -> str:
        """A sentence part that says who can be asked for."""
        names = self.names
        if not names:
            return "nobody has any yet."
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        return f"there are {', '.join(names[:10])}{more}."


def _shown(assessor: Assessor, pseudonyms: bool) -> str:
    return assessor.pseudonym if pseudonyms else assessor.email
