"""The systems of a study in the browser: their runs, scores and leaderboard."""

from typing import Annotated

from fastapi import APIRouter, File, Query, Request, UploadFile
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.queries.studies.studies import required_study
from topkapi.app.domain.text.sizes import format_size
from topkapi.app.services.results.exports import export_session
from topkapi.app.services.results.stored import stored_result
from topkapi.app.services.results.systems.cache import SystemReports
from topkapi.app.services.results.systems.runs import (
    MOST_BYTES,
    RunsRefused,
    add_runs,
    read_runs,
    remove_run,
    runs_of,
)
from topkapi.app.web.access.bodies import limit_body
from topkapi.app.web.access.deps import RowId, Slug
from topkapi.app.web.access.downloads import ExportPlace, attachment
from topkapi.app.web.access.early_auth import EarlyAdmin
from topkapi.app.web.importing.uploads import RECEIVING
from topkapi.app.web.jobs.views import Computed
from topkapi.app.web.results.api import needs_job, system_report
from topkapi.app.web.results.systems_views import RUNS, SystemsView, systems_view
from topkapi.app.web.studies.visit import AdminVisit, SnapshotVisit, Visit

router = APIRouter(prefix="/studies/{slug}", include_in_schema=False)
Name = Annotated[str, Query(max_length=300)]


@router.get("/systems")
def get_systems(
    visit: SnapshotVisit,
    truth: Name = "",
    baseline: Name = "",
    measure: Name = "",
    shared: bool = False,
) -> Response:
    """Show the scores of all systems, compared with a baseline, and the leaderboard."""
    return visit.show("results/systems.html", _view(visit, truth, baseline, measure, shared))


@router.get("/systems.csv")
def get_systems_csv(
    visit: SnapshotVisit, truth: Name = "", baseline: Name = "", shared: bool = False
) -> Response:
    """Download the scores, one row per system and measure."""
    from topkapi.analysis.data.exports.cells import csv_text
    from topkapi.analysis.report.subjects.systems import table_rows

    slug = visit.study.slug
    chosen = {"truth": truth, "baseline": baseline}
    found = system_report(visit.request, visit.session, slug, **chosen, shared=shared)
    text = "" if found.scores is None else csv_text(table_rows(found.scores))
    return attachment(text, "text/csv; charset=utf-8", f"{slug}-systems.csv")


@router.post("/systems", dependencies=RECEIVING)
@limit_body(RUNS)
def post_systems(
    request: Request,
    user: EarlyAdmin,
    _place: ExportPlace,
    slug: Slug,
    files: Annotated[list[UploadFile | str] | None, File()] = None,
) -> Response:
    """Add TREC runs, all of them or none."""
    sent = [
        (each.filename or "run", each.file.read())
        for each in files or []
        if not isinstance(each, str) and each.filename
    ]
    try:
        runs = read_runs(sent)
        with request.app.state.sessions.write.begin() as session:
            study = required_study(session, slug)
            add_runs(session, study, runs, actor_id=user.id)
    except RunsRefused as refusal:
        with export_session(request.app.state.sessions) as session:
            visit = Visit(request, session, user, required_study(session, slug))
            view = _view(visit, problems=tuple(map(str, refusal.problems)))
        return visit.show("results/systems.html", view, status=422)
    url = str(request.app.url_path_for("get_systems", slug=slug))
    return RedirectResponse(url, status_code=303)


@router.post("/systems/{run_id}/remove")
def post_remove_system(visit: AdminVisit, run_id: RowId) -> Response:
    """Remove the run of a system."""
    remove_run(visit.session, visit.study, run_id, actor_id=visit.user.id)
    return visit.to("get_systems")


def _view(
    visit: Visit,
    truth: str = "",
    baseline: str = "",
    measure: str = "",
    shared: bool = False,
    problems: tuple[str, ...] = (),
) -> SystemsView:
    session, study = visit.session, visit.study
    large = needs_job(session, study.id)
    stored = stored_result(session, study.id, "labels") if large else None
    report = None
    if stored is not None or not large:
        chosen = {"truth": truth or None, "baseline": baseline or None}
        reports: SystemReports = visit.request.app.state.system_reports
        report = reports.report(session, study.slug, **chosen, shared=shared, stored=stored)
    return systems_view(
        visit.head("systems"),
        runs_of(session, study),
        report,
        measure,
        format_size(MOST_BYTES),
        problems,
        shared=shared,
        computed=Computed.of(visit, "systems", "labels", stored) if large else None,
    )
