"""Studies: the list, and the content and settings of one study."""

from collections.abc import Callable, Sequence
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import Response

from topkapi.app.db.models import Study
from topkapi.app.db.queries.studies import study_pages as queries
from topkapi.app.db.queries.studies.studies import researchers_of, studies_with_counts
from topkapi.app.db.queries.studies.study_pages import DocumentRow, QueryRow
from topkapi.app.domain.enums import Role
from topkapi.app.services import guideline_history
from topkapi.app.services.accounts import users
from topkapi.app.services.studies import lifecycle
from topkapi.app.web.access.deps import ResearcherUser, SessionDep, reader_id
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
    StudyLine,
    StudyTableView,
    StudyView,
    VersionLine,
)
from topkapi.app.web.studies.visit import AdminVisit, ReaderVisit, Visit, state_of

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
def get_study_page(visit: ReaderVisit) -> Response:
    """Show the content and settings of one study."""
    session, study = visit.session, visit.study
    sizes = queries.sizes(session, study.id)
    view = StudyView(
        head=visit.head("study", sizes),
        created_at=study.created_at,
        settings=overview_of(study.settings),
        sizes=sizes,
        readers=[*map(PersonView.of, researchers_of(session, study.id))],
        others=[*map(PersonView.of, researchers_of(session, study.id, given=False))],
    )
    return visit.show("studies/study.html", view)


@router.post("/{slug}/access")
def post_access(visit: AdminVisit, form: Annotated[AccessForm, Form()]) -> Response:
    """Give a researcher access to the study, or take it away."""
    person = users.user_of_number(visit.session, form.person)
    lifecycle.set_access(
        visit.session, visit.study, person, given=form.given, actor_id=visit.user.id
    )
    return visit.to("get_study_page")


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
    return visit.to("get_study_page")


@router.post("/{slug}/unarchive")
def post_unarchive(visit: AdminVisit) -> Response:
    """Unarchive the study."""
    lifecycle.unarchive(visit.session, visit.study, actor_id=visit.user.id)
    return visit.to("get_study_page")


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


def _table(
    visit: Visit,
    tab: str,
    search: str,
    number: int,
    rows_of: Callable[..., tuple[Sequence[QueryRow] | Sequence[DocumentRow], int]],
) -> Response:
    offset = offset_of(number, SIZE)
    rows, total = rows_of(
        visit.session, visit.study.id, search=search.strip(), limit=SIZE, offset=offset
    )
    opened = page_opener(visit.request, visit.study.id)
    view = StudyTableView(
        head=visit.head(tab),
        rows=rows,
        pages={row.id: opened(row) for row in rows if isinstance(row, DocumentRow)},
        paging=Paging(number, SIZE, total),
        choices=Choices(visit.request.url.path, {"search": search}),
        search=search,
    )
    return visit.show(f"studies/{tab}.html", view)
