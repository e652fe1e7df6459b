"""Fixtures of pages and API: people who are signed in."""

from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from tests.exporting import make_judged_study
from tests.factories import Enter, make_user, sign_in, token_headers
from tests.judging import Job, make_job
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import User
from topkapi.app.domain.enums import Role


@pytest.fixture
def enter(app: FastAPI, client: httpx.Client, sessions: Sessions) -> Enter:
    """Return a function that creates a person and signs them in."""

    def enter_as(**person: Any) -> User:
        with sessions.write.begin() as session:
            user = make_user(session, **person)
        sign_in(app, client, user)
        return user

    return enter_as


@pytest.fixture
def headers(sessions: Sessions, enter: Enter) -> dict[str, str]:
    """Return a token of a researcher of a judged study; the same person is signed in by cookie."""
    with sessions.write.begin() as session:
        make_judged_study(session)
    user = enter(role=Role.RESEARCHER)
    with sessions.write.begin() as session:
        return token_headers(session, user)


@pytest.fixture
def job(sessions: Sessions, enter: Enter) -> Job:
    """Return work of four pages of the person who is signed in."""
    user = enter()
    with sessions.write.begin() as session:
        return make_job(session, user=user, documents=4)
