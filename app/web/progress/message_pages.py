"""Texts to copy: invitations and reminders for selected people of a study."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request
from pydantic import Field
from sqlalchemy.orm import Session
from starlette.responses import Response

from topkapi.app.db.models import User
from topkapi.app.services.accounts import invitations as one_time
from topkapi.app.services.accounts.users import user_of_number
from topkapi.app.services.progress import messages
from topkapi.app.services.progress.messages import Addressee, Message
from topkapi.app.web.access.deps import AdminUser, SessionDep, StudyDep
from topkapi.app.web.common.links import public_url
from topkapi.app.web.common.received import PersonId, Received
from topkapi.app.web.common.templates import render
from topkapi.app.web.studies.pages import study_head
from topkapi.app.web.studies.views import StudyHead

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
def get_messages(
    request: Request, session: SessionDep, user: AdminUser, study: StudyDep
) -> Response:
    """Show the people of the study; those with unfinished work are selected."""
    people = messages.addressees(session, study)
    chosen = frozenset(person.id for person in people if person.left)
    head = study_head(session, study, user, "progress")
    return render(request, "progress/messages.html", MessagesView(head, people, chosen))


@router.post("")
def post_messages(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    study: StudyDep,
    form: Annotated[MessagesForm, Form()],
) -> Response:
    """Write the texts; an invitation creates a one-time link for people without a password."""
    people = messages.addressees(session, study)
    chosen = [person for person in people if person.id in set(form.people)]
    url = public_url(request, str(request.app.url_path_for("get_queue")))
    if form.kind == "invite":
        links = _links(request, session, user, chosen)
        texts = messages.invitations(study.name, chosen, links, url)
    else:
        texts = messages.reminders(study.name, chosen, url)
    many = len(chosen) > 1 and form.kind == "remind"
    view = MessagesView(
        head=study_head(session, study, user, "progress"),
        people=people,
        chosen=frozenset(person.id for person in chosen),
        texts=texts,
        to_all=messages.to_all(study.name, chosen, url) if many else None,
        nobody=not chosen,
    )
    return render(request, "progress/messages.html", view, status=200 if chosen else 422)


def _links(
    request: Request, session: Session, user: User, people: Sequence[Addressee]
) -> dict[int, str]:
    links = {}
    for person in people:
        if not person.has_password:
            row = user_of_number(session, person.id)
            token = one_time.new_link(session, row, actor_id=user.id)
            path = str(request.app.url_path_for("get_invitation", token=token))
            links[person.id] = public_url(request, path)
    return links
