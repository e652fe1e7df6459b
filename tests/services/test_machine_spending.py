"""Caps of machine assessors: what is spent is counted, over all runs, before it is spent."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select

from tests.cases import each_case
from tests.chat_endpoint import ChatEndpoint, Fault, completion, serving_chat
from tests.services.test_machines import result_of, run, study_of, unfinished
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Job, MachineCall, MachineSpending, Study, User
from topkapi.app.domain.enums import JobState
from topkapi.app.domain.machines.spending import CapReached, Usage, money
from topkapi.app.services.jobs import judge, store
from topkapi.app.services.jobs.worker import Worker
from topkapi.app.services.machines import calls, judging
from topkapi.app.services.machines.terms import Terms

pytestmark = [pytest.mark.both, pytest.mark.thorough]
PRICES = {"price_in": 1000.0, "price_out": 1000.0}


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again at once."""
    monkeypatch.setattr(calls.Calls, "_wait", lambda _self, _seconds: None)


def spent_in(sessions: Sessions, machine: str = "fake") -> Usage:
    with sessions.read() as session:
        mine = select(MachineSpending).join(User).where(User.name == machine)
        return judging.spent_by(session.scalars(mine).one())


def billed(endpoint: ChatEndpoint) -> float:
    return endpoint.cost(*PRICES.values())


def test_a_cap_holds_over_all_runs_and_a_higher_one_continues(sessions: Sessions) -> None:
    slug = study_of(sessions)
    terms: dict[str, Any] = {**PRICES, "tools": ["grades"], "most_tokens": 50}
    with serving_chat(ChatEndpoint()) as endpoint:
        for concurrency in (1, 2, 1):
            job = run(sessions, slug, endpoint, **terms, most_cost=2.0, concurrency=concurrency)
            assert job.state is JobState.FAILED
        told = money(billed(endpoint))
        assert f"The machine has cost {told} in this study, over all runs, and the" in job.message
        assert "the cap is 2.00. Raise it to at least 2." in job.message
        assert 0.5 < billed(endpoint) <= 2
        result = result_of(run(sessions, slug, endpoint, **terms, most_cost=100.0))
    assert max(endpoint.paid.values()) == 1
    assert result["all_runs"]["requests"] == endpoint.requests > result["requests"]
    assert result["all_runs"]["cost"] == pytest.approx(billed(endpoint))
    with sessions.read() as session:
        assert unfinished(session) == []


@pytest.mark.parametrize("at_once", [1, 16])
def test_requests_in_transit_count_before_their_replies(sessions: Sessions, at_once: int) -> None:
    slug = study_of(sessions, queries=16)
    terms = {**PRICES, "tools": ["grades"], "most_tokens": 400, "concurrency": at_once}
    with serving_chat(ChatEndpoint(tokens=lambda _n, size: (size, 400))) as endpoint:
        job = run(sessions, slug, endpoint, **terms, most_cost=8.0)
    assert job.state is JobState.FAILED
    assert 6 < billed(endpoint) <= 8
    assert spent_in(sessions).requests == endpoint.requests


def test_two_runs_at_once_share_the_cap(sessions: Sessions) -> None:
    study_of(sessions, queries=6)
    with serving_chat(ChatEndpoint()) as endpoint:
        told = {"model": "fake", "endpoint": endpoint.address, "tools": ["pairs"], "most_cost": 5}
        workers = []
        for concurrency in (3, 4):
            terms = Terms.read({**told, **PRICES, "most_tokens": 10, "concurrency": concurrency})
            with sessions.write.begin() as session:
                study = session.scalars(select(Study)).one()
                number = store.queue_job(session, study, "judge", terms.as_json()).id
                worker = Worker(sessions, {"judge": lambda job: judge.run(job, endpoint.key)})
                held = store.take_job(session, worker.name, job_id=number)
            assert held is not None
            workers.append((worker, held))
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda each: each[0].run_taken(each[1]), workers))
    with sessions.read() as session:
        messages = session.scalars(select(Job.message)).all()
    assert all("Raise it" in message for message in messages), messages
    # A run ends when the other's requests in transit leave no room, so less may be spent.
    assert 0 < billed(endpoint) <= 5
    assert spent_in(sessions).requests == endpoint.requests
    assert max(endpoint.paid.values()) == 1


USELESS: dict[str, tuple[Fault, bool]] = {  # with whether the usage is reported
    "cut": (Fault(body=completion('{"answer": "A"', finish_reason="length")), True),
    "reasoning without an answer": (Fault(body=completion(None, finish_reason="length")), True),
    "broken": (Fault(body="{not json"), False),
    "no completion": (Fault(body=json.dumps({"choices": []})), False),
    "larger than a megabyte": (Fault(body=" " * 1_000_001), False),
    "other success": (Fault(202, "accepted"), False),
    "error": (Fault(500, "oops"), False),
    "time-out while headers come": (Fault(drip="HTTP/1.1 200 OK\r\nX: "), False),
    "time-out while the body comes": (
        Fault(drip="HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n"),
        False,
    ),
}


@pytest.mark.parametrize("name", USELESS)
def test_replies_that_cannot_be_used_are_counted(sessions: Sessions, name: str) -> None:
    slug = study_of(sessions)
    fault, reported = USELESS[name]
    terms = {"tools": ["grades"], "timeout": 0.5 if fault.drip else 60.0, "concurrency": 1}
    with serving_chat(ChatEndpoint(faults={3: fault, 6: fault}.get)) as endpoint:
        result = result_of(run(sessions, slug, endpoint, **terms, **PRICES))
    spent = spent_in(sessions)
    assert result["requests"] == spent.requests == endpoint.requests
    assert result["unreported"] == spent.unreported == (0 if reported else 2)
    assert (result["cost"] == pytest.approx(billed(endpoint))) == reported
    assert result["cost"] >= billed(endpoint) - 1e-9
    with sessions.read() as session:
        asked = session.scalars(select(MachineCall)).all()
        assert sum(call.requests for call in asked) == endpoint.requests - 1, "and the probe"
        assert sum(call.unreported for call in asked) == spent.unreported


@each_case(
    "usage",
    [None, {}, {"prompt_tokens": 0, "completion_tokens": 0}, {"prompt_tokens": 9}, "many", [1]],
)
def test_replies_without_usage_cost_the_upper_bound_and_the_run_says_so(
    sessions: Sessions, usage: Any
) -> None:
    name = f"fake {usage}"
    slug = study_of(sessions, slug=name)
    body = {**json.loads(completion('{"answer": "1", "confidence": 80}')), "usage": usage}
    none = Fault(body=json.dumps(body))
    with serving_chat(ChatEndpoint(faults=lambda n: none if n > 1 else None)) as endpoint:
        terms = {**PRICES, "tools": ["grades"], "most_tokens": 100, "most_cost": 3, "name": name}
        job = run(sessions, slug, endpoint, **terms, concurrency=1)
    spent = spent_in(sessions, name)
    assert (spent.requests, spent.unreported) == (endpoint.requests, endpoint.requests - 1)
    assert spent.tokens_out == 100 * spent.unreported + 5
    assert f"without reported usage, at their upper bound: {spent.unreported:,})" in job.message


def test_hidden_reasoning_is_counted(sessions: Sessions) -> None:
    slug = study_of(sessions)
    body = json.loads(completion('{"answer": "1", "confidence": 80}'))
    body["usage"] = {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 905}
    thought = Fault(body=json.dumps(body))
    with serving_chat(ChatEndpoint(faults=lambda n: thought if n > 1 else None)) as endpoint:
        run(sessions, slug, endpoint, tools=["grades"])
    assert spent_in(sessions).tokens_out == 805 * (endpoint.requests - 1) + 5


def test_what_was_never_sent_or_was_refused_costs_nothing(sessions: Sessions) -> None:
    slug = study_of(sessions)
    refuses = ("max_completion_tokens", "json_schema")
    limited = Fault(429, "slow down")
    with serving_chat(ChatEndpoint(refuses=refuses, faults={9: limited}.get)) as endpoint:
        result_of(run(sessions, slug, endpoint, tools=["grades"], **PRICES))
    spent = spent_in(sessions)
    assert (spent.requests, spent.unreported) == (endpoint.requests, 0)
    assert spent.tokens_in == 100 * len(endpoint.billed) == 100 * (endpoint.requests - 3)
    job = run(sessions, slug, endpoint, tools=["pairs"])  # it is closed
    assert "ConnectError" in job.message
    assert spent_in(sessions) == spent


def test_a_cost_is_not_capped_where_replies_have_no_limit(sessions: Sessions) -> None:
    slug = study_of(sessions)
    refuses = ("max_completion_tokens", "max_tokens")
    with serving_chat(ChatEndpoint(refuses=refuses)) as endpoint:
        job = run(sessions, slug, endpoint, tools=["grades"], **PRICES, most_cost=1000)
        assert "accepts no limit on the tokens" in job.message
        result_of(run(sessions, slug, endpoint, tools=["grades"], most_requests=1000))


def test_an_estimate_learns_from_the_calls_of_the_machine(sessions: Sessions) -> None:
    slug = study_of(sessions, queries=4)
    told: dict[str, Any] = {"model": "fake", "tools": ["grades"], "rounds": 1, **PRICES}

    def estimated(**terms: Any) -> judging.Estimate:
        with sessions.write() as session:
            study = session.scalars(select(Study)).one()
            found = judging.estimate(session, study, Terms.read({**told, **terms}))
            session.rollback()
        return found

    with serving_chat(ChatEndpoint(tokens=lambda _number, _size: (300, 900))) as endpoint:
        told["endpoint"] = endpoint.address
        assert estimated().tokens_out == 20 * estimated().requests
        run(sessions, slug, endpoint, tools=["grades"], **PRICES, most_cost=12.0)
        found = estimated()
        assert (found.tokens_in, found.tokens_out) == (300 * found.requests, 900 * found.requests)
        assert found.so_far == spent_in(sessions)
        assert found.cost_so_far == pytest.approx(billed(endpoint))
        pairs = estimated(tools=["pairs"])
        assert pairs.tokens_out == 900 * pairs.requests, "replies are as long with another tool"
    with pytest.raises(CapReached, match=r"has cost 1\d\.\d+ in this study, .* Raise it"):
        judging.refuse_over_cap(found, Terms.read({**told, "most_cost": 12.0}))
    with pytest.raises(CapReached, match=r"has made \d+ requests .* Raise it to at"):
        judging.refuse_over_cap(found, Terms.read({**told, "most_requests": 12}))
