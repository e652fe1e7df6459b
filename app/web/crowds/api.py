"""API of entry links: list, create, close and open again."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.requests import Request

from topkapi.app.db.models import EntryLink
from topkapi.app.db.queries import crowds as queries
from topkapi.app.domain.crowds import Platform
from topkapi.app.services.crowds import links
from topkapi.app.web.access.deps import ApiAdmin, RowId, SessionDep, StudyDep
from topkapi.app.web.common.links import public_url
from topkapi.app.web.common.received import Body
from topkapi.app.web.crowds.views import link_address

router = APIRouter(prefix="/api/v1/studies/{slug}/entry-links", tags=["crowd"])


class LinkIn(Body):
    """A new entry link: either `code` or `redirect_url` is what people get at the end."""

    platform: Platform
    consent: Annotated[
        str, Field(min_length=1, max_length=links.LONGEST_CONSENT, description="Markdown.")
    ]
    code: Annotated[str, Field(max_length=links.LONGEST_CODE)] = ""
    redirect_url: Annotated[str, Field(max_length=2000)] = ""
    most_people: Annotated[int, Field(ge=1, le=links.MOST_PEOPLE)] | None = None
    share: Annotated[int, Field(ge=1, le=links.MOST_SHARE, description="Queries per person.")] = 1
    rounds: Annotated[
        int, Field(ge=1, le=links.MOST_ROUNDS, description="People per query and tool.")
    ] = 1
    screen_out: Annotated[
        str,
        Field(max_length=2000, description="Code or address for people who do not qualify."),
    ] = ""


class LinkOut(BaseModel):
    """An entry link and the number of people who hold a place; it is closed from `closed_at` on."""

    id: int
    platform: Platform
    consent: str
    code: str
    redirect_url: str
    most_people: int | None
    share: int
    rounds: int
    screen_out: str
    people: int
    created_at: datetime
    closed_at: datetime | None


class NewLinkOut(LinkOut):
    """A link that was made just now; its `url` is shown only once."""

    url: str


class LinkChange(Body):
    """Whether the link takes new people."""

    closed: bool


@router.get("")
def get_entry_links(session: SessionDep, _user: ApiAdmin, study: StudyDep) -> list[LinkOut]:
    """List the entry links of a study, newest first."""
    people = queries.people_of_links(session, study.id)
    found = queries.links_of_study(session, study.id)
    return [_link(link, people.get(link.id, 0)) for link in found]


@router.post("", status_code=201)
def post_api_entry_link(
    request: Request, session: SessionDep, user: ApiAdmin, study: StudyDep, body: LinkIn
) -> NewLinkOut:
    """Create an entry link; the platform fills in the parameters of its `url`."""
    link = EntryLink(**body.model_dump())
    token = links.create_link(session, study, link, actor_id=user.id)
    path = str(request.app.url_path_for("get_consent", token=token))
    url = link_address(public_url(request, path), body.platform)
    return NewLinkOut(**_link(link, 0).model_dump(), url=url)


@router.patch("/{link_id}")
def patch_entry_link(
    session: SessionDep, user: ApiAdmin, study: StudyDep, link_id: RowId, body: LinkChange
) -> LinkOut:
    """Close a link to new people, or open it again."""
    act = links.close_link if body.closed else links.open_link
    link = act(session, study, link_id, actor_id=user.id)
    return _link(link, queries.people_of_links(session, study.id).get(link.id, 0))


def _link(link: EntryLink, people: int) -> LinkOut:
    copied = {name: getattr(link, name) for name in LinkOut.model_fields if name != "people"}
    return LinkOut(**copied, people=people)
