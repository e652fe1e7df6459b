"""API of studies: the list, and one of them."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from topkapi.app.db.models import Study
from topkapi.app.db.queries.studies import studies as queries
from topkapi.app.domain.errors import NotFound
from topkapi.app.services.accounts import users
from topkapi.app.services.results.exports import StudySource, completeness
from topkapi.app.services.studies import lifecycle
from topkapi.app.services.studies.access import set_access
from topkapi.app.web.access.deps import ApiAdmin, ApiResearcher, SessionDep, reader_id
from topkapi.app.web.common.api_paging import Number
from topkapi.app.web.people.api import UserOut
from topkapi.app.web.studies.api_models import Slug, StudyDetail, StudyOut

router = APIRouter(prefix="/api/v1/studies", tags=["studies"])
COUNTS = ("queries", "documents", "candidates", "assignments", "finished")


@router.get("")
def list_studies(
    session: SessionDep,
    user: ApiResearcher,
    response: Response,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
) -> list[StudyOut]:
    """List the studies that you may read, in creation order; `X-Total-Count` is their number."""
    reader = reader_id(user)
    response.headers["X-Total-Count"] = str(queries.count_studies(session, reader))
    rows = queries.studies_with_counts(session, reader_id=reader, limit=limit, offset=offset)
    return [StudyOut(**_facts(*row)) for row in rows]


@router.get("/{slug}")
def get_study_facts(session: SessionDep, _user: ApiResearcher, slug: Slug) -> StudyDetail:
    """Return one study with its guidelines, settings and progress."""
    row = next(iter(queries.studies_with_counts(session, slug=slug)), None)
    if row is None:
        raise NotFound(f"There is no study {slug!r}.")
    study = row[0]
    state = completeness(StudySource(session, slug))
    return StudyDetail(
        **_facts(*row),
        guidelines=study.guidelines,
        settings=study.settings.as_json(),
        progress=list(state.tools),
    )


@router.get("/{slug}/access")
def get_access(session: SessionDep, _user: ApiAdmin, slug: Slug) -> list[UserOut]:
    """List the researchers who may read the study."""
    study = lifecycle.required_study(session, slug)
    return [UserOut.of(each) for each in queries.researchers_of(session, study.id)]


@router.put("/{slug}/access/{user_id}", status_code=204)
def put_access(session: SessionDep, user: ApiAdmin, slug: Slug, user_id: Number) -> None:
    """Let a researcher read the study."""
    study = lifecycle.required_study(session, slug)
    person = users.user_of_number(session, user_id)
    set_access(session, study, person, given=True, actor_id=user.id)


@router.delete("/{slug}/access/{user_id}", status_code=204)
def delete_access(session: SessionDep, user: ApiAdmin, slug: Slug, user_id: Number) -> None:
    """Take the study from a researcher."""
    study = lifecycle.required_study(session, slug)
    person = users.user_of_number(session, user_id)
    set_access(session, study, person, given=False, actor_id=user.id)


def _facts(study: Study, *counts: int) -> dict[str, Any]:
    settings = study.settings
    return {
        "slug": study.slug,
        "name": study.name,
        "k": settings.k,
        "tools": list(settings.tools),
        "created_at": study.created_at,
        "archived": study.archived_at is not None,
        **dict(zip(COUNTS, counts, strict=True)),
    }
