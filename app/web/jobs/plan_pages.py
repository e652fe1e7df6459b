"""The plan of a study in the browser: its form starts a job, whose page shows the plan."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import ValidationError
from starlette.responses import Response

from topkapi.app.domain.errors import Invalid
from topkapi.app.services.jobs import store
from topkapi.app.services.simulation.plan_records import PlanOptions, stored_options
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.jobs.plan_views import CHOICES, FIELDS, PLAN_OPTIONS, USUAL, PlanView
from topkapi.app.web.studies.visit import ReaderVisit

router = APIRouter(prefix="/studies/{slug}/plan", include_in_schema=False)
_LABELS = {each.name: each.label for each in FIELDS}
_MOST = 100  # characters of a field


async def _typed(request: Request) -> Mapping[str, str]:
    sent = await request.form()
    return {name: str(sent.get(name, ""))[:_MOST].strip() for name in (*_LABELS, *CHOICES)}


@router.get("")
def get_plan(visit: ReaderVisit) -> Response:
    """Show the form of a plan."""
    return visit.show("jobs/plan.html", PlanView(visit.head("plan"), USUAL))


@router.post("")
def post_plan(visit: ReaderVisit, typed: Annotated[Mapping[str, str], Depends(_typed)]) -> Response:
    """Start to simulate the study."""
    try:
        options = stored_options(_options(typed))
    except Invalid as refused:
        label = _LABELS.get(refused.field or "", refused.field)
        refusal = Refusal(f"{label}: {refused}", refused.field)
        view = PlanView(visit.head("plan"), typed, refusal)
        return visit.show("jobs/plan.html", view, status=422)
    job = store.queue_job(visit.session, visit.study, "plan", options, actor_id=visit.user.id)
    return visit.to("get_job", job_id=job.id)


def _options(typed: Mapping[str, str]) -> PlanOptions:
    try:
        return PLAN_OPTIONS.validate_python({name: text for name, text in typed.items() if text})
    except ValidationError as error:
        field = str(error.errors()[0]["loc"][0])
        raise Invalid(f"{typed.get(field, '')!r} is not a number.", field=field) from None
