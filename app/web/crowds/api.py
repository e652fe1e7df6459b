"""API of entry links: list, create, close and open again."""

from dataclasses import asdict, dataclass
from typing import Annotated

from fastapi import APIRouter
from pydantic import Field
from starlette.requests import Request

from topkapi.app.db.models import EntryLink
from topkapi.app.domain.crowds import Platform
from topkapi.app.services.crowds import links
from topkapi.app.services.crowds.links import LinkRecord
from topkapi.app.web.access.deps import ApiAdmin, RowId, SessionDep, StudyDep
from topkapi.app.web.common.received import Body
from topkapi.app.web.crowds.views import LinkForm, link_address

router = APIRouter(prefix="/api/v1/studies/{slug}/entry-links", tags=["crowd"])


class LinkIn(LinkForm, Body):
    """A new entry link: either `code` or `redirect_url` is what people get at the end."""

    platform: Platform
    consent: Annotated[
        str, Field(min_length=1, max_length=links.LONGEST_CONSENT, description="Markdown.")
    ]
    code: Annotated[str, Field(max_length=links.LONGEST_CODE)] = ""
    most_people: Annotated[int, Field(ge=1, le=links.MOST_PEOPLE)] | None = None
    share: Annotated[int, Field(ge=1, le=links.MOST_SHARE, description="Queries per person.")] = 1
    rounds: Annotated[
        int, Field(ge=1, le=links.MOST_ROUNDS, description="People per query and tool.")
    ] = 1
    screen_out: Annotated[
        str,
        Field(max_length=2000, description="Code or address for people who do not qualify."),
    ] = ""


@dataclass(frozen=True, slots=True)
class NewLinkOut(LinkRecord):
    """A link that was made just now; its `url` is shown only once."""

    url: str


class LinkChange(Body):
    """Whether the link takes new people."""

    closed: bool


@router.get("")
def get_entry_links(session: SessionDep, _user: ApiAdmin, study: StudyDep) -> list[LinkRecord]:
    """List the entry links of a study, newest first."""
    return links.links_of(session, study)


@router.post("", status_code=201)
def post_api_entry_link(
    request: Request, session: SessionDep, user: ApiAdmin, study: StudyDep, body: LinkIn
) -> NewLinkOut:
    """Create an entry link; the platform fills in the parameters of its `url`."""
    link = EntryLink(**body.model_dump())
    token = links.create_link(session, study, link, actor_id=user.id)
    url = link_address(request, token, body.platform)
    return NewLinkOut(**asdict(links.record_of(session, study, link)), url=url)


@router.patch("/{link_id}")
def patch_entry_link(
    session: SessionDep, user: ApiAdmin, study: StudyDep, link_id: RowId, body: LinkChange
) -> LinkRecord:
    """Close a link to new people, or open it again."""
    return links.set_closed(session, study, link_id, closed=body.closed, actor_id=user.id)
