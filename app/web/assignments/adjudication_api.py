"""API of adjudication: queries whose lists disagree; assign their open pairs."""

from fastapi import APIRouter
from pydantic import BaseModel, Field

from topkapi.app.services.assignments.adjudication import assign_adjudication, disagreements
from topkapi.app.web.access.deps import ApiAdmin, SessionDep, StudyDep
from topkapi.app.web.access.downloads import ExportSession
from topkapi.app.web.access.early_auth import EarlyApiAdmin
from topkapi.app.web.assignments.api import Email
from topkapi.app.web.common.received import Body

router = APIRouter(prefix="/api/v1/studies/{slug}", tags=["assignment"])


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
    _user: EarlyApiAdmin, session: ExportSession, study: StudyDep
) -> list[DisagreementOut]:
    """List the queries whose finished lists disagree, most disagreeing first, at most 25."""
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
        for each in disagreements(session, study).queries
    ]


@router.post("/adjudication", status_code=201)
def post_api_adjudication(
    session: SessionDep, user: ApiAdmin, study: StudyDep, body: AdjudicationIn
) -> AdjudicationOut:
    """Assign the open pairs of a query to somebody who has never been assigned it."""
    made = assign_adjudication(
        session, study, query=body.query, email=body.assessor, actor_id=user.id
    )
    return AdjudicationOut(id=made.id, open_pairs=len(made.plan["pairs"]))
