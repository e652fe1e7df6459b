"""The safety net for every statement: both databases refuse the same texts and numbers."""

import pytest
from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from tests.cases import each_case
from tests.factories import make_study, make_user
from topkapi.app.db.models import Study, User
from topkapi.app.domain.errors import Unstorable
from topkapi.app.domain.text.storable import fits_integer, problem_with, storable, unfit_character

UNFIT = ["a\0b", "\0", "é\0", "a\ud800b", "\udfff"]


@pytest.mark.parametrize("text", UNFIT)
def test_an_object_with_an_unfit_text_is_refused(session: Session, text: str) -> None:
    with pytest.raises(Unstorable, match=r"^name contains the character U\+"):
        make_user(session, name=text)


@each_case("text", UNFIT)
def test_statements_with_an_unfit_text_are_refused(session: Session, text: str) -> None:
    user = make_user(session)
    with pytest.raises(Unstorable, match=r"^email "):
        session.scalars(select(User).where(User.email == text)).all()
    with pytest.raises(Unstorable, match=r"^name "):
        session.execute(update(User).where(User.id == user.id).values(name=text))
    rows = [{"slug": "one", "name": "One"}, {"slug": text, "name": "Two"}]
    with pytest.raises(Unstorable, match=r"^slug "):
        session.execute(insert(Study), rows)
    with pytest.raises(Unstorable):
        session.scalars(insert(Study).returning(Study.id), rows).all()


@each_case("number", [2**63, -(2**63) - 1, 10**40])
def test_integers_beyond_64_bits_are_refused(session: Session, number: int) -> None:
    with pytest.raises(Unstorable, match=r"^id is too large; numbers"):
        session.scalars(select(User).where(User.id == number)).all()


@pytest.mark.parametrize("value", ["a\0b", ["\ud800"], {"\0": 1}, float("nan"), [float("inf")]])
def test_json_columns_refuse_the_same(session: Session, value: object) -> None:
    study = make_study(session)
    study.imported = {"name": value}
    with pytest.raises(Unstorable):
        session.flush()


def test_what_only_looks_unfit_is_stored(session: Session) -> None:
    text = "\\u0000 \\ud800 NaN Infinity \U0001f33f \ufffd"
    study = make_study(session)
    study.imported = {"name": text, "number": 2**63 - 1}
    study.name = text
    session.flush()
    session.expire_all()
    assert (study.name, (study.imported or {})["name"]) == (text, text)


def test_unfit_characters_are_found_and_replaced() -> None:
    assert [unfit_character(text) is None for text in UNFIT] == [False] * len(UNFIT)
    assert unfit_character("plain") is None
    assert unfit_character("é\U0001f33f") is None
    assert storable("a\0b\ud800c") == "a\ufffdb\ufffdc"
    assert fits_integer(-(2**63))
    assert not fits_integer(2**63)
    assert problem_with({"a": [1, "b", {"c": None}], "d": 1.5}) is None
