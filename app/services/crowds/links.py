"""Entry links: create, close and open again. Every action is recorded in the audit log."""

import re
import secrets
from dataclasses import dataclass, fields
from datetime import datetime
from hashlib import sha256
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from topkapi.app.db.base import now
from topkapi.app.db.models import EntryLink, Study
from topkapi.app.db.queries import crowds as queries
from topkapi.app.domain.crowds import Platform, checked_redirect
from topkapi.app.domain.errors import BadToken, Invalid, NotFound
from topkapi.app.services import audit
from topkapi.app.services.accounts.tokens import hash_token
from topkapi.app.services.assignments.rotation import refuse_archived
from topkapi.app.services.crowds.entering import people_needed, people_of_links

MOST_PEOPLE, MOST_SHARE, MOST_ROUNDS = 100_000, 1_000, 1_000
LONGEST_CONSENT, LONGEST_CODE = 50_000, 100
_PLACEHOLDER = re.compile(r"\[[A-Z][A-Z ,-]+\](?!\()")  # of the text that the form proposes
_GONE = (
    "This link is not valid, or the study no longer takes people. "
    "Return to the platform's page; nothing was stored."
)


@dataclass(frozen=True, slots=True)
class LinkRecord:
    """An entry link and the number of people who hold a place; it is closed from `closed_at` on.

    At least `needed` more people are needed for the work that is left.
    """

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
    needed: int
    created_at: datetime
    closed_at: datetime | None

    @property
    def falls_short(self) -> bool:
        """Whether fewer people are let in than the work needs."""
        return self.most_people is not None and self.people + self.needed > self.most_people


def links_of(session: Session, study: Study) -> list[LinkRecord]:
    """Return the entry links of a study, newest first."""
    return [record_of(session, study, link) for link in queries.links_of_study(session, study.id)]


def record_of(session: Session, study: Study, link: EntryLink) -> LinkRecord:
    """Copy a link, and count its people."""
    people = people_of_links(session, study.id).get(link.id, 0)
    known: dict[str, Any] = {"people": people, "needed": people_needed(session, link, study)}
    for field in fields(LinkRecord):
        known.setdefault(field.name, getattr(link, field.name, None))
    return LinkRecord(**known)


def create_link(
    session: Session, study: Study, link: EntryLink, *, actor_id: int | None = None
) -> str:
    """Check and store a new link and return its token, which cannot be returned again.

    At the end people get the link's ``code``, or a button that leads to its ``redirect_url``.
    """
    refuse_archived(study)
    _refuse_numbers(link)
    link.consent = _checked_consent(link.consent)
    link.consent_digest = sha256(link.consent.encode()).hexdigest()
    link.code, link.redirect_url = _checked_end(link)
    link.screen_out = _checked_screen_out(link)
    token = secrets.token_urlsafe(32)
    link.study_id, link.token_hash = study.id, hash_token(token)
    session.add(link)
    session.flush()
    _record(session, study, "entry_link.create", link, actor_id)
    return token


def set_closed(
    session: Session, study: Study, link_id: int, *, closed: bool, actor_id: int | None = None
) -> LinkRecord:
    """Close a link, or open it again.

    Nobody new comes in by a closed link; people who have begun can return and finish.
    """
    link = _link_of(session, study, link_id)
    if (link.closed_at is not None) is not closed:
        link.closed_at = now() if closed else None
        action = "entry_link.close" if closed else "entry_link.open"
        _record(session, study, action, link, actor_id)
    return record_of(session, study, link)


def link_of_token(session: Session, token: str) -> EntryLink:
    """Return the link of a token with its study, or raise `BadToken`."""
    statement = select(EntryLink).options(joinedload(EntryLink.study))
    link = session.scalar(statement.where(EntryLink.token_hash == hash_token(token)))
    if link is None or link.study is None or link.study.archived_at is not None:
        raise BadToken(_GONE)
    return link


def _link_of(session: Session, study: Study, link_id: int) -> EntryLink:
    link = session.get(EntryLink, link_id)
    if link is None or link.study_id != study.id:
        raise NotFound(f"There is no entry link {link_id} in {study.slug!r}.")
    return link


def _refuse_numbers(link: EntryLink) -> None:
    for name, value, most in (
        ("most_people", link.most_people, MOST_PEOPLE),
        ("share", link.share, MOST_SHARE),
        ("rounds", link.rounds, MOST_ROUNDS),
    ):
        if value is not None and not 1 <= value <= most:
            raise Invalid(f"Enter a number from 1 to {most}.", field=name)


def _checked_consent(text: str) -> str:
    text = text.replace("\r\n", "\n").strip()
    if not 1 <= len(text) <= LONGEST_CONSENT:
        raise Invalid(
            f"Enter the consent text, at most {LONGEST_CONSENT:,} characters.",
            field="consent",
        )
    left = _PLACEHOLDER.search(text)
    if left is not None:
        raise Invalid(f"Replace {left[0]} in the text.", field="consent")
    return text


def _checked_end(link: EntryLink) -> tuple[str, str]:
    code, url = link.code.strip(), link.redirect_url.strip()
    if bool(code) == bool(url):
        raise Invalid("Enter a completion code or a redirect address, not both.", field="code")
    if len(code) > LONGEST_CODE or not code.isprintable():
        raise Invalid(f"Enter a code of at most {LONGEST_CODE} characters.", field="code")
    return code, checked_redirect(url) if url else ""


def _checked_screen_out(link: EntryLink) -> str:
    end = link.screen_out.strip()
    if "://" in end:
        return checked_redirect(end, field="screen_out")
    if len(end) > LONGEST_CODE or not end.isprintable():
        raise Invalid(f"Enter a code of at most {LONGEST_CODE} characters.", field="screen_out")
    return end


def _record(
    session: Session, study: Study, action: str, link: EntryLink, actor_id: int | None
) -> None:
    audit.record(
        session,
        actor_id,
        action,
        study.slug,
        link=link.id,
        platform=link.platform.value,
        consent=link.consent_digest[:12],
    )
