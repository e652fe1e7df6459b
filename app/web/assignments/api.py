"""API of assignments: by rotation, one by one or by CSV; withdraw, reassign, adjudicate."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, Study
from topkapi.app.db.queries.assignments import manual_assignment as queries
from topkapi.app.db.queries.studies.studies import required_study
from topkapi.app.domain.enums import Tool
from topkapi.app.services.accounts.users import user_of_email
from topkapi.app.services.assignments import bulk, manual_assignment, rotation
from topkapi.app.services.assignments.adjudication import assign_adjudication, disagreements
from topkapi.app.services.assignments.csv_file import MOST_BYTES, CsvProblem, CsvRefused, assign_csv
from topkapi.app.services.assignments.gaps import fill_gaps, plan_filling
from topkapi.app.services.assignments.rebalancing import apply_rebalancing, plan_rebalancing
from topkapi.app.services.assignments.records import (
    NamedWork,
    Round,
    StudyAssignment,
    named_work,
)
from topkapi.app.services.assignments.steps import spec_of
from topkapi.app.web.access.bodies import LONG_TEXT, limit_body
from topkapi.app.web.access.deps import ApiAdmin, ApiResearcher, SessionDep, Slug, StudyDep
from topkapi.app.web.access.downloads import ExportSession
from topkapi.app.web.access.early_auth import EarlyApiAdmin
from topkapi.app.web.assignments.views import CSV
from topkapi.app.web.common.paging import Limit, Number, Offset, Search, say_total
from topkapi.app.web.common.received import Body

router = APIRouter(prefix="/api/v1/studies/{slug}", tags=["assignment"])
Email = Annotated[str, Field(max_length=254, examples=["ansa@lehto.example"])]
State = Literal["", "open", "waiting", "begun", "finished", "withdrawn", "void"]
CSV_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "text/csv": {
                "schema": {"type": "string"},
                "example": "query,assessor,tool,round\nq1,ansa@lehto.example,pairs,1\n",
            }
        },
    }
}


class RotationIn(Body):
    """Assessors in order, and the total number of rounds."""

    assessors: Annotated[list[Email], Field(min_length=1, max_length=2000)]
    rounds: Annotated[
        int | None, Field(ge=1, le=10_000, description="As before if omitted, or 1.")
    ] = None
    seed: Annotated[str, Field(max_length=200)] | None = None
    lists: Annotated[
        bool, Field(description="Assign the tool lists, which has its own rotation.")
    ] = False
    dry_run: bool = False


class RotationOut(BaseModel):
    """The assignments made, or in a dry run those that would be made."""

    dry_run: bool
    work: list[NamedWork]


class OfAssessor(Body):
    """An assessor by e-mail address."""

    assessor: Email


class WorkIn(OfAssessor):
    """One assignment, made by hand."""

    query: Annotated[str, Field(max_length=300)]
    tool: Tool
    round: Round = 0


class HandOn(OfAssessor):
    """The assessor who takes over."""


@router.post("/rotation", status_code=201)
@limit_body(LONG_TEXT)
def post_api_rotation(
    session: SessionDep, user: ApiAdmin, study: StudyDep, body: RotationIn
) -> RotationOut:
    """Assign all rounds up to `rounds` that are not assigned yet; a dry run only lists them."""
    ids = [user_of_email(session, email).id for email in body.assessors]
    made: dict[str, Any] = {"rounds": body.rounds, "seed": body.seed, "lists": body.lists}
    with manual_assignment.explaining(session, study):
        if body.dry_run:
            wanted = list(rotation.plan_rotation(session, study, ids, **made).added)
        else:
            rows = rotation.assign_rotation(session, study, ids, **made, actor_id=user.id)
            wanted = [spec_of(row) for row in rows]
    return RotationOut(dry_run=body.dry_run, work=named_work(session, study.id, wanted))


class PeopleIn(Body):
    """The assessors who may take work over; without `dry_run` it is assigned."""

    assessors: Annotated[list[Email], Field(min_length=1, max_length=2000)]
    dry_run: bool = False


@router.post("/gaps", status_code=201)
def post_api_gaps(
    session: SessionDep, user: ApiAdmin, study: StudyDep, body: PeopleIn
) -> RotationOut:
    """Assign planned work that no one has, as far as people are free.

    It was voided, withdrawn or never assigned. A dry run only lists it.
    """
    ids = [user_of_email(session, email).id for email in body.assessors]
    if body.dry_run:
        wanted = list(plan_filling(session, study, ids).work)
    else:
        wanted = [spec_of(row) for row in fill_gaps(session, study, ids, actor_id=user.id)]
    return RotationOut(dry_run=body.dry_run, work=named_work(session, study.id, wanted))


@dataclass(frozen=True, slots=True)
class ShiftOut(NamedWork):
    """An assignment that nobody has begun, and who takes it over."""

    id: int
    taker: str


class RebalancingOut(BaseModel):
    """The moves of a plan; `digest` confirms exactly this plan."""

    dry_run: bool
    digest: str
    moves: list[ShiftOut]


class RebalancingIn(Body):
    """The assessors whose unfinished work is evened out; without `digest` nothing is moved."""

    assessors: Annotated[list[Email], Field(min_length=1, max_length=2000)]
    digest: Annotated[str, Field(max_length=64)] | None = None


@router.post("/rebalancing")
def post_api_rebalancing(
    session: SessionDep, user: ApiAdmin, study: StudyDep, body: RebalancingIn
) -> RebalancingOut:
    """Return a plan that evens out unfinished work, and execute it if `digest` confirms it."""
    ids = [user_of_email(session, email).id for email in body.assessors]
    plan = plan_rebalancing(session, study, ids)
    if body.digest is not None:
        apply_rebalancing(session, study, ids, digest=body.digest, actor_id=user.id)
    moves = [
        ShiftOut(
            id=shift.assignment_id,
            assessor=shift.giver.email,
            query=shift.query,
            tool=shift.tool,
            round=shift.round,
            round_number=shift.round + 1,
            taker=shift.taker.email,
        )
        for shift in plan.shifts
    ]
    return RebalancingOut(dry_run=body.digest is None, digest=plan.digest, moves=moves)


@router.get("/assignments")
def get_study_assignments(
    session: SessionDep,
    _user: ApiResearcher,
    study: StudyDep,
    response: Response,
    search: Search = "",
    tool: Tool | None = None,
    state: State = "",
    limit: Limit = 100,
    offset: Offset = 0,
) -> list[StudyAssignment]:
    """List the study's assignments by query; `X-Total-Count` is their number."""
    rows, total = queries.work_page(
        session, study.id, search=search, tool=tool, state=state, limit=limit, offset=offset
    )
    say_total(response, total)
    return [StudyAssignment.of(row) for row in rows]


@router.post("/assignments", status_code=201)
def post_study_assignment(
    session: SessionDep, user: ApiAdmin, study: StudyDep, body: WorkIn
) -> StudyAssignment:
    """Assign one query to one person; if a rule forbids it, refuse with the reason."""
    made = manual_assignment.assign_one(
        session,
        study,
        email=body.assessor,
        query=body.query,
        tool=body.tool,
        round_number=body.round + 1,
        actor_id=user.id,
    )
    return _record(session, study, made)


class BulkIn(Body):
    """What to do with assignments, all or none; `void` needs a reason for the audit log.

    `restore` gives void or withdrawn work back, unless somebody has taken it over.
    """

    act: Literal["withdraw", "void", "restore"]
    ids: Annotated[list[Number], Field(min_length=1, max_length=10_000)]
    reason: Annotated[str, Field(max_length=bulk.LONGEST_REASON)] = ""


@router.post("/assignments/bulk")
def post_api_bulk(
    session: SessionDep, user: ApiAdmin, study: StudyDep, body: BulkIn
) -> list[StudyAssignment]:
    """Withdraw unfinished work, void finished work, or restore either."""
    if body.act == "void":
        rows = bulk.void(session, study, body.ids, reason=body.reason, actor_id=user.id)
    else:
        act = bulk.restore if body.act == "restore" else manual_assignment.withdraw_many
        rows = act(session, study, body.ids, actor_id=user.id)
    return [StudyAssignment.of(row) for row in rows]


class MadeOut(BaseModel):
    """The number of assignments made."""

    assignments: int


@router.post("/assignments/csv", status_code=201, openapi_extra=CSV_BODY)
@limit_body(CSV)
async def post_study_csv(request: Request, user: EarlyApiAdmin, slug: Slug) -> MadeOut:
    """Assign the work listed in a CSV file, all or nothing; problems are listed by line."""
    data = bytearray()
    async for block in request.stream():
        data += block
        if len(data) > MOST_BYTES:
            raise CsvRefused([CsvProblem(1, "file", "The file is larger than 16 MB. Split it.")])
    count = await run_in_threadpool(
        _assign_csv, request.app.state.sessions, slug, bytes(data), user.id
    )
    return MadeOut(assignments=count)


def _assign_csv(sessions: Sessions, slug: str, data: bytes, actor_id: int) -> int:
    with sessions.write.begin() as session:
        study = required_study(session, slug)
        return len(assign_csv(session, study, data, actor_id=actor_id))


@router.post("/assignments/{assignment_id}/withdraw")
def post_study_withdraw(
    session: SessionDep, user: ApiAdmin, study: StudyDep, assignment_id: Number
) -> StudyAssignment:
    """Withdraw an unfinished assignment; its log is kept."""
    row = manual_assignment.withdraw(session, study, assignment_id, actor_id=user.id)
    return StudyAssignment.of(row)


@router.post("/assignments/{assignment_id}/reassign")
def post_study_reassign(
    session: SessionDep, user: ApiAdmin, study: StudyDep, assignment_id: Number, body: HandOn
) -> StudyAssignment:
    """Withdraw an unfinished assignment and assign it to someone else, or do neither."""
    made = manual_assignment.reassign(
        session, study, assignment_id, body.assessor, actor_id=user.id
    )
    return _record(session, study, made)


def _record(session: Session, study: Study, made: Assignment) -> StudyAssignment:
    """Return the record of a new assignment, whose person and query are not loaded yet."""
    (row,) = queries.assignments_of_ids(session, study.id, [made.id])
    return StudyAssignment.of(row)


class DisagreementOut(BaseModel):
    """A query whose lists disagree: how much, and how many pairs one more answer would decide."""

    query: str
    lists: int
    disagreement: float
    open_pairs: int
    adjudicators: list[str]
    waiting: bool
    free: list[str]


class AdjudicationIn(Body):
    """The query, and the person who judges its open pairs."""

    query: str = Field(max_length=300)
    assessor: Email


class AdjudicationOut(BaseModel):
    """The assignment that was made."""

    id: int
    open_pairs: int


@router.get("/adjudication")
def get_api_adjudication(
    _user: EarlyApiAdmin, session: ExportSession, slug: Slug
) -> list[DisagreementOut]:
    """List up to 25 queries with disagreement between finished lists, most disagreement first."""
    return [
        DisagreementOut(
            query=each.query,
            lists=each.lists,
            disagreement=each.share,
            open_pairs=len(each.pairs),
            adjudicators=[person.name for person in each.adjudicators],
            waiting=each.is_waiting,
            free=[person.email for person in each.free],
        )
        for each in disagreements(session, required_study(session, slug)).queries
    ]


@router.post("/adjudication", status_code=201)
def post_api_adjudication(
    session: SessionDep, user: ApiAdmin, study: StudyDep, body: AdjudicationIn
) -> AdjudicationOut:
    """Assign the open pairs of a query to a person who was never assigned it."""
    made = assign_adjudication(
        session, study, query=body.query, email=body.assessor, actor_id=user.id
    )
    return AdjudicationOut(id=made.id, open_pairs=len(made.plan["pairs"]))
