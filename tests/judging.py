"""An assessor who judges through the API, for tests and benchmarks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
from sqlalchemy.orm import Session

from tests.factories import make_assignment, make_study, make_user, queries_of
from topkapi.app.db.models import Assignment, Query, User
from topkapi.app.services.accounts import tokens

Answers = Callable[[str, str], str]


@dataclass(frozen=True)
class Job:
    """An assignment in the API, and the token of its assessor."""

    assignment_id: int
    token: str

    @property
    def headers(self) -> dict[str, str]:
        """Headers of every request."""
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def url(self) -> str:
        """Address of the assignment."""
        return f"/api/v1/assignments/{self.assignment_id}"


def make_job(
    session: Session,
    *,
    documents: int = 8,
    query: Query | None = None,
    user: User | None = None,
    **plan: Any,
) -> Job:
    """Create an assessor with a token and one assignment."""
    user = user or make_user(session)
    query = query or queries_of(session, make_study(session, documents=documents))[0]
    return job_of(session, make_assignment(session, user=user, query=query, **plan))


def job_of(session: Session, assignment: Assignment) -> Job:
    """Give the assessor of an assignment a token."""
    user = session.get_one(User, assignment.user_id)
    return Job(assignment.id, tokens.issue_token(session, user, "test")[1])


def number_of(name: str) -> int:
    """Return a page's relevance in tests: the number in its name, scrambled."""
    return int(name.rsplit("d", 1)[1]) * 7919 % 1009


def prefer_greater(left: str, right: str) -> str:
    """Return the answer that prefers the page with the greater relevance."""
    return "left" if number_of(left) > number_of(right) else "right"


def answer_to(state: dict[str, Any], says: Answers = prefer_greater) -> dict[str, Any]:
    """Return the request body that answers the open question."""
    question = state["question"]
    left, right = question["left"]["id"], question["right"]["id"]
    return {
        "position": state["position"],
        "left": left,
        "right": right,
        "answer": says(left, right),
        "active_ms": 4000,
    }


def judge_to_the_end(
    client: httpx.Client, job: Job, says: Answers = prefer_greater
) -> dict[str, Any]:
    """Answer every question and return the final state."""
    state: dict[str, Any] = client.get(job.url, headers=job.headers).json()
    while state["state"] == "asking":
        reply = client.post(
            f"{job.url}/judgments", headers=job.headers, json=answer_to(state, says)
        )
        assert reply.status_code == 200, reply.text
        state = reply.json()
    return state
