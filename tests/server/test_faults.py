"""A few faults under load; `python -m bench.faults` injects hundreds."""

from pathlib import Path

import pytest

from bench.faults.run import Plan, run
from tests.threads import in_thread


@pytest.mark.server
def test_nothing_acknowledged_is_lost_doubled_changed_or_invented(
    database_url: str, tmp_path: Path
) -> None:
    plan = Plan(faults=6, people=4, queries=1, documents=20, between=0.1, imports=False)
    outcome = in_thread(run, database_url, tmp_path, plan)
    assert outcome.verdict.violations() == {}
    assert outcome.stuck == []
    assert outcome.verdict.acknowledged > 0
