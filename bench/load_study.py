"""A study for load tests: queries with HTML pages of a given size, and people with assignments."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from sqlalchemy.orm import Session

from tests.factories import make_assignment, make_content, make_user
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Candidate, Document, Query, Study
from topkapi.app.installation.secret import load_secret
from topkapi.app.services.accounts import tokens
from topkapi.app.web.common.cookies import Cookies

_SENTENCE = "Cut tulips keep upright in a tall vase with little cold water, wrapped for an hour. "


@dataclass(frozen=True, slots=True)
class Person:
    """An assessor of the benchmark: assignments, and both ways to sign in."""

    assignments: Sequence[int]
    token: str
    cookie: str
    csrf: str


def make_people(
    sessions: Sessions, folder: Path, count: int, *, page_bytes: int, queries: int = 4
) -> list[Person]:
    """Create a study of queries with 50 pages each, and ``count`` people who judge all of them."""
    cookies = Cookies(
        load_secret(folder / "topkapi.secret"), lifetime=timedelta(days=1), secure=False
    )
    with sessions.write.begin() as session:
        study = Study(slug="load", name="Load", guidelines="Prefer the page that helps.")
        session.add(study)
        session.flush()
        made = [_query(session, study, number, page_bytes) for number in range(queries)]
        return [_person(session, cookies, made, number) for number in range(count)]


def _person(session: Session, cookies: Cookies, queries: Sequence[Query], number: int) -> Person:
    user = make_user(session)
    turned = [*queries[number % len(queries) :], *queries[: number % len(queries)]]
    work = [make_assignment(session, user=user, query=q, k=10, seed=user.email) for q in turned]
    _, token = tokens.issue_token(session, user, "load")
    cookie = cookies.session_token(user, user.email)
    return Person([each.id for each in work], token, cookie, cookies.csrf_token(user.email))


def _query(session: Session, study: Study, number: int, page_bytes: int) -> Query:
    query = Query(
        study_id=study.id,
        external_id=f"q{number}",
        text=f"how to keep cut tulips upright {number}",
        description="Someone has a vase of tulips on the table.",
        position=number,
    )
    session.add(query)
    session.flush()
    for index in range(50):
        name = f"q{number}-d{index}"
        content = make_content(session, _page(name, page_bytes), "text/html")
        document = Document(
            study_id=study.id, external_id=name, title=name, url="", content_hash=content.hash
        )
        session.add(document)
        session.flush()
        session.add(Candidate(query_id=query.id, document_id=document.id, position=index))
    return query


def _page(name: str, size: int) -> str:
    paragraphs = (f"<p>{_SENTENCE * 4}</p>\n" * (size // (4 * len(_SENTENCE)) + 1))[:size]
    return f"<!doctype html><title>{name}</title><h1>{name}</h1>{paragraphs}"
