"""Entry links: create, close and open again. Every action is recorded in the audit log."""

import secrets
from dataclasses import dataclass
from hashlib import sha256

from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.models import EntryLink, Study
from topkapi.app.db.queries import crowds as queries
from topkapi.app.domain.crowds import Platform, checked_redirect
from topkapi.app.domain.errors import BadToken, Conflict, Invalid, NotFound
from topkapi.app.services import audit
from topkapi.app.services.accounts.tokens import hash_token

MOST_PEOPLE, MOST_SHARE, MOST_ROUNDS = 100_000, 1_000, 1_000
LONGEST_CONSENT, LONGEST_CODE = 50_000, 100
_GONE = (
    "This link is not valid, or the study no longer takes people. "
    "Return to the platform's page; nothing was stored."
)


@dataclass(frozen=True, slots=True)
class LinkTerms:
    """What an entry link promises and demands.

    ``share`` is the number of queries per person, ``rounds`` how many people judge each query with
    each tool. At the end people get ``code``, or a button that leads to ``redirect_url``;
    ``screen_out`` is the code or address for people who do not qualify or lose their work.
    """

    platform: Platform
    consent: str
    code: str = ""
    redirect_url: str = ""
    most_people: int | None = None
    share: int = 1
    rounds: int = 1
    screen_out: str = ""


def create_link(
    session: Session, study: Study, terms: LinkTerms, *, actor_id: int | None = None
) -> tuple[EntryLink, str]:
    """Create a link and return it with its token, which cannot be returned again."""
    if study.archived_at is not None:
        raise Conflict(f"The study {study.slug!r} is archived; unarchive it first.")
    _refuse_numbers(terms)
    consent = _checked_consent(terms.consent)
    code, redirect_url = _checked_end(terms)
    token = secrets.token_urlsafe(32)
    link = EntryLink(
        study_id=study.id,
        token_hash=hash_token(token),
        platform=terms.platform,
        consent=consent,
        consent_digest=sha256(consent.encode()).hexdigest(),
        code=code,
        redirect_url=redirect_url,
        screen_out=_checked_screen_out(terms),
        most_people=terms.most_people,
        share=terms.share,
        rounds=terms.rounds,
    )
    session.add(link)
    session.flush()
    _record(session, study, "entry_link.create", link, actor_id)
    return link, token


def close_link(
    session: Session, study: Study, link_id: int, *, actor_id: int | None = None
) -> EntryLink:
    """Close a link: nobody new comes in; people who have begun can return and finish."""
    link = _link_of(session, study, link_id)
    if link.closed_at is None:
        link.closed_at = now()
        _record(session, study, "entry_link.close", link, actor_id)
    return link


def open_link(
    session: Session, study: Study, link_id: int, *, actor_id: int | None = None
) -> EntryLink:
    """Open a closed link again."""
    link = _link_of(session, study, link_id)
    if link.closed_at is not None:
        link.closed_at = None
        _record(session, study, "entry_link.open", link, actor_id)
    return link


def link_of_token(session: Session, token: str) -> EntryLink:
    """Return the link of a token with its study, or raise `BadToken`."""
    link = queries.link_of_hash(session, hash_token(token))
    if link is None or link.study is None or link.study.archived_at is not None:
        raise BadToken(_GONE)
    return link


def _link_of(session: Session, study: Study, link_id: int) -> EntryLink:
    link = session.get(EntryLink, link_id)
    if link is None or link.study_id != study.id:
        raise NotFound(f"There is no entry link {link_id} in {study.slug!r}.")
    return link


def _refuse_numbers(terms: LinkTerms) -> None:
    for name, value, most in (
        ("most_people", terms.most_people, MOST_PEOPLE),
        ("share", terms.share, MOST_SHARE),
        ("rounds", terms.rounds, MOST_ROUNDS),
    ):
        if value is not None and not 1 <= value <= most:
            raise Invalid(f"Enter a number from 1 to {most}.", field=name)


def _checked_consent(text: str) -> str:
    text = text.replace("\r\n", "\n").strip()
    if not 1 <= len(text) <= LONGEST_CONSENT:
        raise Invalid(
            f"Enter the text to which people agree, at most {LONGEST_CONSENT:,} characters.",
            field="consent",
        )
    return text


def _checked_end(terms: LinkTerms) -> tuple[str, str]:
    code, url = terms.code.strip(), terms.redirect_url.strip()
    if bool(code) == bool(url):
        raise Invalid("Enter a completion code or a redirect address, not both.", field="code")
    if len(code) > LONGEST_CODE or not code.isprintable():
        raise Invalid(f"Enter a code of at most {LONGEST_CODE} characters.", field="code")
    return code, checked_redirect(url) if url else ""


def _checked_screen_out(terms: LinkTerms) -> str:
    end = terms.screen_out.strip()
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
