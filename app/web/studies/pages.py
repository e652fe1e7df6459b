"""Studies: the list, and the content and settings of one study."""

from collections.abc import Callable, Sequence
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Form, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.models import Study, User
from topkapi.app.db.queries.progress import work_counts
from topkapi.app.db.queries.studies import study_pages as queries
from topkapi.app.db.queries.studies.studies import researchers_of, studies_with_counts
from topkapi.app.db.queries.studies.study_pages import DocumentRow, QueryRow
from topkapi.app.domain.enums import Role
from topkapi.app.services import guideline_history
from topkapi.app.services.accounts import users
from topkapi.app.services.studies import lifecycle
from topkapi.app.services.studies.lifecycle import set_access
from topkapi.app.web.access.deps import AdminUser, ResearcherUser, SessionDep, StudyDep, reader_id
from topkapi.app.web.common.markdown import to_html
from topkapi.app.web.common.paging import LARGEST_PAGE, Choices, Paging, offset_of
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import PersonView
from topkapi.app.web.pages.open_pages import page_opener
from topkapi.app.web.studies.forms import AccessForm, overview_of
from topkapi.app.web.studies.views import (
    GuidelinesHistoryView,
    GuidelinesPageView,
    StudiesView,
    StudyHead,
    StudyLine,
    StudyTableView,
    StudyView,
    VersionLine,
    head_of,
    state_of,
)

router = APIRouter(prefix="/studies", include_in_schema=False)
SIZE = 50
Search = Annotated[str, Query(max_length=200)]
PageNumber = Annotated[int, Query(ge=1, le=LARGEST_PAGE)]


@router.get("")
def get_studies_page(request: Request, session: SessionDep, user: ResearcherUser) -> Response:
    """List every study that the person may read, with its sizes and its finished work."""
    rows = studies_with_counts(session, reader_id=reader_id(user))
    lines = [study_line(*row) for row in rows]
    return render(request, "studies/page.html", StudiesView(lines, user.role is Role.ADMIN))


@router.get("/{slug}")
def get_study_page(
    request: Request, session: SessionDep, user: ResearcherUser, study: StudyDep
) -> Response:
    """Show the content and settings of one study."""
    sizes = queries.sizes(session, study.id)
    view = StudyView(
        head=head_of(study, sizes, "study", may_change=user.role is Role.ADMIN),
        created_at=study.created_at,
        settings=overview_of(study.settings),
        sizes=sizes,
        readers=[*map(PersonView.of, researchers_of(session, study.id))],
        others=[*map(PersonView.of, researchers_of(session, study.id, given=False))],
    )
    return render(request, "studies/study.html", view)


@router.post("/{slug}/access")
def post_access(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    study: StudyDep,
    form: Annotated[AccessForm, Form()],
) -> Response:
    """Give a researcher access to the study, or take it away."""
    person = users.user_of_number(session, form.person)
    set_access(session, study, person, given=form.given, actor_id=user.id)
    return to_study(request, study.slug)


@router.get("/{slug}/guidelines")
def get_study_guidelines(
    request: Request, session: SessionDep, user: ResearcherUser, study: StudyDep
) -> Response:
    """Show the guidelines as assessors read them."""
    view = GuidelinesPageView(
        study_head(session, study, user, "guidelines"), to_html(study.guidelines)
    )
    return render(request, "studies/guidelines.html", view)


@router.get("/{slug}/guidelines/history")
def get_guidelines_history(
    request: Request, session: SessionDep, user: ResearcherUser, study: StudyDep
) -> Response:
    """List the versions of the guidelines, each with its difference from the one before."""
    head = study_head(session, study, user, "guidelines")
    versions = guideline_history.versions(session, study)
    view = GuidelinesHistoryView(head, [*map(VersionLine.of, versions, [*versions[1:], None])])
    return render(request, "studies/guidelines_history.html", view)


@router.get("/{slug}/queries")
def get_study_queries(
    request: Request,
    session: SessionDep,
    user: ResearcherUser,
    study: StudyDep,
    search: Search = "",
    page: PageNumber = 1,
) -> Response:
    """List the study's queries, one page at a time."""
    found = _StudyPage(study, user, "queries", search, page)
    return _table(request, session, found, queries.queries_page)


@router.get("/{slug}/documents")
def get_study_documents(
    request: Request,
    session: SessionDep,
    user: ResearcherUser,
    study: StudyDep,
    search: Search = "",
    page: PageNumber = 1,
) -> Response:
    """List the study's documents, one page at a time."""
    found = _StudyPage(study, user, "documents", search, page)
    return _table(request, session, found, queries.documents_page)


@router.post("/{slug}/archive")
def post_archive(
    request: Request, session: SessionDep, user: AdminUser, study: StudyDep
) -> Response:
    """Archive the study; all judgments stay."""
    lifecycle.archive(session, study, actor_id=user.id)
    return to_study(request, study.slug)


@router.post("/{slug}/unarchive")
def post_unarchive(
    request: Request, session: SessionDep, user: AdminUser, study: StudyDep
) -> Response:
    """Unarchive the study."""
    lifecycle.unarchive(session, study, actor_id=user.id)
    return to_study(request, study.slug)


def study_line(
    study: Study, queries: int, documents: int, _candidates: int, assignments: int, finished: int
) -> StudyLine:
    """Return the row of a study, from the study and its counts."""
    return StudyLine(
        slug=study.slug,
        name=study.name,
        state=state_of(study, assignments, finished, finished),
        settings=study.settings,
        queries=queries,
        documents=documents,
        assignments=assignments,
        finished=finished,
    )


class _StudyPage(NamedTuple):
    """A page of a table of a study: the study, its reader, the tab, the filter and the number."""

    study: Study
    user: User
    tab: str
    search: str
    number: int


def _table(
    request: Request,
    session: Session,
    found: _StudyPage,
    rows_of: Callable[..., tuple[Sequence[QueryRow] | Sequence[DocumentRow], int]],
) -> Response:
    rows, total = rows_of(
        session,
        found.study.id,
        search=found.search.strip(),
        limit=SIZE,
        offset=offset_of(found.number, SIZE),
    )
    opened = page_opener(request, found.study.id)
    view = StudyTableView(
        head=study_head(session, found.study, found.user, found.tab),
        rows=rows,
        pages={row.id: opened(row) for row in rows if isinstance(row, DocumentRow)},
        paging=Paging(found.number, SIZE, total),
        choices=Choices(request.url.path, {"search": found.search}),
        search=found.search,
    )
    return render(request, f"studies/{found.tab}.html", view)


def study_head(session: Session, study: Study, user: User | PersonView, tab: str) -> StudyHead:
    """Return the head of a page of ``study``."""
    counts = work_counts(session, study.id)
    return head_of(study, counts, tab, may_change=user.role is Role.ADMIN)


def to_study(request: Request, slug: str) -> Response:
    """Redirect to the study's page."""
    return RedirectResponse(
        str(request.app.url_path_for("get_study_page", slug=slug)), status_code=303
    )
