"""Studies: the list; content, settings and guidelines of one, its full copy and its deletion."""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path as FilePath
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, RedirectResponse, Response

from topkapi.app.db.engine import Sessions
from topkapi.app.db.queries.studies import study_pages as queries
from topkapi.app.db.queries.studies.studies import researchers_of
from topkapi.app.db.queries.studies.study_pages import DocumentRow, QueryRow
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import AppError
from topkapi.app.domain.study import SETTINGS
from topkapi.app.services import guideline_history
from topkapi.app.services.accounts import users
from topkapi.app.services.promise import missing_by_query, missing_work
from topkapi.app.services.state.study import study_state
from topkapi.app.services.studies import edit_study, full_copy, lifecycle
from topkapi.app.services.studies.records import listed_studies
from topkapi.app.web.access.bodies import LONG_TEXT, limit_body
from topkapi.app.web.access.deps import ResearcherUser, SessionDep, Slug, reader_id
from topkapi.app.web.access.downloads import ExportPlace
from topkapi.app.web.access.early_auth import EarlyAdmin
from topkapi.app.web.common.formats import to_html
from topkapi.app.web.common.paging import Choices, PageNumber, Search, paged
from topkapi.app.web.common.refusals import try_change
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import PersonView, Refusal
from topkapi.app.web.pages.open_pages import page_opener
from topkapi.app.web.studies.views import (
    ADVANCED,
    BASIC,
    AccessForm,
    ConfirmForm,
    DeleteView,
    GuidelinesForm,
    GuidelinesFormView,
    GuidelinesHistoryView,
    GuidelinesPageView,
    SentSettings,
    SettingsForm,
    SettingsView,
    StudiesView,
    StudyTableView,
    StudyView,
    VersionLine,
    form_of,
    overview_of,
    settings_in,
)
from topkapi.app.web.studies.visit import AdminVisit, ReaderVisit, Visit

router = APIRouter(prefix="/studies", include_in_schema=False)
SIZE = 50
Version = Annotated[int | None, Query(ge=1, le=2**31 - 1)]
_DECLARED = [*BASIC, *(each for part in ADVANCED.values() for each in part)]


@router.get("")
def get_studies_page(request: Request, session: SessionDep, user: ResearcherUser) -> Response:
    """List every study that the person may read, with its sizes and its finished work."""
    lines = listed_studies(session, reader_id(user))
    return render(request, "studies/page.html", StudiesView(lines, user.role is Role.ADMIN))


@router.get("/{slug}")
def get_study_page(visit: ReaderVisit) -> Response:
    """Show the state of one study, and what is next."""
    session, study = visit.session, visit.study
    snapshots = visit.request.app.state.snapshots
    may_change = visit.user.role is Role.ADMIN
    state = study_state(session, study, snapshots, may_change=may_change)
    view = StudyView(
        head=visit.head("study", next=state.next),
        state=state,
        created_at=study.created_at,
        settings=overview_of(study.settings),
        sizes=queries.sizes(session, study.id),
    )
    return visit.show("studies/study.html", view)


@router.post("/{slug}/access")
def post_access(visit: AdminVisit, form: Annotated[AccessForm, Form()]) -> Response:
    """Give a researcher access to the study, or take it away."""
    person = users.user_of_number(visit.session, form.person)
    lifecycle.set_access(
        visit.session, visit.study, person, given=form.given, actor_id=visit.user.id
    )
    return visit.to("get_settings", "#access")


@router.get("/{slug}/guidelines")
def get_study_guidelines(visit: ReaderVisit) -> Response:
    """Show the guidelines as assessors read them."""
    view = GuidelinesPageView(visit.head("guidelines"), to_html(visit.study.guidelines))
    return visit.show("studies/guidelines.html", view)


@router.get("/{slug}/guidelines/history")
def get_guidelines_history(visit: ReaderVisit) -> Response:
    """List the versions of the guidelines, each with its difference from the one before."""
    versions = guideline_history.versions(visit.session, visit.study)
    lines = [*map(VersionLine.of, versions, [*versions[1:], None])]
    view = GuidelinesHistoryView(visit.head("guidelines"), lines)
    return visit.show("studies/guidelines_history.html", view)


@router.get("/{slug}/queries")
def get_study_queries(visit: ReaderVisit, search: Search = "", page: PageNumber = 1) -> Response:
    """List the study's queries, one page at a time."""
    return _table(visit, "queries", search, page, queries.queries_page)


@router.get("/{slug}/documents")
def get_study_documents(visit: ReaderVisit, search: Search = "", page: PageNumber = 1) -> Response:
    """List the study's documents, one page at a time."""
    return _table(visit, "documents", search, page, queries.documents_page)


@router.post("/{slug}/archive")
def post_archive(visit: AdminVisit) -> Response:
    """Archive the study; all judgments stay."""
    lifecycle.archive(visit.session, visit.study, actor_id=visit.user.id)
    return visit.to("get_settings")


@router.post("/{slug}/unarchive")
def post_unarchive(visit: AdminVisit) -> Response:
    """Unarchive the study."""
    lifecycle.unarchive(visit.session, visit.study, actor_id=visit.user.id)
    return visit.to("get_settings")


def _table(
    visit: Visit,
    tab: str,
    search: str,
    number: int,
    rows_of: Callable[..., tuple[Sequence[QueryRow] | Sequence[DocumentRow], int]],
) -> Response:
    which = {"search": search.strip(), "limit": SIZE}
    rows, paging = paged(
        number,
        SIZE,
        lambda offset: rows_of(visit.session, visit.study.id, **which, offset=offset),
    )
    opened = page_opener(visit.request, visit.study.id)
    view = StudyTableView(
        head=visit.head(tab),
        rows=rows,
        pages={row.id: opened(row) for row in rows if isinstance(row, DocumentRow)},
        paging=paging,
        choices=Choices(visit.request.url.path, {"search": search}),
        search=search,
        missing=missing_by_query(missing_work(visit.session, visit.study)),
    )
    return visit.show(f"studies/{tab}.html", view)


@router.get("/{slug}/settings")
def get_settings(visit: AdminVisit, saved: bool = False) -> Response:
    """Show the settings form; settings that existing assignments depend on are read-only."""
    return _settings_page(visit, form_of(visit.study), saved=saved)


@router.post("/{slug}/settings")
def post_settings(visit: AdminVisit, form: SentSettings) -> Response:
    """Change the settings, or show why not."""
    with try_change(visit.session) as tried:
        edit_study.change_study(
            visit.session,
            visit.study,
            name=form.name,
            settings=settings_in(form, _DECLARED),
            seen=form.seen,
            actor_id=visit.user.id,
        )
    if tried.refusal:
        return _settings_page(visit, form, tried.refusal)
    return visit.to("get_settings", "?saved=true")


@router.get("/{slug}/guidelines/edit")
def get_guidelines_form(visit: AdminVisit, version: Version = None) -> Response:
    """Show the guidelines' Markdown in a form: the present text, or that of an old version."""
    text = visit.study.guidelines
    if version is not None:
        text = guideline_history.text_of_version(visit.session, visit.study, version)
    form = GuidelinesForm(seen=edit_study.version_of(visit.study), guidelines=text)
    return _guidelines_page(visit, form)


@router.post("/{slug}/guidelines")
@limit_body(LONG_TEXT)
def post_guidelines(visit: AdminVisit, form: Annotated[GuidelinesForm, Form()]) -> Response:
    """Change the guidelines; assessors read the new ones from then on."""
    session, text, seen = visit.session, form.guidelines, form.seen
    with try_change(session) as tried:
        edit_study.change_study(
            session, visit.study, guidelines=text, seen=seen, actor_id=visit.user.id
        )
    if tried.refusal:
        return _guidelines_page(visit, form, tried.refusal)
    return visit.to("get_study_guidelines")


def _settings_page(
    visit: Visit, form: SettingsForm, refusal: AppError | None = None, *, saved: bool = False
) -> Response:
    fixed = edit_study.is_fixed(visit.session, visit.study)
    if fixed and not form.whole:  # fixed settings are shown as they are
        now = form_of(visit.study).typed
        free = {name: form.typed.get(name, []) for name in now if not SETTINGS[name].frozen}
        form = form.model_copy(update={"typed": now | free})
    session, study = visit.session, visit.study
    advanced = [each for part in ADVANCED.values() for each in part]
    view = SettingsView(
        head=visit.head("settings"),
        form=form,
        basic=BASIC,
        advanced=ADVANCED,
        changed=sum(getattr(study.settings, each.name) != each.default for each in advanced),
        fixed=fixed,
        saved=saved,
        readers=[*map(PersonView.of, researchers_of(session, study.id))],
        others=[*map(PersonView.of, researchers_of(session, study.id, given=False))],
        refusal=Refusal.of(refusal),
    )
    return visit.show("studies/settings.html", view, refusal)


def _guidelines_page(
    visit: Visit, form: GuidelinesForm, refusal: AppError | None = None
) -> Response:
    head = visit.head("guidelines")
    begun = head.state in {"running", "finished"}
    view = GuidelinesFormView(head, form, begun, Refusal.of(refusal))
    return visit.show("studies/guidelines_form.html", view, refusal)


@router.get("/{slug}/delete")
def get_delete(visit: AdminVisit) -> Response:
    """Show what a deletion would remove, and what must be done first."""
    return _delete_page(visit)


@router.post("/{slug}/copy")
def post_copy(request: Request, user: EarlyAdmin, _place: ExportPlace, slug: Slug) -> Response:
    """Download a full copy of the study; the audit log records its name and content."""
    return copy_response(request.app.state.sessions, slug, user.id)


@router.post("/{slug}/delete")
def post_delete(visit: AdminVisit, form: Annotated[ConfirmForm, Form()]) -> Response:
    """Delete the study, if its slug was typed and a copy contains the judgments."""
    session, study, actor_id = visit.session, visit.study, visit.user.id
    with try_change(session) as tried:
        lifecycle.delete_study(session, study, confirm=form.confirm, actor_id=actor_id)
    if tried.refusal:
        return _delete_page(visit, tried.refusal)
    url = str(visit.request.app.url_path_for("get_studies_page"))
    return RedirectResponse(url, status_code=303)


def _delete_page(visit: Visit, refusal: AppError | None = None) -> Response:
    seen = lifecycle.look_at_deletion(visit.session, visit.study)
    view = DeleteView(visit.head("delete"), seen, Refusal.of(refusal))
    return visit.show("studies/delete.html", view, refusal)


def copy_response(sessions: Sessions, slug: str, actor_id: int) -> Response:
    """Write a copy from one snapshot of the database, record it, and send the file."""
    with tempfile.NamedTemporaryFile(suffix=".zip", delete=False) as file:
        path = FilePath(file.name)
    try:
        copy = full_copy.copy_study(sessions, slug, path, actor_id)
    except BaseException:
        path.unlink()
        raise
    return FileResponse(
        path,
        filename=copy.name,
        media_type="application/zip",
        background=BackgroundTask(path.unlink, missing_ok=True),
    )
