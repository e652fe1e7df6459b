"""The live dashboard of a study: rendered whole once, then only the parts that changed."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, Response

from topkapi.app.db.queries import flags
from topkapi.app.db.queries.progress import PEOPLE_SORTS, QUERY_SORTS, Ordered
from topkapi.app.db.queries.results.query_results import documents_named
from topkapi.app.services.judging.reliability import reliabilities
from topkapi.app.services.progress import study_progress
from topkapi.app.services.progress.dashboard import concerns_of_study
from topkapi.app.web.common.paging import LARGEST_PAGE, Choices, Paging, offset_of
from topkapi.app.web.common.templates import to_text
from topkapi.app.web.pages.open_pages import OpenPage, page_opener
from topkapi.app.web.progress.views import PARTS, FlagView, PersonLine, ProgressView
from topkapi.app.web.studies.visit import ReaderVisit, Visit

router = APIRouter(prefix="/studies/{slug}/progress", include_in_schema=False)
PEOPLE, QUERIES, FLAGS = 25, 20, 50
Search = Annotated[str, Query(max_length=200)]
PageNumber = Annotated[int, Query(ge=1, le=LARGEST_PAGE)]


@router.get("")
def get_progress(
    visit: ReaderVisit,
    person: Search = "",
    query: Search = "",
    sort: Annotated[str, Query(pattern=f"^-?({'|'.join(PEOPLE_SORTS)})$")] = "name",
    qsort: Annotated[str, Query(pattern=f"^-?({'|'.join(QUERY_SORTS)})$")] = "query",
    page: PageNumber = 1,
    qpage: PageNumber = 1,
    seen: Annotated[str, Query(max_length=400)] = "",
) -> Response:
    """Show the dashboard; with ``seen`` only the parts that changed since."""
    values = {"person": person.strip(), "query": query.strip(), "sort": sort, "qsort": qsort}
    wanted = (
        Ordered.of(sort, person, PEOPLE, offset_of(page, PEOPLE)),
        Ordered.of(qsort, query, QUERIES, offset_of(qpage, QUERIES)),
    )
    view = _view(visit, values, wanted, (page, qpage))
    texts = {part: to_text(visit.request, f"progress/_{part}.html", view) for part in PARTS}
    marks = ".".join(blake2b(text.encode(), digest_size=6).hexdigest() for text in texts.values())
    view = replace(view, texts=texts, marks=marks)
    if not seen:
        return visit.show("progress/page.html", view)
    return _changes(visit.request, view, seen)


def _changes(request: Request, view: ProgressView, seen: str) -> Response:
    """Return the parts whose digests differ from ``seen``, or 204 if none does."""
    before = dict(zip(PARTS, seen.split("."), strict=False))
    now = dict(zip(PARTS, view.marks.split("."), strict=True))
    changed = {part: view.texts[part] for part in PARTS if before.get(part) != now[part]}
    if not changed:
        return Response(status_code=204)
    poll = to_text(request, "progress/_poll.html", replace(view, texts=changed))
    return HTMLResponse("\n".join([*changed.values(), poll]))


def _view(
    visit: Visit,
    values: dict[str, str],
    wanted: tuple[Ordered, Ordered],
    pages: tuple[int, int],
) -> ProgressView:
    session, study = visit.session, visit.study
    seen = study_progress.overview(session, study, visit.request.app.state.snapshots)
    sums = seen.all.sums
    counts = {"assignments": sums.assigned, "begun": sums.begun, "finished": sums.finished}
    found = concerns_of_study(session, study, seen)
    members = reliabilities(session, study.id) if study.settings.together else {}
    people, people_total = study_progress.people(session, wanted[0], seen)
    asked, query_total = study_progress.by_query(session, study, wanted[1], seen)
    numbers = {
        name: number for name, number in zip(("page", "qpage"), pages, strict=True) if number > 1
    }
    choices = Choices(visit.url("get_progress"), {**values, **numbers})
    flagged = [FlagView.of(each) for each in flags.flags_of_study(session, study.id, limit=FLAGS)]
    return ProgressView(
        head=visit.head("progress", counts),
        overview=seen,
        people=[
            PersonLine(
                each, line, [why for why in found if why.user_id == each.id], members.get(each.id)
            )
            for each, line in people
        ],
        people_paging=Paging(pages[0], PEOPLE, people_total),
        queries=asked,
        query_paging=Paging(pages[1], QUERIES, query_total),
        cells=study_progress.matrix(
            session, [each.id for each, _ in people], [query.id for query, _ in asked]
        ),
        latest=study_progress.latest(session, seen),
        flags=flagged,
        pages=_pages(visit, flagged),
        open_flags=flags.count_open(session, study.id),
        choices=choices,
        values=values,
    )


def _pages(visit: Visit, flagged: Sequence[FlagView]) -> dict[str, OpenPage]:
    """Return links to the pages of flagged questions by name."""
    names = {name for flag in flagged for name in flag.shown}
    if not names:
        return {}
    opened = page_opener(visit.request, visit.study.id)
    found = documents_named(visit.session, visit.study.id, names)
    return {name: opened(page) for name, page in found.items()}
