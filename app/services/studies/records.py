"""Studies with their sizes, as the API and the command line list them and as pages show them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from sqlalchemy.orm import Session

from topkapi.app.db.models import Study
from topkapi.app.db.queries.studies.studies import studies_with_counts
from topkapi.app.domain.enums import Tool
from topkapi.app.services.promise import count_missing, word_of

_COUNTS = ("queries", "documents", "candidates", "assignments", "finished")


@dataclass(frozen=True, slots=True)
class StudyRecord:
    """A study with its sizes, and how much of the assigned work is finished."""

    slug: str
    name: str
    k: int
    tools: list[Tool]
    created_at: datetime
    archived: bool
    queries: int
    documents: int
    candidates: int
    assignments: int
    finished: int

    @classmethod
    def of(cls, study: Study, *counts: int, **more: Any) -> Self:
        """Return the record of a study; ``more`` are the fields that a subclass adds."""
        return cls(
            slug=study.slug,
            name=study.name,
            k=study.settings.k,
            tools=list(study.settings.tools),
            created_at=study.created_at,
            archived=study.archived_at is not None,
            **dict(zip(_COUNTS, counts, strict=True)),
            **more,
        )


@dataclass(frozen=True, slots=True)
class ListedStudy(StudyRecord):
    """A study in a table; ``promised`` counts the assignments that there are to be."""

    promised: int
    state: str


def listed_studies(session: Session, reader_id: int | None) -> list[ListedStudy]:
    """Return the studies that a researcher may read, with ``None`` all of them."""
    studies = []
    for study, *counts in studies_with_counts(session, reader_id=reader_id):
        assigned, finished = counts[-2:]
        promised = assigned + count_missing(session, study)
        state = word_of(study, promised, finished, finished)
        studies.append(ListedStudy.of(study, *counts, promised=promised, state=state))
    return studies
