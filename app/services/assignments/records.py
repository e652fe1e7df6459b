"""Assignments by the names of people and queries: as the API sends them and pages list them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import Field
from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment
from topkapi.app.db.queries.assignments import assignments as queries
from topkapi.app.db.queries.assignments.manual_assignment import state_of
from topkapi.app.domain.enums import Tool
from topkapi.app.services.assignments.steps import Spec

Round = Annotated[int, Field(ge=0, le=9_999, description="Rounds count from 0.")]
RoundNumber = Annotated[int, Field(ge=1, le=10_000, description="The round, counted from 1.")]


@dataclass(frozen=True, slots=True)
class NamedWork:
    """Who judges which query with which tool in which round; ``assessor`` is an e-mail address."""

    assessor: str
    query: str
    tool: Tool
    round: Round
    round_number: RoundNumber


def named_work(session: Session, study_id: int, specs: Iterable[Spec]) -> list[NamedWork]:
    """Return work of the study with the names of people and queries."""
    wanted = list(specs)
    people = queries.users_by_id(session, (work.assessor for work in wanted))
    names = {query.id: query.external_id for query in queries.queries_of_study(session, study_id)}
    return [
        NamedWork(
            people[work.assessor].email, names[work.query], work.tool, work.round, work.round + 1
        )
        for work in wanted
    ]


@dataclass(frozen=True, slots=True)
class StudyAssignment:
    """One assignment: who judges which query with which tool in which round."""

    id: int
    assessor: str
    query: str
    tool: Tool
    round: Annotated[int, Field(description="Rounds count from 0; -1 is an adjudication.")]
    round_number: Annotated[int, Field(description="The round, counted from 1.")]
    state: str
    answered: int
    expected_left: int | None
    active_ms: int
    last_entry_at: datetime | None

    @classmethod
    def of(cls, row: Assignment, **more: Any) -> Self:
        """Return the record of an assignment; ``more`` are the fields that a subclass adds."""
        return cls(
            id=row.id,
            assessor=row.user.email,
            query=row.query.external_id,
            tool=row.tool,
            round=row.round,
            round_number=row.round + 1,
            state=state_of(row),
            answered=row.answered,
            expected_left=row.expected_left,
            active_ms=row.active_ms,
            last_entry_at=row.last_entry_at,
            **more,
        )


@dataclass(frozen=True, slots=True)
class ListedAssignment(StudyAssignment):
    """An assignment in a table, with the text of its query and the name of its assessor."""

    query_id: int
    text: str
    person: str
    machine: bool


def listed(row: Assignment) -> ListedAssignment:
    """Return the line of an assignment in a table."""
    query, user = row.query, row.user
    more = {"text": query.text, "person": user.name, "machine": user.machine}
    return ListedAssignment.of(row, query_id=query.id, **more)
