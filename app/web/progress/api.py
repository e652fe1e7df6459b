"""API of a study's progress: overall, per assessor and per query."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from fastapi import APIRouter, Query, Response

from topkapi.app.db.queries.progress import Ordered
from topkapi.app.domain.enums import Role
from topkapi.app.services.progress import study_progress
from topkapi.app.services.progress.study_progress import PEOPLE_SORTS, QUERY_SORTS, Figures
from topkapi.app.services.progress.tables import Payment, Rates, payments
from topkapi.app.services.state.study import StudyStatus, study_state
from topkapi.app.web.access.deps import ApiAdmin, ApiResearcher, SessionDep, StudyDep
from topkapi.app.web.common.paging import Limit, Offset, Search, say_total

router = APIRouter(prefix="/api/v1/studies/{slug}", tags=["progress"])


@dataclass(frozen=True, slots=True)
class ProgressAll(Figures):
    """The whole study, and each of its tools."""

    tools: dict[str, Figures]


@dataclass(frozen=True, slots=True)
class AssessorLine(Figures):
    """An assessor's work."""

    assessor: str
    name: str


@dataclass(frozen=True, slots=True)
class QueryLine(Figures):
    """The work on a query."""

    query: str
    text: str


@router.get("/progress")
def get_study_progress(session: SessionDep, _user: ApiResearcher, study: StudyDep) -> ProgressAll:
    """Return the study's progress."""
    seen = study_progress.overview(session, study)
    tools = {tool.value: Figures.of(line) for tool, line in seen.tools.items()}
    return ProgressAll.of(seen.all, tools=tools)


@router.get("/state")
def get_state(session: SessionDep, user: ApiResearcher, study: StudyDep) -> StudyStatus:
    """Return how far the study is, what it needs, most pressing first, and the next step.

    A `page` is below the address of the study in the browser.
    """
    return study_state(session, study, may_change=user.role is Role.ADMIN)


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
    return [AssessorLine.of(line, assessor=user.email, name=user.name) for user, line in rows]


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
    return [QueryLine.of(line, query=query.name, text=query.text) for query, line in rows]
