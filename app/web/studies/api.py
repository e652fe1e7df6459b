"""API of studies: list them; change, archive, copy and delete one; its queries and documents."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from topkapi.app.db.queries.studies import studies as queries
from topkapi.app.db.queries.studies import study_pages
from topkapi.app.domain.errors import NotFound
from topkapi.app.services.accounts import users
from topkapi.app.services.accounts.records import PersonRecord
from topkapi.app.services.importing.records.types import QueryRecord
from topkapi.app.services.results.exports import StudySource, completeness
from topkapi.app.services.results.exports.service import ToolCount
from topkapi.app.services.studies import edit_study, lifecycle
from topkapi.app.services.studies.lifecycle import set_access
from topkapi.app.services.studies.records import StudyRecord
from topkapi.app.web.access.bodies import LONG_TEXT, limit_body
from topkapi.app.web.access.deps import (
    ApiAdmin,
    ApiResearcher,
    SessionDep,
    Slug,
    StudyDep,
    reader_id,
)
from topkapi.app.web.access.downloads import ExportPlace
from topkapi.app.web.access.early_auth import EarlyApiAdmin
from topkapi.app.web.common.paging import Limit, Number, Offset, Search, say_total
from topkapi.app.web.common.received import Body
from topkapi.app.web.studies.pages import copy_response

ZIP: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A zip of JSON Lines.",
        "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@dataclass(frozen=True, slots=True)
class StudyDetail(StudyRecord):
    """A study with its guidelines and settings, and its progress per tool."""

    guidelines: str
    settings: dict[str, Any]
    progress: list[ToolCount]


router = APIRouter(prefix="/api/v1/studies", tags=["studies"])


@router.get("")
def list_studies(
    session: SessionDep,
    user: ApiResearcher,
    response: Response,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
) -> list[StudyRecord]:
    """List the studies that you may read, in creation order; `X-Total-Count` is their number."""
    reader = reader_id(user)
    response.headers["X-Total-Count"] = str(queries.count_studies(session, reader))
    rows = queries.studies_with_counts(session, reader_id=reader, limit=limit, offset=offset)
    return [StudyRecord.of(*row) for row in rows]


@router.get("/{slug}")
def get_study_facts(session: SessionDep, _user: ApiResearcher, slug: Slug) -> StudyDetail:
    """Return one study with its guidelines, settings and progress."""
    row = next(iter(queries.studies_with_counts(session, slug=slug)), None)
    if row is None:
        raise NotFound(f"There is no study {slug!r}.")
    study = row[0]
    return StudyDetail.of(
        *row,
        guidelines=study.guidelines,
        settings=study.settings.as_json(),
        progress=list(completeness(StudySource(session, slug)).tools),
    )


@router.get("/{slug}/access")
def get_access(session: SessionDep, _user: ApiAdmin, study: StudyDep) -> list[PersonRecord]:
    """List the researchers who may read the study."""
    return [PersonRecord.of(each) for each in queries.researchers_of(session, study.id)]


@router.put("/{slug}/access/{user_id}", status_code=204)
def put_access(session: SessionDep, user: ApiAdmin, study: StudyDep, user_id: Number) -> None:
    """Grant a researcher access to the study."""
    person = users.user_of_number(session, user_id)
    set_access(session, study, person, given=True, actor_id=user.id)


@router.delete("/{slug}/access/{user_id}", status_code=204)
def delete_access(session: SessionDep, user: ApiAdmin, study: StudyDep, user_id: Number) -> None:
    """Revoke a researcher's access to the study."""
    person = users.user_of_number(session, user_id)
    set_access(session, study, person, given=False, actor_id=user.id)


class DocumentLine(BaseModel):
    """A page of the study, without its text."""

    model_config = ConfigDict(from_attributes=True)
    id: str = Field(validation_alias="name")
    title: str
    url: str
    media_type: str
    bytes: int = Field(validation_alias="size")
    queries: int


@router.get("/{slug}/queries")
def get_api_queries(
    session: SessionDep,
    _user: ApiResearcher,
    study: StudyDep,
    response: Response,
    search: Search = "",
    limit: Limit = 100,
    offset: Offset = 0,
) -> list[QueryRecord]:
    """List the study's queries in order."""
    rows, total = study_pages.queries_page(
        session, study.id, search=search, limit=limit, offset=offset
    )
    say_total(response, total)
    return [QueryRecord(row.name, row.text, row.description, row.narrative) for row in rows]


@router.get("/{slug}/documents")
def get_api_documents(
    session: SessionDep,
    _user: ApiResearcher,
    study: StudyDep,
    response: Response,
    search: Search = "",
    limit: Limit = 100,
    offset: Offset = 0,
) -> list[DocumentLine]:
    """List the study's documents, without their texts."""
    rows, total = study_pages.documents_page(
        session, study.id, search=search, limit=limit, offset=offset
    )
    say_total(response, total)
    return [DocumentLine.model_validate(row) for row in rows]


class StudyChange(Body):
    """The fields to change; omitted fields stay as they are."""

    archived: bool | None = None
    name: str | None = None
    guidelines: str | None = None
    settings: dict[str, Any] | None = Field(
        None, description="Some settings by name; once work is assigned most are fixed."
    )


class StudyState(BaseModel):
    """Whether the study is archived."""

    slug: str
    archived: bool


class DeletedOut(BaseModel):
    """The number of deleted rows per table."""

    rows: dict[str, int]


@router.patch("/{slug}")
@limit_body(LONG_TEXT)
def patch_study(
    session: SessionDep, user: ApiAdmin, study: StudyDep, body: StudyChange
) -> StudyState:
    """Change name, guidelines or settings; archive or unarchive the study."""
    edit_study.change_study(
        session,
        study,
        name=body.name,
        guidelines=body.guidelines,
        settings=body.settings,
        actor_id=user.id,
    )
    if body.archived is True:
        lifecycle.archive(session, study, actor_id=user.id)
    if body.archived is False:
        lifecycle.unarchive(session, study, actor_id=user.id)
    return StudyState(slug=study.slug, archived=study.archived_at is not None)


@router.post("/{slug}/copy", response_class=Response, responses=ZIP)
def post_study_copy(
    request: Request, user: EarlyApiAdmin, _place: ExportPlace, slug: Slug
) -> Response:
    """Download a full copy of the study, with every row and page; required before deleting it."""
    return copy_response(request.app.state.sessions, slug, user.id)


@router.delete("/{slug}")
def delete_study(
    session: SessionDep,
    user: ApiAdmin,
    study: StudyDep,
    confirm: Annotated[str, Query(max_length=100, description="The slug once more.")],
) -> DeletedOut:
    """Delete an archived study whose judgments are in a full copy."""
    rows = lifecycle.delete_study(session, study, confirm=confirm, actor_id=user.id)
    return DeletedOut(rows=rows)
