"""A few hundred malformed requests; `python -m bench.malformed` sends thousands."""

import pytest

from bench.malformed import run
from tests.threads import in_thread

pytestmark = pytest.mark.both


def test_no_malformed_request_is_answered_with_a_500(database_url: str) -> None:
    outcome = in_thread(run, database_url, "short", 400)
    assert outcome.faults == {}
    assert {200, 303, 401, 403, 404, 405, 422} <= outcome.statuses.keys()
