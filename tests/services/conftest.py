"""Fixtures of services: a study that people have judged."""

import pytest

from tests.exporting import make_judged_study
from topkapi.app.db.engine import Sessions


@pytest.fixture
def judged(sessions: Sessions) -> Sessions:
    """Store a judged study; return the database."""
    with sessions.write.begin() as session:
        make_judged_study(session)
    return sessions
