"""Judging API: my assignments, the open question, answers, undo and redo."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.security import HTTPAuthorizationCredentials
from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.queries.judging import queue as queue_queries
from topkapi.app.domain.errors import AnswerNotAllowed, LogRefusal, Withdrawn
from topkapi.app.domain.log import EntryKind
from topkapi.app.domain.session import SubmittedAnswer
from topkapi.app.services.heads import StudyName
from topkapi.app.services.importing.records.types import QueryRecord
from topkapi.app.services.judging import labeling
from topkapi.app.services.judging.labeling import Submission
from topkapi.app.services.judging.live_sessions import LiveSessions
from topkapi.app.services.judging.queue import WorkState
from topkapi.app.services.judging.timing import first_serving
from topkapi.app.services.late_writes import LateWrite, LateWrites
from topkapi.app.web.access.admission import admit
from topkapi.app.web.access.deps import (
    ApiUser,
    Credentials,
    RowId,
    SessionDep,
    api_user,
    in_transaction,
)
from topkapi.app.web.common.views import PersonView
from topkapi.app.web.judging.api_models import (
    AssignmentOut,
    AssignmentSummary,
    JudgmentIn,
    ProblemOut,
    StepIn,
)
from topkapi.app.web.judging.api_views import assignment_out, assignment_state

router = APIRouter(prefix="/api/v1/assignments", tags=["judging"])
Number = Annotated[int, Query(ge=0, le=2**31 - 1)]
REFUSED: dict[int | str, dict[str, Any]] = {
    409: {
        "model": AssignmentOut,
        "description": "The entry does not fit the current log position; the body is the state.",
    }
}


@router.get("")
def get_assignments(
    session: SessionDep,
    user: ApiUser,
    response: Response,
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
    offset: Number = 0,
) -> list[AssignmentSummary]:
    """List my assignments in creation order; `X-Total-Count` is their number."""
    rows = sorted(queue_queries.assignments_of_user(session, user.id), key=lambda row: row[0].id)
    response.headers["X-Total-Count"] = str(len(rows))
    return [
        AssignmentSummary(
            id=row.id,
            state=WorkState.of(row.finished_at, row.last_entry_at, waits=waits),
            tool=row.tool,
            study=StudyName.of(row.query.study),
            query=QueryRecord(
                id=row.query.external_id,
                text=row.query.text,
                description=row.query.description,
                narrative=row.query.narrative,
            ),
            round=row.round,
            round_number=row.round + 1,
            answered=row.answered,
            expected_left=row.expected_left,
            active_ms=row.active_ms,
        )
        for row, waits in rows[offset : offset + limit]
    ]


@router.get("/{assignment_id}")
def get_assignment(
    request: Request, session: SessionDep, user: ApiUser, assignment_id: RowId
) -> AssignmentOut:
    """Return the state of one of my assignments: the open question, or the result."""
    state = assignment_state(request, session, user.id, assignment_id)
    if state.position == 0 and not state.finished:
        late: LateWrites = request.app.state.late
        serving = LateWrite(first_serving(assignment_id, now()))
        late.add(("served", assignment_id), serving, urgent=True)
    return assignment_out(session, request.app.state.texts, state)


@router.post("/{assignment_id}/judgments", response_model=AssignmentOut, responses=REFUSED)
async def post_judgment(
    request: Request, credentials: Credentials, assignment_id: RowId, body: JudgmentIn
) -> Response:
    """Answer the open question.

    The request is idempotent: an answer that is sent twice counts once.
    """
    answer = SubmittedAnswer(body.answer, left=body.left, right=body.right, document=body.document)
    submission = Submission(
        body.position, EntryKind.ANSWER, answer, active_ms=body.active_ms, note=body.note
    )
    return await _submitted(request, credentials, assignment_id, submission)


@router.post("/{assignment_id}/undo", response_model=AssignmentOut, responses=REFUSED)
async def post_undo(
    request: Request, credentials: Credentials, assignment_id: RowId, body: StepIn
) -> Response:
    """Undo the last answer."""
    submission = Submission(body.position, EntryKind.UNDO, active_ms=body.active_ms)
    return await _submitted(request, credentials, assignment_id, submission)


@router.post("/{assignment_id}/redo", response_model=AssignmentOut, responses=REFUSED)
async def post_redo(
    request: Request, credentials: Credentials, assignment_id: RowId, body: StepIn
) -> Response:
    """Redo the last undone answer."""
    submission = Submission(body.position, EntryKind.REDO, active_ms=body.active_ms)
    return await _submitted(request, credentials, assignment_id, submission)


async def _submitted(
    request: Request,
    credentials: HTTPAuthorizationCredentials,
    assignment_id: int,
    submission: Submission,
) -> Response:
    def work(session: Session) -> Response:
        user = api_user(request, session, credentials)
        return _submit(request, session, user, assignment_id, submission)

    live: LiveSessions = request.app.state.live
    person_id = await admit(request)
    before = labeling.anticipation(live, assignment_id, person_id, submission)
    return await in_transaction(request, work, before=before)


def _submit(
    request: Request, session: Session, user: PersonView, assignment_id: int, submission: Submission
) -> Response:
    live: LiveSessions = request.app.state.live
    problem: ProblemOut | None = None
    try:
        after = labeling.submit(
            session, live, assignment_id=assignment_id, user_id=user.id, submission=submission
        )
    except (AnswerNotAllowed, Withdrawn):
        raise
    except LogRefusal as refusal:
        problem = ProblemOut(code=refusal.code, detail=str(refusal))
        after = assignment_state(request, session, user.id, assignment_id)
    body = assignment_out(session, request.app.state.texts, after)
    body.problem = problem
    content = body.model_dump_json()
    return Response(content, status_code=409 if problem else 200, media_type="application/json")
