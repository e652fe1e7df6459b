"""The results of one query in the browser: lists, consensus, questions, pages."""

from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from topkapi.app.domain.text.terms import query_terms
from topkapi.app.services.results.exports import StudySource
from topkapi.app.services.results.query_results import query_results
from topkapi.app.web.access.deps import ResearcherUser, RowId, SessionDep
from topkapi.app.web.common.templates import render
from topkapi.app.web.judging.answer_names import PAIR_ANSWERS
from topkapi.app.web.pages.open_pages import page_opener
from topkapi.app.web.results.query_views import QueryResultsView, bump_chart, column_names
from topkapi.app.web.studies.pages import study_head

router = APIRouter(prefix="/studies/{slug}/queries", include_in_schema=False)
Slug = Annotated[str, Path(max_length=100, pattern=r"^[^\x00]+$")]


@router.get("/{query_id}")
def get_query_results(
    request: Request,
    session: SessionDep,
    user: ResearcherUser,
    slug: Slug,
    query_id: RowId,
) -> Response:
    """Show each assessor's list beside the consensus, and the questions that led to it."""
    source = StudySource(session, slug)
    found = query_results(session, source, query_id)
    opened = page_opener(request, source.study.id, query_terms(found.query.text))
    view = QueryResultsView(
        head=study_head(session, source.study, user, "queries"),
        results=found,
        columns=column_names(found),
        rows=found.ranked,
        pages={name: opened(document) for name, document in found.documents.items()},
        chart=bump_chart(found),
        people=(*found.finished, *found.unfinished),
        answer_names=PAIR_ANSWERS,
    )
    return render(request, "results/query.html", view)
