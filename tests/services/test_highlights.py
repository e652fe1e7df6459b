"""Tests of the highlighted terms of a person on a query."""

from typing import Any

import pytest
from sqlalchemy.orm import Session

from tests.factories import make_study, make_user, queries_of
from topkapi.app.db.models import Query, User
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.judging.highlights import add_term, remove_term, terms_for


@pytest.fixture
def who(session: Session) -> tuple[User, Query]:
    return make_user(session), queries_of(session, make_study(session))[0]


def test_they_are_the_query_s_own_until_changed(session: Session, who: tuple[User, Query]) -> None:
    user, query = who
    about: dict[str, Any] = {"user_id": user.id, "query_id": query.id, "query": query.text}
    own = terms_for(session, **about)
    assert "tulips" in own
    assert add_term(session, **about, term="vase") == (*own, "vase")
    assert remove_term(session, **about, term="Tulips")[0] != "tulips"
    session.expire_all()
    assert terms_for(session, **about) == (*(term for term in own if term != "tulips"), "vase")


def test_they_are_each_person_s_own(session: Session, who: tuple[User, Query]) -> None:
    user, query = who
    other = make_user(session)
    add_term(session, user_id=user.id, query_id=query.id, query=query.text, term="vase")
    mine = terms_for(session, user_id=other.id, query_id=query.id, query=query.text)
    assert "vase" not in mine


def test_a_term_that_cannot_be_changes_nothing(session: Session, who: tuple[User, Query]) -> None:
    user, query = who
    about: dict[str, Any] = {"user_id": user.id, "query_id": query.id, "query": query.text}
    with pytest.raises(Invalid):
        add_term(session, **about, term=" ")
    assert "tulips" in terms_for(session, **about)
