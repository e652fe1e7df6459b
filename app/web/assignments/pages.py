"""Assignment pages: rotation, one by hand, a CSV file, rebalancing, adjudication."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, File, Form, Query, Request, UploadFile
from starlette.responses import Response

from topkapi.app.db.base import Json
from topkapi.app.db.queries.assignments import assignments as queries
from topkapi.app.db.queries.assignments import manual_assignment as named
from topkapi.app.db.queries.studies.studies import required_study
from topkapi.app.domain.assignment.rotation import legal_rounds
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import AppError
from topkapi.app.services.accounts.invitations import invite
from topkapi.app.services.accounts.users import user_of_number
from topkapi.app.services.assignments import manual_assignment, rotation
from topkapi.app.services.assignments.adjudication import (
    assign_adjudication,
    assign_proposals,
    disagreements,
)
from topkapi.app.services.assignments.csv_file import MOST_BYTES, CsvRefused, assign_csv
from topkapi.app.services.assignments.manual_assignment import explaining
from topkapi.app.services.assignments.preview import preview
from topkapi.app.services.assignments.rebalancing import apply_rebalancing, plan_rebalancing
from topkapi.app.services.progress.study_progress import overview
from topkapi.app.services.promise import promised_rounds, tools_under_rule
from topkapi.app.services.results.reports import is_large
from topkapi.app.services.results.reports.notes import StoredResult
from topkapi.app.services.results.stored import stored_result
from topkapi.app.web.access.bodies import limit_body
from topkapi.app.web.access.deps import Slug
from topkapi.app.web.access.downloads import ResultsSession
from topkapi.app.web.access.early_auth import EarlyAdmin
from topkapi.app.web.assignments.views import (
    CSV,
    AdjudicationForm,
    AdjudicationView,
    AssignView,
    OneForm,
    PersonChoice,
    RebalanceForm,
    RotationForm,
)
from topkapi.app.web.common.received import PersonId
from topkapi.app.web.common.refusals import try_change
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.jobs.views import Computed
from topkapi.app.web.people.invitation_pages import invitation_link
from topkapi.app.web.people.views import InviteForm
from topkapi.app.web.studies.visit import AdminVisit, Visit

router = APIRouter(prefix="/studies/{slug}", include_in_schema=False)
_NONE: Json = {"total": 0, "queries": []}
_SUGGESTED = 500  # queries suggested while typing


@router.get("/assign")
def get_assign(
    visit: AdminVisit,
    people: Annotated[list[PersonId] | None, Query(max_length=2000)] = None,
    rounds: Annotated[int | None, Query(ge=1, le=10_000)] = None,
    seed: Annotated[str, Query(max_length=200)] = "",
    lists: bool = False,
    done: Annotated[str, Query(pattern=r"^\d{0,9}$")] = "",
) -> Response:
    """Preview the rotation's grid; nothing is assigned."""
    view = _view(visit, people, rounds=rounds, seed=seed.strip(), lists=lists)
    return visit.show("assignments/page.html", replace(view, done=done))


@router.post("/assign")
def post_rotation(visit: AdminVisit, form: Annotated[RotationForm, Form()]) -> Response:
    """Assign what is missing, as it was previewed, and promise its number of rounds."""
    with try_change(visit.session) as tried, explaining(visit.session, visit.study):
        made = rotation.assign_rotation(
            visit.session,
            visit.study,
            form.people,
            rounds=form.rounds,
            seed=form.seed or None,
            lists=form.lists,
            strict=False,
            part=form.part,
            actor_id=visit.user.id,
        )
    if tried.refusal:
        view = _view(visit, form.people, rounds=form.rounds, lists=form.lists)
        return _refused(visit, view, tried.refusal)
    return _done(visit, len(made))


@router.post("/assign/people")
def post_invite(visit: AdminVisit, form: Annotated[InviteForm, Form()]) -> Response:
    """Invite somebody and select them; the page shows the link."""
    name = form.name or form.email.partition("@")[0]
    with try_change(visit.session) as tried:
        made, token = invite(
            visit.session, email=form.email, name=name, role=form.role, actor_id=visit.user.id
        )
    if tried.refusal:
        return _refused(visit, replace(_view(visit), invited=form), tried.refusal)
    before = [each.id for each in _view(visit).people if each.chosen]
    view = _view(visit, [*dict.fromkeys([*before, made.id])])
    link = invitation_link(visit.request, made, token)
    return visit.show("assignments/page.html", replace(view, link=link), status=201)


@router.post("/assign/one")
def post_one(visit: AdminVisit, form: Annotated[OneForm, Form()]) -> Response:
    """Assign one query to one person."""
    with try_change(visit.session) as tried:
        manual_assignment.assign_one(
            visit.session,
            visit.study,
            email=form.email,
            query=form.query,
            tool=form.tool,
            round_number=form.round,
            actor_id=visit.user.id,
        )
    if tried.refusal:
        view = replace(_view(visit), one=form, one_refusal=Refusal.of(tried.refusal))
        return visit.show("assignments/page.html", view, tried.refusal)
    return _done(visit, 1)


@router.post("/assign/csv")
@limit_body(CSV)
def post_csv(visit: AdminVisit, file: Annotated[UploadFile | str, File()] = "") -> Response:
    """Assign the work listed in a CSV file, all or nothing."""
    data = b"" if isinstance(file, str) else file.file.read(MOST_BYTES + 1)
    with try_change(visit.session) as tried:
        made = assign_csv(visit.session, visit.study, data, actor_id=visit.user.id)
    if isinstance(tried.refusal, CsvRefused):
        view = replace(_view(visit), problems=tried.refusal.problems)
        return visit.show("assignments/page.html", view, tried.refusal)
    if tried.refusal:
        return _refused(visit, _view(visit), tried.refusal)
    return _done(visit, len(made))


@router.post("/assign/rebalance")
def post_rebalance(visit: AdminVisit, form: Annotated[RebalanceForm, Form()]) -> Response:
    """Move unfinished work as the plan that was shown says."""
    session, study, actor_id = visit.session, visit.study, visit.user.id
    with try_change(session) as tried:
        made = apply_rebalancing(session, study, form.people, digest=form.digest, actor_id=actor_id)
    if tried.refusal:
        return _refused(visit, _view(visit, form.people), tried.refusal)
    return _done(visit, len(made))


def _refused(visit: Visit, view: AssignView, refusal: AppError) -> Response:
    view = replace(view, refusal=Refusal.of(refusal))
    return visit.show("assignments/page.html", view, refusal)


def _done(visit: Visit, count: int) -> Response:
    """Lead back to the page, which says how many assignments were created."""
    return visit.to("get_assign", f"?done={count}")


def _view(
    visit: Visit,
    people: list[int] | None = None,
    *,
    rounds: int | None = None,
    seed: str = "",
    lists: bool = False,
) -> AssignView:
    """Return what is missing and who would get it, or else how to even out unfinished work."""
    session, study = visit.session, visit.study
    rotated = tools_under_rule(study)
    lists_apart = Tool.LISTS in study.settings.tools and Tool.LISTS not in rotated
    lists = lists_apart and (lists or not rotated)
    workers = {person.id: count for person, count in named.workers(session, study.id)}
    selectable = {person.id: person for person in named.active_assessors(session)}
    others = list(selectable)
    known = queries.users_by_id(session, {*workers, *(people or [])})
    selectable |= {number: known[number] for number in known if known[number].disabled_at is None}
    selectable.setdefault(visit.user.id, user_of_number(session, visit.user.id))
    last_people, last_seed = manual_assignment.last_rotation(study, lists=lists)
    known_work = named.track_records(session, study.id)
    proposed = [
        number
        for number in last_people or workers or others or selectable
        if not known_work.get(number, named.TrackRecord()).void
    ]
    chosen = set(people if people is not None else proposed)
    if people is None and not seed and last_people:
        seed = "" if last_seed == study.slug else last_seed
    settings = study.settings
    tools = rotation.rotated_tools(study, lists=lists)
    found = promised_rounds(session, study)
    promised = [found[tool] or 0 for tool in tools if tool in found]
    most_promised = max(promised, default=0)
    study_queries = queries.queries_of_study(session, study.id)
    order_of = {number: index for index, number in enumerate(last_people)}
    ids = sorted(
        chosen & selectable.keys(), key=lambda number: (order_of.get(number, 2**31), number)
    )
    seen = None
    if ids:  # two rounds at first (one, if no pair of lists repeats), then as many as promised
        usual = 1 if lists and not settings.lists_repeats else 2
        most = max(1, min(legal_rounds(len(ids), len(tools)), usual))
        wanted = rounds or (None if promised else most)
        seen = preview(session, study, ids, rounds=wanted, seed=seed or None, lists=lists)
    answered = named.people_who_answered(session)
    order = sorted(selectable.values(), key=lambda each: (each.name, each.id))
    state = overview(session, study, visit.request.app.state.snapshots)
    return AssignView(
        head=visit.head("assign", state),
        missing=state.all.missing,
        people=[
            PersonChoice.of(
                each,
                chosen=each.id in chosen,
                assigned=workers.get(each.id, 0),
                answered=each.id in answered,
                note=known_work.get(each.id, named.TrackRecord()).note,
            )
            for each in order
        ],
        ids=ids,
        rounds=seen.rounds if seen and not seen.refusal else rounds or most_promised or 1,
        promised_rounds=most_promised,
        seed=seed,
        preview=seen,
        lists=lists,
        has_lists_apart=lists_apart and bool(rotated),
        tools=settings.tools,
        queries=[(query.external_id, query.text) for query in study_queries[:_SUGGESTED]],
        one=OneForm(tool=settings.tools[0]),
        asked=people is not None or rounds is not None,
        rebalancing=plan_rebalancing(session, study, ids),
    )


@router.get("/adjudication")
def get_adjudication(
    request: Request,
    user: EarlyAdmin,
    session: ResultsSession,
    slug: Slug,
    done: Annotated[int, Query(ge=0, le=10_000)] = 0,
) -> Response:
    """List the queries whose finished lists disagree, most disagreement first."""
    return _page(Visit(request, session, user, required_study(session, slug)), done=done)


@router.post("/adjudication")
def post_adjudication(visit: AdminVisit, form: Annotated[AdjudicationForm, Form()]) -> Response:
    """Assign the open pairs of a query to one more person."""
    session, study = visit.session, visit.study
    with try_change(session) as tried:
        assign_adjudication(
            session, study, query=form.query, email=form.email, actor_id=visit.user.id
        )
    if tried.refusal:
        return _page(visit, tried.refusal)
    return visit.to("get_adjudication", "?done=1")


@router.post("/adjudication/all")
def post_adjudications(visit: AdminVisit) -> Response:
    """Assign all listed queries to the people proposed for them."""
    stored = _stored(visit)
    known = stored.content if stored else None
    with try_change(visit.session) as tried:
        made = assign_proposals(visit.session, visit.study, known, actor_id=visit.user.id)
    if tried.refusal:
        return _page(visit, tried.refusal)
    return visit.to("get_adjudication", f"?done={made}")


def _page(visit: Visit, refusal: AppError | None = None, *, done: int = 0) -> Response:
    large, stored = is_large(visit.session, visit.study.id), _stored(visit)
    known = stored.content if stored else _NONE if large else None
    found = disagreements(visit.session, visit.study, known)
    view = AdjudicationView(
        head=visit.head("adjudication"),
        queries=found.queries,
        total=found.total,
        done=done,
        computed=Computed.of(visit, "adjudication", "report", stored) if large else None,
        refusal=Refusal.of(refusal),
    )
    return visit.show("assignments/adjudication.html", view, refusal)


def _stored(visit: Visit) -> StoredResult | None:
    """Return what to adjudicate in a large study, as the latest report found it."""
    session, study_id = visit.session, visit.study.id
    large = is_large(session, study_id)
    return stored_result(session, study_id, "report", "disagreements") if large else None
