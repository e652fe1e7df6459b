"""A server that is killed again and again loses nothing and duplicates nothing."""

from collections.abc import Callable
from random import Random
from threading import Timer
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from tests.clients import connect
from tests.judging import Job, answer_to, make_job
from tests.live import LiveServer
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import JudgmentRow

JUDGMENTS = 150
KILLS = 5


class Script:
    """A reproducible sequence of answers, with an occasional undo or redo."""

    def __init__(self) -> None:
        self._random = Random(7)

    def next(self, state: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        draw = self._random.random()
        if draw < 0.05 and state["can_undo"]:
            return "undo", {"position": state["position"]}
        if draw < 0.08 and state["can_redo"]:
            return "redo", {"position": state["position"]}
        if state["state"] == "finished":
            return "undo", {"position": state["position"]}
        return "judgments", answer_to(state)


def log_of(sessions: Sessions, job: Job) -> list[tuple[Any, ...]]:
    """Return the log without times and row ids."""
    statement = select(
        JudgmentRow.position,
        JudgmentRow.entry,
        JudgmentRow.question_kind,
        JudgmentRow.left_id,
        JudgmentRow.right_id,
        JudgmentRow.answer,
    ).where(JudgmentRow.assignment_id == job.assignment_id)
    with sessions.read.begin() as session:
        return [tuple(row) for row in session.execute(statement.order_by(JudgmentRow.position))]


@pytest.mark.server
def test_the_log_of_a_killed_server_is_that_of_its_twin(
    database_url: str, sessions: Sessions, start_server: Callable[[str], LiveServer]
) -> None:
    with sessions.write.begin() as session:
        killed = make_job(session, documents=60, k=12)
        query_id = _query_of(session, killed)
        twin = make_job(session, query=query_id, k=12)
    server = start_server(database_url)
    end = _work(server, killed, Random(3), lambda: start_server(database_url))
    calm = _work(start_server(database_url), twin, None, None)
    assert log_of(sessions, killed) == log_of(sessions, twin)
    assert len(log_of(sessions, killed)) == JUDGMENTS
    assert end["question"] == calm["question"]
    assert end["position"] == calm["position"] == JUDGMENTS


def _query_of(session: Any, job: Job) -> Any:
    from topkapi.app.db.models import Assignment, Query

    assignment = session.get_one(Assignment, job.assignment_id)
    return session.get_one(Query, assignment.query_id)


def _work(
    server: LiveServer, job: Job, kills: Random | None, restart: Callable[[], LiveServer] | None
) -> dict[str, Any]:
    """Send the script; resend a request without a reply once a server is up."""
    script = Script()
    at = set(kills.sample(range(5, JUDGMENTS - 5), KILLS)) if kills else set()
    client = connect(base_url=server.url, headers=job.headers)
    state: dict[str, Any] = client.get(job.url).json()
    for number in range(JUDGMENTS):
        path, body = script.next(state)
        if number in at:
            assert kills is not None
            Timer(kills.random() * 0.012, server.process.kill).start()  # seconds: any moment
        while True:
            try:
                reply = client.post(f"{job.url}/{path}", json=body)
                break
            except httpx.TransportError:
                server = _revived(server, client, restart)
                at.remove(number)
        if number in at:  # the reply was quicker than the kill, which hits between two requests
            server = _revived(server, client, restart)
        assert reply.status_code == 200, reply.text
        state = reply.json()
    client.close()
    return state


def _revived(
    server: LiveServer, client: httpx.Client, restart: Callable[[], LiveServer] | None
) -> LiveServer:
    """Wait until the server is dead, and start another."""
    assert restart is not None
    server.process.wait()
    server = restart()
    client.base_url = httpx.URL(server.url)
    return server
