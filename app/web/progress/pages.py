"""Progress of a study: the live dashboard, texts to people, and tables as CSV files."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from hashlib import blake2b
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Path, Query, Request
from pydantic import BeforeValidator, Field
from starlette.responses import HTMLResponse, Response

from topkapi.analysis.data.exports.cells import csv_text
from topkapi.app.db.queries.progress import Ordered
from topkapi.app.db.queries.results.query_results import documents_named
from topkapi.app.domain.errors import NotFound
from topkapi.app.services import flags
from topkapi.app.services.accounts import invitations as one_time
from topkapi.app.services.accounts.users import user_of_number
from topkapi.app.services.flags import FlagLine
from topkapi.app.services.judging.teams import reliabilities
from topkapi.app.services.progress import messages, study_progress
from topkapi.app.services.progress.matrix import matrix
from topkapi.app.services.progress.messages import Addressee, Message
from topkapi.app.services.progress.study_progress import PEOPLE_SORTS, QUERY_SORTS
from topkapi.app.services.progress.tables import HEAD, STUDY_TABLES, TABLES, Rates, Row, payments
from topkapi.app.services.state.study import concerns_of_study
from topkapi.app.web.access.deps import AdminUser, SessionDep
from topkapi.app.web.access.downloads import attachment, note_download
from topkapi.app.web.common.links import public_url
from topkapi.app.web.common.paging import Choices, PageNumber, Search, offset_of, paged
from topkapi.app.web.common.received import PersonId, Received
from topkapi.app.web.common.templates import to_text
from topkapi.app.web.pages.open_pages import OpenPage, page_opener
from topkapi.app.web.progress.views import PARTS, PersonLine, ProgressView
from topkapi.app.web.studies.visit import AdminVisit, ReaderVisit, StudyHead, Visit

router = APIRouter(include_in_schema=False)
PEOPLE, QUERIES, FLAGS = 25, 20, 50
_MOST = 500
_NOTHING = Decimal(0)
Table = Annotated[str, Path(max_length=40)]


@router.get("/studies/{slug}/progress")
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
    concerns = concerns_of_study(session, study, seen)
    members = reliabilities(session, study.id) if study.settings.together else {}
    people, people_paging = paged(
        pages[0],
        PEOPLE,
        lambda offset: study_progress.people(session, wanted[0]._replace(offset=offset), seen),
    )
    asked, query_paging = paged(
        pages[1],
        QUERIES,
        lambda offset: study_progress.by_query(
            session, study, wanted[1]._replace(offset=offset), seen
        ),
    )
    numbers = {
        name: number for name, number in zip(("page", "qpage"), pages, strict=True) if number > 1
    }
    choices = Choices(visit.url("get_progress"), {**values, **numbers})
    flagged = flags.flags_of_study(session, study.id, limit=FLAGS)
    return ProgressView(
        head=visit.head("progress", seen, concerns=concerns),
        overview=seen,
        people=[
            PersonLine(
                each,
                line,
                [why for why in concerns if why.user_id == each.id],
                members.get(each.id),
            )
            for each, line in people
        ],
        people_paging=people_paging,
        queries=asked,
        query_paging=query_paging,
        cells=matrix(session, [each.id for each, _ in people], [query.id for query, _ in asked]),
        latest=study_progress.latest(session, seen),
        flags=flagged,
        pages=_pages(visit, flagged),
        open_flags=flags.count_open(session, study.id),
        choices=choices,
        values=values,
    )


def _pages(visit: Visit, flagged: Sequence[FlagLine]) -> dict[str, OpenPage]:
    """Return links to the pages of flagged questions by name."""
    names = {name for flag in flagged for name in flag.shown}
    if not names:
        return {}
    opened = page_opener(visit.request, visit.study.id)
    found = documents_named(visit.session, visit.study.id, names)
    return {name: opened(page) for name, page in found.items()}


class MessagesForm(Received):
    """The selected people, and the kind of text."""

    people: Annotated[list[PersonId], Field(max_length=_MOST)] = Field(default_factory=list)
    kind: Literal["remind", "invite"] = "remind"


@dataclass(frozen=True, slots=True)
class MessagesView:
    """The people of a study with checkboxes, and the texts for those who were selected."""

    head: StudyHead
    people: Sequence[Addressee]
    chosen: frozenset[int]
    texts: Sequence[Message] = ()
    to_all: Message | None = None
    nobody: bool = False


@router.get("/studies/{slug}/messages")
def get_messages(visit: AdminVisit) -> Response:
    """Show the people of the study; those with unfinished work are selected."""
    people = messages.addressees(visit.session, visit.study)
    chosen = frozenset(person.id for person in people if person.left)
    return visit.show(
        "progress/messages.html", MessagesView(visit.head("progress"), people, chosen)
    )


@router.post("/studies/{slug}/messages")
def post_messages(visit: AdminVisit, form: Annotated[MessagesForm, Form()]) -> Response:
    """Write the texts; an invitation creates a one-time link for people without a password."""
    name = visit.study.name
    people = messages.addressees(visit.session, visit.study)
    chosen = [person for person in people if person.id in set(form.people)]
    url = public_url(visit.request, str(visit.request.app.url_path_for("get_queue")))
    if form.kind == "invite":
        texts = messages.invitations(name, chosen, _links(visit, chosen), url)
    else:
        texts = messages.reminders(name, chosen, url)
    many = len(chosen) > 1 and form.kind == "remind"
    view = MessagesView(
        head=visit.head("progress"),
        people=people,
        chosen=frozenset(person.id for person in chosen),
        texts=texts,
        to_all=messages.to_all(name, chosen, url) if many else None,
        nobody=not chosen,
    )
    return visit.show("progress/messages.html", view, status=200 if chosen else 422)


def _links(visit: Visit, people: Sequence[Addressee]) -> dict[int, str]:
    links = {}
    for person in people:
        if not person.has_password:
            row = user_of_number(visit.session, person.id)
            token = one_time.new_link(visit.session, row, actor_id=visit.user.id)
            path = str(visit.request.app.url_path_for("get_invitation", token=token))
            links[person.id] = public_url(visit.request, path)
    return links


def _without_blanks(value: object) -> object:
    """Read an empty field as zero, and a decimal comma as a point."""
    return (value.strip().replace(",", ".") or "0") if isinstance(value, str) else value


Rate = Annotated[
    Decimal,
    BeforeValidator(_without_blanks),
    Query(ge=0, le=1_000_000, max_digits=12, decimal_places=4),
]


@router.get("/tables/{table}.csv")
def get_table(session: SessionDep, _user: AdminUser, table: Table) -> Response:
    """Download a table of the whole installation."""
    if table not in TABLES:
        raise NotFound(f"There is no table {table!r}. The tables are {', '.join(TABLES)}.")
    return _csv(table, TABLES[table](session))


@router.get("/studies/{slug}/tables/{table}.csv")
def get_study_table(visit: ReaderVisit, table: Table) -> Response:
    """Download a table of one study."""
    if table not in STUDY_TABLES:
        raise NotFound(f"There is no table {table!r}. The tables are {', '.join(STUDY_TABLES)}.")
    note_download(visit.request, visit.user, visit.study.slug, f"{table}.csv")
    return _csv(f"{visit.study.slug}-{table}", STUDY_TABLES[table](visit.session, visit.study))


@router.get("/studies/{slug}/payments.csv")
def get_payments(
    visit: AdminVisit, per_hour: Rate = _NOTHING, per_query: Rate = _NOTHING
) -> Response:
    """Download hours and amounts per assessor, at the rates of the form."""
    found = payments(visit.session, visit.study, Rates(per_hour, per_query))
    note_download(visit.request, visit.user, visit.study.slug, "payments.csv")
    return _csv(f"{visit.study.slug}-payments", [HEAD, *(each.row() for each in found)])


def _csv(name: str, rows: Iterable[Row]) -> Response:
    text = csv_text([_cell(cell) for cell in row] for row in rows)
    return attachment(text, "text/csv; charset=utf-8", f"{name}.csv")


def _cell(cell: object) -> object:
    return cell.isoformat() if isinstance(cell, datetime) else cell
