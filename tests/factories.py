"""Factories of rows. Each adds to the session and flushes; the caller commits."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx
from fastapi import FastAPI
from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import (
    Assignment,
    Candidate,
    Content,
    Document,
    Query,
    Study,
    StudyAccess,
    User,
)
from topkapi.app.db.models.document import content_hash
from topkapi.app.domain.draws import shuffled
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.importing.records.contents import content_row

if TYPE_CHECKING:
    from topkapi.app.services.accounts.sign_in import Authenticator

PASSWORD = "a long enough password"
_NUMBERS = itertools.count(1)
BOTH = (Tool.PAIRS, Tool.GRADES)
Enter = Callable[..., User]  # takes what `make_user` takes


def make_user(
    session: Session,
    *,
    role: Role = Role.ASSESSOR,
    email: str | None = None,
    name: str = "Ansa Lehto",
    password: str | None = None,
    demo: bool = False,
    reads: bool = True,
) -> User:
    """Create a person; without a password only `sign_in` can sign them in.

    A researcher may read every study there is, unless not ``reads``, and all that `make_study`
    makes later.
    """
    from topkapi.app.services.accounts.passwords import hash_password

    user = User(
        email=email or f"person{next(_NUMBERS)}@example.org",
        name=name,
        role=role,
        demo=demo,
        password_hash=hash_password(password) if password else None,
    )
    session.add(user)
    session.flush()
    if role is Role.RESEARCHER and reads:
        _let_read(session, [user], session.scalars(select(Study)).all())
    return user


def make_people(session: Session, *names: str) -> list[int]:
    """Create an assessor of each name, whose e-mail begins with it; return their ids."""
    return [make_user(session, name=name, email=f"{name.lower()}@x.example").id for name in names]


def _let_read(session: Session, people: Sequence[User], studies: Sequence[Study]) -> None:
    session.add_all(
        StudyAccess(user_id=user.id, study_id=study.id) for user in people for study in studies
    )
    session.flush()


@contextmanager
def authenticator_on(sessions: Sessions) -> "Iterator[Authenticator]":
    """Provide an authenticator, which hashes passwords in a separate process."""
    from topkapi.app.services.accounts.sign_in import Authenticator
    from topkapi.app.services.accounts.totp import Codes
    from topkapi.app.services.late_writes import LateWrites

    late = LateWrites(sessions)
    yield Authenticator(sessions, late, Codes("secret"))
    late.close()


def make_content(session: Session, text: str, media_type: str = "text/plain") -> Content:
    """Create content with its plain text, stored once."""
    made = _content(text, media_type)
    found = session.get(Content, made.hash)
    if found is None:
        found = made
        session.add(found)
        session.flush()
    return found


def _content(text: str, media_type: str = "text/plain") -> Content:
    data = text.encode()
    return Content(**content_row(media_type, data, content_hash(media_type, data)))


def make_study(
    session: Session,
    *,
    slug: str | None = None,
    queries: int = 1,
    documents: int = 6,
    **settings: Any,
) -> Study:
    """Create a study in which each query has its own candidates, with distinct plain texts."""
    slug = slug or f"study-{next(_NUMBERS)}"
    study = Study(slug=slug, name=f"Study {slug}", guidelines="Prefer the page that helps.")
    study.settings = StudySettings(**settings)
    session.add(study)
    session.flush()
    researchers = select(User).where(User.role == Role.RESEARCHER)
    _let_read(session, session.scalars(researchers).all(), [study])
    asked = [_query(study, number) for number in range(queries)]
    session.add_all(asked)
    pages = [[f"{query.external_id}-d{index}" for index in range(documents)] for query in asked]
    found = _make_documents(session, study, pages)
    session.add_all(
        Candidate(query_id=query.id, document_id=document.id, position=index)
        for query, mine in zip(asked, found, strict=True)
        for index, document in enumerate(mine)
    )
    session.flush()
    return study


def _query(study: Study, number: int) -> Query:
    return Query(
        study_id=study.id,
        external_id=f"q{number}",
        text=f"how to keep cut tulips upright {number}",
        description="Someone has a vase of tulips on the table.",
        position=number,
    )


def _make_documents(
    session: Session, study: Study, names: Sequence[Sequence[str]]
) -> list[list[Document]]:
    """Create a document per name, with a text of its own, in as few statements as possible."""
    texts = {
        name: f"Page {name} of {study.slug}. Water, cut, wrap, wait."
        for many in names
        for name in many
    }
    made = {name: _content(text) for name, text in texts.items()}
    session.add_all(made.values())
    found = [
        [
            Document(
                study_id=study.id,
                external_id=name,
                title=f"Page {index}",
                url=f"https://pages.example/{name}",
                content_hash=made[name].hash,
            )
            for index, name in enumerate(many)
        ]
        for many in names
    ]
    session.flush()
    session.add_all(itertools.chain.from_iterable(found))
    session.flush()
    return found


def queries_of(session: Session, study: Study) -> Sequence[Query]:
    """Return the study's queries in order."""
    statement = select(Query).where(Query.study_id == study.id).order_by(Query.position)
    return session.scalars(statement).all()


def make_assignment(
    session: Session,
    *,
    user: User | None = None,
    query: Query | None = None,
    tool: Tool = Tool.PAIRS,
    round: int = 0,
    k: int = 3,
    seed: str = "seed",
    **plan: object,
) -> Assignment:
    """Create an assignment of ``query`` (of a new study) to ``user`` (a new assessor), ready to
    replay.
    """
    user = user or make_user(session)
    query = query or queries_of(session, make_study(session))[0]
    statement = select(Candidate.document_id).where(Candidate.query_id == query.id)
    documents = session.scalars(statement.order_by(Candidate.position)).all()
    assignment = Assignment(
        user_id=user.id,
        query_id=query.id,
        tool=tool,
        round=round,
        plan={
            "order": shuffled(documents, seed, "order"),
            "k": k,
            "sorter": "heap",
            "sorter_version": 1,
            "allow_ties": True,
            "allow_bad": True,
            "reuse_answers": True,
            "infer_transitive": False,
            "recheck": 0,
            "best_of": 1,
            "check_share": 0.0,
            "seed": seed,
            **plan,
        },
    )
    session.add(assignment)
    session.flush()
    return assignment


def token_headers(session: Session, user: User) -> dict[str, str]:
    """Give ``user`` a token, and return the headers that send it."""
    from topkapi.app.services.accounts.tokens import issue_token

    return {"Authorization": f"Bearer {issue_token(session, user, 'test')[1]}"}


def sign_in(app: FastAPI, client: httpx.Client, user: User) -> None:
    """Set on ``client`` the session cookie of ``user`` and the CSRF header for writes."""
    from topkapi.app.web.common.cookies import CSRF_HEADER, SESSION_COOKIE, Cookies

    cookies: Cookies = app.state.cookies
    nonce = f"nonce-{next(_NUMBERS)}"
    token = cookies.session_token(user, nonce)
    client.cookies.set(SESSION_COOKIE, token, domain="localhost.local")
    client.headers[CSRF_HEADER] = cookies.csrf_token(nonce)


def work_on(session: Session, study: Study, user: User, index: int, **sums: object) -> Assignment:
    """Create an assignment of a query of the study, with these columns."""
    row = make_assignment(session, user=user, query=queries_of(session, study)[index])
    for name, value in sums.items():
        setattr(row, name, value)
    session.flush()
    return row
