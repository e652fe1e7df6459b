"""The results of one query in the browser: lists, consensus, questions, pages."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from topkapi.app.db.queries.results.query_results import QueryDocument
from topkapi.app.domain.pairs.answers import Answer
from topkapi.app.domain.text.terms import query_terms
from topkapi.app.services.results.compared_lists import (
    compare_lists,
    list_choices,
    unjudged_by_system,
)
from topkapi.app.services.results.exports import StudySource
from topkapi.app.services.results.query_results import (
    answers_about,
    query_results,
    question_shown,
    session_answers,
    text_and_documents,
)
from topkapi.app.web.access.deps import RowId
from topkapi.app.web.pages.open_pages import OpenPage, page_opener
from topkapi.app.web.pages.page_html import keeps_colours
from topkapi.app.web.results.views import (
    AnswersAboutView,
    QueryResultsView,
    QuestionShownView,
    QuestionsView,
    UnjudgedView,
    bump_chart,
    list_names,
)
from topkapi.app.web.studies.visit import ReaderVisit, Visit

_ANSWERS = {answer.value: answer.label for answer in Answer}
router = APIRouter(prefix="/studies/{slug}/queries", include_in_schema=False)
Key = Annotated[str, Query(max_length=400)]


@router.get("/{query_id}")
def get_query_results(visit: ReaderVisit, query_id: RowId, a: Key = "", b: Key = "") -> Response:
    """Show each assessor's list beside the consensus, and two lists ``a`` and ``b`` compared."""
    source = StudySource(visit.session, visit.study.slug)
    results = query_results(source, query_id)
    names = list_names(results)
    choices = list_choices(source, results, names)
    compared = compare_lists(source, results, choices, (a, b)) if a and b else None
    view = QueryResultsView(
        head=visit.head("queries"),
        results=results,
        pages=_pages(visit, results.query.text, results.documents),
        chart=bump_chart(results),
        people=(*results.finished, *results.unfinished),
        choices=choices,
        compared=compared,
        answer_names=_ANSWERS,
    )
    return visit.show("results/query.html", view)


@router.get("/{query_id}/answers")
def get_answers_about(visit: ReaderVisit, query_id: RowId, document: Key = "") -> Response:
    """Show the answers behind one page of the query, as a part of the page of the query."""
    source = StudySource(visit.session, visit.study.slug)
    _, documents = text_and_documents(source, query_id)
    answers = answers_about(source, query_id, document)
    titles = {name: each.title for name, each in documents.items()}
    addresses = {
        number: visit.url("get_questions", query_id=query_id, assignment_id=number)
        for number in (each.assignment_id for each in answers)
    }
    view = AnswersAboutView(addresses, document, titles, answers)
    return visit.show("results/_about.html", view)


@router.get("/{query_id}/questions/{assignment_id}/{number}")
def get_question(
    visit: ReaderVisit, query_id: RowId, assignment_id: RowId, number: RowId
) -> Response:
    """Show the two pages of one question side by side, as they were judged."""
    source = StudySource(visit.session, visit.study.slug)
    query, documents = text_and_documents(source, query_id)
    assessor, asked, of = question_shown(source, query_id, assignment_id, number)
    pages = _pages(visit, query.text, documents, same_canvas=True)
    shown = [pages[name] for name in (asked.left, asked.right) if name in pages]
    head = visit.head("queries")
    address = visit.url("get_questions", query_id=query_id, assignment_id=assignment_id)
    view = QuestionShownView(head, query, address, assessor, asked, of, shown, _ANSWERS)
    return visit.show("results/question.html", view)


@router.get("/{query_id}/questions/{assignment_id}")
def get_questions(visit: ReaderVisit, query_id: RowId, assignment_id: RowId) -> Response:
    """Show the questions of one session in order, as a part of the page of the query."""
    source = StudySource(visit.session, visit.study.slug)
    found = session_answers(source, query_id, assignment_id)
    query, documents = text_and_documents(source, query_id)
    pages = _pages(visit, query.text, documents)
    address = visit.url("get_questions", query_id=query_id, assignment_id=assignment_id)
    return visit.show("results/_questions.html", QuestionsView(found, pages, _ANSWERS, address))


@router.get("/{query_id}/unjudged")
def get_unjudged(visit: ReaderVisit, query_id: RowId) -> Response:
    """Show which pages of each system nobody has judged, as a part of the page of the query."""
    source = StudySource(visit.session, visit.study.slug)
    found = unjudged_by_system(source, query_id)
    query, documents = text_and_documents(source, query_id)
    pages = _pages(visit, query.text, documents)
    return visit.show("results/_unjudged.html", UnjudgedView(found, pages))


def _pages(
    visit: Visit, text: str, documents: Mapping[str, QueryDocument], *, same_canvas: bool = False
) -> dict[str, OpenPage]:
    light = same_canvas and any(keeps_colours(each.media_type) for each in documents.values())
    opened = page_opener(visit.request, visit.study.id, query_terms(text), all_light=light)
    return {name: opened(document) for name, document in documents.items()}
