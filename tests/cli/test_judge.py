"""`topkapi judge`: estimated, killed and continued."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import select

from tests.chat_endpoint import ChatEndpoint, Fault, serving_chat
from tests.processes import running
from tests.ranked import make_ranked_study
from tests.waiting import until
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, Job, JudgmentRow, MachineCall
from topkapi.app.services.jobs.store import expire_leases

COMMAND = (sys.executable, "-c", "from topkapi.app.cli import main; main()", "judge", "ranked")
pytestmark = pytest.mark.both


@pytest.mark.thorough
def test_a_killed_run_is_continued_by_the_same_command(
    sessions: Sessions, database_url: str, tmp_path: Path
) -> None:
    with sessions.write.begin() as session:
        make_ranked_study(session, slug="ranked", queries=2, documents=6)
    slow = Fault(429, "wait", {"Retry-After": "0.05"})
    # Fewer than the tries of one call, which might meet all of them
    endpoint = ChatEndpoint(faults={2: slow, 5: slow, 9: slow, 14: slow, 20: slow}.get)
    key = tmp_path / "key"
    key.write_text(endpoint.key + "\n")
    environment = {**os.environ, "TOPKAPI_DATABASE_URL": database_url}
    with serving_chat(endpoint):
        arguments = [
            *("--model", "fake", "--endpoint", endpoint.address, "--key-file", str(key)),
            *("--tool", "pairs", "--tool", "lists", "--interval", "0.02", "--json"),
        ]
        dry = subprocess.run(
            [*COMMAND, *arguments, "--dry-run"], env=environment, check=True, capture_output=True
        )
        assert json.loads(dry.stdout)["assignments"] == 4
        assert endpoint.requests == 0
        killed_at = len(endpoint.paid)
        with running([*COMMAND, *arguments], env=environment):
            until(lambda: len(endpoint.paid) >= killed_at + 6, "six answers")
        with sessions.write.begin() as session:
            expire_leases(session, session.scalars(select(Job.worker)).one() or "")
        ended = subprocess.run(
            [*COMMAND, *arguments], env=environment, check=True, capture_output=True
        )
    result = json.loads(ended.stdout)
    assert result["without_answer"] == 0
    with sessions.read() as session:
        assert not session.scalars(
            select(Assignment.id).where(Assignment.finished_at.is_(None))
        ).all()
        asked = session.scalars(select(MachineCall.requests)).all()
        assert len(session.scalars(select(JudgmentRow.id)).all()) > 6
    assert sum(asked) - len(asked) <= 4, "only what was in transit, of four at a time"
    assert endpoint.key.encode() not in ended.stdout + ended.stderr
    assert max(endpoint.paid.values()) <= 2
