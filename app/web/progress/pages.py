"""The live dashboard of a study: rendered whole once, then only the parts that changed."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Annotated

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import HTMLResponse, Response

from topkapi.app.db.models import Study, User
from topkapi.app.db.queries import flags
from topkapi.app.db.queries.progress import PEOPLE_SORTS, QUERY_SORTS, Ordered
from topkapi.app.db.queries.results.query_results import documents_named
from topkapi.app.domain.enums import Role
from topkapi.app.services.judging.reliability import reliabilities
from topkapi.app.services.progress import study_progress
from topkapi.app.services.progress.dashboard import concerns_of_study
from topkapi.app.web.access.deps import ResearcherUser, SessionDep, StudyDep
from topkapi.app.web.common.paging import LARGEST_PAGE, Choices, Paging, offset_of
from topkapi.app.web.common.templates import render, to_text
from topkapi.app.web.pages.open_pages import OpenPage, page_opener
from topkapi.app.web.progress.views import PARTS, FlagView, PersonLine, ProgressView
from topkapi.app.web.studies.views import head_of

router = APIRouter(prefix="/studies/{slug}/progress", include_in_schema=False)
PEOPLE, QUERIES, FLAGS = 25, 20, 50
Search = Annotated[str, Query(max_length=200)]
PageNumber = Annotated[int, Query(ge=1, le=LARGEST_PAGE)]


@router.get("")
def get_progress(
    request: Request,
    session: SessionDep,
    user: ResearcherUser,
    study: StudyDep,
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
    view = _view(request, session, study, user, values, wanted, (page, qpage))
    texts = {part: to_text(request, f"progress/_{part}.html", view) for part in PARTS}
    marks = ".".join(blake2b(text.encode(), digest_size=6).hexdigest() for text in texts.values())
    view = replace(view, texts=texts, marks=marks)
    if not seen:
        return render(request, "progress/page.html", view)
    return _changes(request, view, seen)


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
    request: Request,
    session: Session,
    study: Study,
    user: User,
    values: dict[str, str],
    wanted: tuple[Ordered, Ordered],
    pages: tuple[int, int],
) -> ProgressView:
    seen = study_progress.overview(session, study, request.app.state.snapshots)
    found = concerns_of_study(session, study, seen)
    members = reliabilities(session, study.id) if study.settings.together else {}
    people, people_total = study_progress.people(session, wanted[0], seen)
    asked, query_total = study_progress.by_query(session, study, wanted[1], seen)
    path = str(request.app.url_path_for("get_progress", slug=study.slug))
    numbers = {
        name: number for name, number in zip(("page", "qpage"), pages, strict=True) if number > 1
    }
    choices = Choices(path, {**values, **numbers})
    flagged = [FlagView.of(each) for each in flags.flags_of_study(session, study.id, limit=FLAGS)]
    return ProgressView(
        head=head_of(study, _counts(seen), "progress", may_change=user.role is Role.ADMIN),
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
        pages=_pages(request, session, study.id, flagged),
        open_flags=flags.count_open(session, study.id),
        choices=choices,
        values=values,
    )


def _pages(
    request: Request, session: Session, study_id: int, flagged: Sequence[FlagView]
) -> dict[str, OpenPage]:
    """Return links to the pages of flagged questions by name."""
    names = {name for flag in flagged for name in flag.shown}
    if not names:
        return {}
    opened = page_opener(request, study_id)
    return {name: opened(page) for name, page in documents_named(session, study_id, names).items()}


def _counts(seen: study_progress.Overview) -> dict[str, int]:
    sums = seen.all.sums
    return {"assignments": sums.assigned, "begun": sums.begun, "finished": sums.finished}
