"""Tests that the digest of a plan is the same after a round trip through the database."""

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.factories import make_assignment
from topkapi.app.db.models import Assignment
from topkapi.app.domain.plan_digest import plan_digest

numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.thorough
@settings(max_examples=25)
@given(plans=st.lists(st.dictionaries(texts, values, max_size=4), min_size=1, max_size=5))
def test_the_digest_survives_the_database(session: Session, plans: list[dict[str, Any]]) -> None:
    made = [make_assignment(session) for _ in plans]
    for assignment, plan in zip(made, plans, strict=True):
        assignment.plan = plan
    session.flush()
    session.expire_all()
    for assignment, plan in zip(made, plans, strict=True):
        stored = session.scalars(select(Assignment.plan).where(Assignment.id == assignment.id))
        assert plan_digest(stored.one()) == plan_digest(plan)
    session.rollback()


@given(plan=st.dictionaries(texts, values, max_size=4), other=st.dictionaries(texts, values))
def test_it_tells_plans_apart(plan: dict[str, Any], other: dict[str, Any]) -> None:
    assume(plan != other)
    assert plan_digest(plan) != plan_digest(other)


def test_it_is_stored_when_an_assignment_is_made(session: Session) -> None:
    made = make_assignment(session, check_share=1.0)
    assert made.plan_digest == plan_digest(made.plan)
    assert made.plan_digest == plan_digest({**made.plan, "check_share": 1})
