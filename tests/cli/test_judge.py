"""`topkapi judge`: estimated, killed and continued."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import select

from tests.chat_endpoint import ChatEndpoint, Fault, serving_chat
from tests.forking import Forked
from tests.live import FORKER
from tests.processes import running
from tests.ranked import make_ranked_study
from tests.waiting import until
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, Job, JudgmentRow, MachineCall
from topkapi.app.domain.enums import JobState
from topkapi.app.services.jobs.store import expire_leases

COMMAND = (sys.executable, "-c", "from topkapi.app.cli import main; main()", "judge", "ranked")
pytestmark = pytest.mark.both


@pytest.fixture(autouse=True)
def _study(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        make_ranked_study(session, slug="ranked", queries=2, documents=6)


@pytest.mark.thorough
def test_a_killed_run_is_continued_by_the_same_command(
    sessions: Sessions, database_url: str, tmp_path: Path
) -> None:
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
    again = sum(asked) - len(asked) - endpoint.requests + sum(endpoint.paid.values())
    assert again <= 4, "beside what failed, only what was in transit, of four at a time"
    assert endpoint.key.encode() not in ended.stdout + ended.stderr
    assert max(endpoint.paid.values()) <= 2


class Held:
    """Holds the request with a number until it is released."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.arrived, self.released = Event(), Event()

    def __call__(self, number: int) -> None:
        if number == self._number:
            self.arrived.set()
            self.released.wait()


def begun(endpoint: ChatEndpoint, database_url: str, log: Path, *more: str) -> Forked:
    """Start the command beside the test."""
    environment = {**os.environ, "TOPKAPI_DATABASE_URL": database_url}
    environment["TOPKAPI_MODEL_KEY"] = endpoint.key
    arguments = ["judge", "ranked", "--model", "fake", "--endpoint", endpoint.address, *more]
    return FORKER.start(arguments, environment, log)


@pytest.mark.thorough
def test_a_signal_stops_a_run_after_the_replies_in_transit_and_it_says_so(
    sessions: Sessions, database_url: str, tmp_path: Path
) -> None:
    held, log = Held(5), tmp_path / "log"
    endpoint = ChatEndpoint(faults=held)
    with serving_chat(endpoint):
        more = ("--concurrency", "1", "--timeout", "3600")
        process = begun(endpoint, database_url, log, *more)
        held.arrived.wait()
        process.terminate()
        until(lambda: "stopping; waiting for the replies" in log.read_text())
        held.released.set()
        assert process.wait() == 128 + signal.SIGTERM
        assert "stopped; all answers so far are stored" in log.read_text()
        with sessions.read() as session:
            job = session.scalars(select(Job)).one()
            assert (job.state, job.lease_until) == (JobState.STOPPED, None)
            assert [call.requests for call in session.scalars(select(MachineCall))] == [1] * 4
        assert endpoint.requests == 5


@pytest.mark.thorough
def test_the_job_of_a_killed_run_ends_when_another_begins(
    sessions: Sessions, database_url: str, tmp_path: Path
) -> None:
    held = Held(3)
    endpoint = ChatEndpoint(faults=held)
    with serving_chat(endpoint):
        killed = begun(endpoint, database_url, tmp_path / "killed")
        held.arrived.wait()
        killed.kill()
        killed.wait()
        held.released.set()
        with sessions.write.begin() as session:
            expire_leases(session, session.scalars(select(Job.worker)).one() or "")
        more = ("--most-requests", "1000")
        assert begun(endpoint, database_url, tmp_path / "log", *more).wait() == 0
    with sessions.read() as session:
        states = session.scalars(select(Job.state).order_by(Job.id)).all()
    assert states == [JobState.STOPPED, JobState.DONE]
