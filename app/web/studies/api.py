"""API of studies: the list, and one of them."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from topkapi.app.db.models import Study
from topkapi.app.db.queries.studies import studies as queries
from topkapi.app.domain.errors import NotFound
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.results.exports import StudySource, completeness
from topkapi.app.web.access.deps import ApiResearcher, SessionDep
from topkapi.app.web.studies.api_models import Slug, StudyDetail, StudyOut, ToolProgress

router = APIRouter(prefix="/api/v1/studies", tags=["studies"])
COUNTS = ("queries", "documents", "candidates", "assignments", "finished")


@router.get("")
def list_studies(
    session: SessionDep,
    _user: ApiResearcher,
    response: Response,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
) -> list[StudyOut]:
    """List studies in creation order; `X-Total-Count` is their number."""
    response.headers["X-Total-Count"] = str(queries.count_studies(session))
    rows = queries.studies_with_counts(session, limit=limit, offset=offset)
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
        settings=StudySettings.from_json(study.settings).as_json(),
        progress=[ToolProgress.model_validate(each) for each in state.as_json()],
    )


def _facts(study: Study, *counts: int) -> dict[str, Any]:
    settings = StudySettings.from_json(study.settings)
    return {
        "slug": study.slug,
        "name": study.name,
        "k": settings.k,
        "tools": list(settings.tools),
        "created_at": study.created_at,
        "archived": study.archived_at is not None,
        **dict(zip(COUNTS, counts, strict=True)),
    }
