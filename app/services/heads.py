"""People and studies as pages name them: plain values, no rows of the database."""

from dataclasses import dataclass
from typing import Self

from topkapi.app.db.models import Study, User


@dataclass(frozen=True, slots=True)
class PersonHead:
    """A person in a table."""

    id: int
    name: str
    email: str

    @classmethod
    def of(cls, user: User) -> Self:
        """Copy what pages show of a user."""
        return cls(user.id, user.name, user.email)


@dataclass(frozen=True, slots=True)
class StudyHead:
    """A study that a page links to."""

    slug: str
    name: str

    @classmethod
    def of(cls, study: Study) -> Self:
        """Copy what pages show of a study."""
        return cls(study.slug, study.name)
