"""API of a study's progress: overall, per assessor and per query."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from topkapi.app.db.queries.progress import PEOPLE_SORTS, QUERY_SORTS, Ordered
from topkapi.app.services.progress import study_progress
from topkapi.app.services.progress.tables import Payment, Rates, payments
from topkapi.app.web.access.deps import ApiAdmin, ApiResearcher, SessionDep, StudyDep
from topkapi.app.web.common.paging import Limit, Offset, say_total

router = APIRouter(prefix="/api/v1/studies/{slug}", tags=["progress"])
Search = Annotated[str, Query(max_length=200)]


class LineOut(BaseModel):
    """Aggregated work; unknown values are null."""

    promised: int = Field(description="Assignments there are to be; some may have no assessor.")
    assigned: int
    begun: int
    finished: int
    answered: int
    expected_left: int | None
    active_ms: int
    ms_per_answer: float | None
    checks: int
    self_consistency: float | None
    last_entry_at: datetime | None
    known_answers: int
    accuracy: float | None
    accuracy_low: float | None
    accuracy_high: float | None


class ProgressAll(LineOut):
    """The whole study, and each of its tools."""

    tools: dict[str, LineOut]


class AssessorLine(LineOut):
    """An assessor's work."""

    assessor: str
    name: str


class QueryLine(LineOut):
    """The work on a query."""

    query: str
    text: str


@router.get("/progress")
def get_study_progress(session: SessionDep, _user: ApiResearcher, study: StudyDep) -> ProgressAll:
    """Return the study's progress."""
    seen = study_progress.overview(session, study)
    tools = {tool.value: LineOut(**line.facts()) for tool, line in seen.tools.items()}
    return ProgressAll(**seen.all.facts(), tools=tools)


@router.get("/progress/assessors")
def get_progress_assessors(
    session: SessionDep,
    _user: ApiResearcher,
    study: StudyDep,
    response: Response,
    search: Search = "",
    sort: Annotated[str, Query(pattern=f"^-?({'|'.join(PEOPLE_SORTS)})$")] = "name",
    limit: Limit = 100,
    offset: Offset = 0,
) -> list[AssessorLine]:
    """List progress per assessor; a minus before `sort` reverses the order."""
    wanted = Ordered.of(sort, search, limit, offset)
    rows, total = study_progress.people(session, wanted, study_progress.overview(session, study))
    say_total(response, total)
    return [
        AssessorLine(assessor=user.email, name=user.name, **line.facts()) for user, line in rows
    ]


@router.get("/payments")
def get_study_payments(
    session: SessionDep,
    _user: ApiAdmin,
    study: StudyDep,
    per_hour: Annotated[Decimal, Query(ge=0, le=1_000_000)] = Decimal(0),
    per_query: Annotated[Decimal, Query(ge=0, le=1_000_000)] = Decimal(0),
) -> list[Payment]:
    """List hours and amounts per assessor at these rates, which are not stored."""
    return list(payments(session, study, Rates(per_hour, per_query)))


@router.get("/progress/queries")
def get_progress_queries(
    session: SessionDep,
    _user: ApiResearcher,
    study: StudyDep,
    response: Response,
    search: Search = "",
    sort: Annotated[str, Query(pattern=f"^-?({'|'.join(QUERY_SORTS)})$")] = "query",
    limit: Limit = 100,
    offset: Offset = 0,
) -> list[QueryLine]:
    """List progress per query; a minus before `sort` reverses the order."""
    wanted = Ordered.of(sort, search, limit, offset)
    rows, total = study_progress.by_query(
        session, study, wanted, study_progress.overview(session, study)
    )
    say_total(response, total)
    return [QueryLine(query=query.name, text=query.text, **line.facts()) for query, line in rows]
