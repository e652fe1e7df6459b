"""Texts to copy: invitations and reminders for selected people of a study."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Form
from pydantic import Field
from starlette.responses import Response

from topkapi.app.services.accounts import invitations as one_time
from topkapi.app.services.accounts.users import user_of_number
from topkapi.app.services.progress import messages
from topkapi.app.services.progress.messages import Addressee, Message
from topkapi.app.web.common.links import public_url
from topkapi.app.web.common.received import PersonId, Received
from topkapi.app.web.studies.visit import AdminVisit, StudyHead, Visit

router = APIRouter(prefix="/studies/{slug}/messages", include_in_schema=False)
_MOST = 500


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


@router.get("")
def get_messages(visit: AdminVisit) -> Response:
    """Show the people of the study; those with unfinished work are selected."""
    people = messages.addressees(visit.session, visit.study)
    chosen = frozenset(person.id for person in people if person.left)
    return visit.show(
        "progress/messages.html", MessagesView(visit.head("progress"), people, chosen)
    )


@router.post("")
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
