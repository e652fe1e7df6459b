"""People and studies as pages name them: plain values, no rows of the database."""

from dataclasses import dataclass
from typing import Self

from topkapi.app.db.models import Study, User


@dataclass(frozen=True, slots=True)
class PersonHead:
    """A person in a table; ``note`` is what somebody who chooses people should know."""

    id: int
    name: str
    email: str
    note: str = ""

    @classmethod
    def of(cls, user: User, note: str = "") -> Self:
        """Copy what pages show of a user."""
        return cls(user.id, user.name, user.email, note)


@dataclass(frozen=True, slots=True)
class StudyName:
    """A study by its names, of people and of addresses."""

    slug: str
    name: str

    @classmethod
    def of(cls, study: Study) -> Self:
        """Return the names of a study."""
        return cls(study.slug, study.name)
