"""Assignment pages: rotation with its grid, one by hand, a CSV file, gaps, rebalancing."""

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Query, Request, UploadFile
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.models import Study, User
from topkapi.app.db.queries.assignments import assignments as queries
from topkapi.app.db.queries.assignments import manual_assignment as named
from topkapi.app.domain.assignment.rotation import legal_rounds
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import AppError, Conflict, Invalid, NotFound
from topkapi.app.services.assignments import manual_assignment, rotation
from topkapi.app.services.assignments.csv_file import MOST_BYTES, CsvRefused, assign_csv
from topkapi.app.services.assignments.gaps import fill_gaps, plan_filling
from topkapi.app.services.assignments.preview import Preview, preview
from topkapi.app.services.assignments.rebalancing import apply_rebalancing, plan_rebalancing
from topkapi.app.services.studies import lifecycle
from topkapi.app.web.access.deps import AdminUser, SessionDep, StudyDep
from topkapi.app.web.assignments.forms import OneForm, PeopleForm, RebalanceForm, RotationForm
from topkapi.app.web.assignments.views import AssignView, PersonChoice
from topkapi.app.web.common.errors import status_of
from topkapi.app.web.common.received import PersonId
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.studies.pages import study_head

router = APIRouter(prefix="/studies/{slug}/assign", include_in_schema=False)
_REFUSALS = (Invalid, Conflict, NotFound)
_SUGGESTED = 500  # queries suggested while typing


@router.get("")
def get_assign(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    study: StudyDep,
    people: Annotated[list[PersonId] | None, Query(max_length=2000)] = None,
    rounds: Annotated[int | None, Query(ge=1, le=10_000)] = None,
    seed: Annotated[str, Query(max_length=200)] = "",
    lists: bool = False,
    done: Annotated[str, Query(pattern=r"^\d{0,9}$")] = "",
) -> Response:
    """Preview the rotation's grid; nothing is assigned."""
    view = assign_view(
        session, study, user, people=people, rounds=rounds, seed=seed.strip(), lists=lists
    )
    return render(request, "assignments/page.html", replace(view, done=done))


@router.post("")
def post_rotation(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    study: StudyDep,
    form: Annotated[RotationForm, Form()],
) -> Response:
    """Assign the rotation that was previewed."""
    try:
        with session.begin_nested():
            made = manual_assignment.assign_rotation(
                session,
                study,
                form.people,
                rounds=form.rounds,
                seed=form.seed or None,
                lists=form.lists,
                actor_id=user.id,
            )
    except _REFUSALS as refusal:
        view = view_after_refusal(
            session, study.slug, user, people=form.people, rounds=form.rounds, lists=form.lists
        )
        view = replace(view, refusal=Refusal.of(refusal))
        return render(request, "assignments/page.html", view, status=status_of(refusal))
    return done(request, study.slug, len(made))


@router.post("/one")
def post_one(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    study: StudyDep,
    form: Annotated[OneForm, Form()],
) -> Response:
    """Assign one query to one person."""
    try:
        with session.begin_nested():
            manual_assignment.assign_one(
                session,
                study,
                email=form.email,
                query=form.query,
                tool=form.tool,
                round_number=form.round,
                actor_id=user.id,
            )
    except _REFUSALS as refusal:
        view = replace(
            view_after_refusal(session, study.slug, user), one=form, one_refusal=Refusal.of(refusal)
        )
        return render(request, "assignments/page.html", view, status=status_of(refusal))
    return done(request, study.slug, 1)


@router.post("/csv")
def post_csv(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    study: StudyDep,
    file: Annotated[UploadFile | str, File()] = "",
) -> Response:
    """Assign what a CSV file lists, all of it or nothing."""
    data = b"" if isinstance(file, str) else file.file.read(MOST_BYTES + 1)
    try:
        with session.begin_nested():
            made = assign_csv(session, study, data, actor_id=user.id)
    except CsvRefused as refusal:
        view = replace(view_after_refusal(session, study.slug, user), problems=refusal.problems)
        return render(request, "assignments/page.html", view, status=422)
    except _REFUSALS as refusal:
        view = replace(view_after_refusal(session, study.slug, user), refusal=Refusal.of(refusal))
        return render(request, "assignments/page.html", view, status=status_of(refusal))
    return done(request, study.slug, len(made))


def view_after_refusal(session: Session, slug: str, user: User, **chosen: Any) -> AssignView:
    """Return the page after a refusal rolled its changes back."""
    return assign_view(session, lifecycle.required_study(session, slug), user, **chosen)


def assign_view(
    session: Session,
    study: Study,
    user: User,
    *,
    people: list[int] | None = None,
    rounds: int | None = None,
    seed: str = "",
    lists: bool = False,
) -> AssignView:
    """Return the rotation, the gaps and the rebalancing for these people; nothing is written."""
    rotated = rotation.tools_under_rule(study)
    lists_apart = Tool.LISTS in study.settings.tools and Tool.LISTS not in rotated
    lists = lists_apart and (lists or not rotated)
    workers = {person.id: count for person, count in named.workers(session, study.id)}
    selectable = {person.id: person for person in named.active_assessors(session)}
    known = queries.users_by_id(session, {*workers, *(people or [])})
    selectable |= {number: known[number] for number in known if known[number].disabled_at is None}
    last_people, last_seed = manual_assignment.last_rotation(study, lists=lists)
    known_work = named.track_records(session, study.id)
    proposed = [
        number
        for number in last_people or workers or selectable
        if not known_work.get(number, named.TrackRecord()).void
    ]
    chosen = set(people if people is not None else proposed)
    if people is None and not seed and last_people:
        seed = "" if last_seed == study.slug else last_seed
    settings = study.settings
    tools = rotation.rotated_tools(study, lists=lists)
    assigned = named.rounds_of_study(session, study.id, tools)
    study_queries = queries.queries_of_study(session, study.id)
    order_of = {number: index for index, number in enumerate(last_people)}
    ids = sorted(
        chosen & selectable.keys(), key=lambda number: (order_of.get(number, 2**31), number)
    )
    seen = _preview(session, study, ids, rounds, assigned, seed, lists)
    order = sorted(selectable.values(), key=lambda each: (each.name, each.id))
    return AssignView(
        head=study_head(session, study, user, "assign"),
        people=[
            PersonChoice.of(
                each,
                chosen=each.id in chosen,
                assigned=workers.get(each.id, 0),
                note=known_work.get(each.id, named.TrackRecord()).note,
            )
            for each in order
        ],
        ids=ids,
        rounds=seen[0] if seen else 1,
        assigned_rounds=assigned,
        seed=seed,
        preview=seen[1] if seen else None,
        lists=lists,
        has_lists_apart=lists_apart and bool(rotated),
        tools=settings.tools,
        queries=[(query.external_id, query.text) for query in study_queries[:_SUGGESTED]],
        one=OneForm(tool=settings.tools[0]),
        filling=plan_filling(session, study, ids),
        rebalancing=plan_rebalancing(session, study, ids),
    )


def _preview(
    session: Session,
    study: Study,
    ids: list[int],
    rounds: int | None,
    assigned: int,
    seed: str,
    lists: bool,
) -> tuple[int, Preview] | None:
    """Preview the rotation over these people, with ``rounds`` rounds or the suggested number.

    Two rounds at first, then as many as are assigned.
    """
    if not ids:
        return None
    tools = rotation.rotated_tools(study, lists=lists)
    most = legal_rounds(len(ids), len(tools))
    wanted = rounds or assigned or max(1, min(most, 2))
    return wanted, preview(session, study, ids, rounds=wanted, seed=seed or None, lists=lists)


def done(request: Request, slug: str, count: int) -> Response:
    """Lead back to the page, which says how many assignments were created."""
    url = str(request.app.url_path_for("get_assign", slug=slug))
    return RedirectResponse(f"{url}?done={count}", status_code=303)


@router.post("/gaps")
def post_gaps(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    study: StudyDep,
    form: Annotated[PeopleForm, Form()],
) -> Response:
    """Assign the work that was withdrawn to those of these people who may take it."""
    try:
        with session.begin_nested():
            made = fill_gaps(session, study, form.people, actor_id=user.id)
    except _REFUSALS as refusal:
        return _refused(request, session, user, study.slug, form, refusal)
    return done(request, study.slug, len(made))


@router.post("/rebalance")
def post_rebalance(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    study: StudyDep,
    form: Annotated[RebalanceForm, Form()],
) -> Response:
    """Move unfinished work as the plan that was shown says."""
    try:
        with session.begin_nested():
            made = apply_rebalancing(
                session, study, form.people, digest=form.digest, actor_id=user.id
            )
    except _REFUSALS as refusal:
        return _refused(request, session, user, study.slug, form, refusal)
    return done(request, study.slug, len(made))


def _refused(
    request: Request,
    session: Session,
    user: User,
    slug: str,
    form: PeopleForm,
    refusal: AppError,
) -> Response:
    view = view_after_refusal(session, slug, user, people=form.people)
    view = replace(view, refusal=Refusal.of(refusal))
    return render(request, "assignments/page.html", view, status=status_of(refusal))
