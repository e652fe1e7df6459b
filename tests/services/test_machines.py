"""Machine assessors against an endpoint that fails in the usual ways, on both databases."""

import json
import logging
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from tests.cases import each_case
from tests.chat_endpoint import ChatEndpoint, Fault, completion, honest, serving_chat
from tests.ranked import make_ranked_study
from topkapi.app.db.base import Base, now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, Content, Job, JudgmentRow, MachineCall, Study, User
from topkapi.app.domain.enums import JobState, Tool
from topkapi.app.domain.errors import Conflict, Invalid
from topkapi.app.services.accounts.users import set_password
from topkapi.app.services.jobs import judge, store
from topkapi.app.services.jobs.worker import Worker
from topkapi.app.services.machines import calls, judging
from topkapi.app.services.machines.prompts import prompt_of, save_prompt
from topkapi.app.services.machines.terms import Terms
from topkapi.app.services.results.exports import ExportOptions, StudySource, open_export

pytestmark = pytest.mark.both
ALL = [tool.value for tool in Tool]


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again at once."""
    monkeypatch.setattr(calls.Calls, "_wait", lambda _self, _seconds: None)


def study_of(sessions: Sessions, **settings: Any) -> str:
    with sessions.write.begin() as session:
        study = make_ranked_study(session, **{"queries": 2, "documents": 6, **settings})
        return study.slug


def run(sessions: Sessions, slug: str, endpoint: ChatEndpoint, **terms: Any) -> Job:
    """Judge a study to its end; return the job with its result."""
    told = {"model": "fake", "endpoint": endpoint.address, "tools": ALL, "rounds": 6, **terms}
    parameters = Terms.read(told).as_json()
    with sessions.write.begin() as session:
        study = session.scalars(select(Study).where(Study.slug == slug)).one()
        job_id = store.queue_job(session, study, "judge", parameters).id
    Worker(sessions, {"judge": lambda job: judge.run(job, endpoint.key)}).run(until_empty=True)
    with sessions.read() as session:
        job = session.get_one(Job, job_id)
        assert isinstance(job.result, str | None)
        return job


def result_of(job: Job) -> dict[str, Any]:
    assert job.state is JobState.DONE, job.message
    result: dict[str, Any] = json.loads(job.result or "{}")
    return result


def logged(session: Session) -> list[tuple[str, str | None]]:
    statement = select(Assignment.tool, JudgmentRow.answer).join(Assignment)
    return [(tool.value, answer) for tool, answer in session.execute(statement)]


def unfinished(session: Session) -> list[int]:
    return list(session.scalars(select(Assignment.id).where(Assignment.finished_at.is_(None))))


def usual_faults(number: int) -> Fault | None:
    """Fail every other request, each time in another way."""
    faults: dict[int, Fault] = {
        1: Fault(429, "slow down", {"Retry-After": "2"}),
        3: Fault(500, "oops"),
        5: Fault(body="{not json"),
        7: Fault(body=json.dumps({"choices": []})),
        9: Fault(body=completion("I would rather not say")),
        11: Fault(body=completion(None, message={"refusal": "No."})),
        13: Fault(body=completion('{"answer": "A"', finish_reason="length")),
        15: Fault(body=completion('{"answer": "best", "confidence": 9}')),
        17: Fault(429, "slow down", {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
        19: Fault(503, ""),
    }
    return faults.get(number % 20) if number > 4 else None


@pytest.mark.thorough
def test_a_study_is_judged_to_its_end_whatever_the_endpoint_does(
    sessions: Sessions, caplog: pytest.LogCaptureFixture
) -> None:
    slug = study_of(sessions)
    refuses = ("max_completion_tokens", "json_schema")
    with (
        caplog.at_level(logging.DEBUG),
        serving_chat(ChatEndpoint(faults=usual_faults, refuses=refuses, most_faults=1)) as endpoint,
    ):
        result = result_of(run(sessions, slug, endpoint))
    assert (result["form"], result["without_answer"]) == ("object", 0)
    with sessions.read() as session:
        assert unfinished(session) == []
        tools = {tool for tool, _ in logged(session)}
        assert tools == set(ALL)
        assert max(endpoint.paid.values()) == 1
        assert endpoint.key not in everything(session)
    assert endpoint.key not in caplog.text
    assert "Bearer" not in caplog.text


def everything(session: Session) -> str:
    """Return the text of all rows of all tables."""
    tables = Base.metadata.sorted_tables
    return "\n".join(str(tuple(row)) for table in tables for row in session.execute(select(table)))


@pytest.mark.thorough
def test_the_order_is_that_of_the_model_and_a_second_run_asks_nothing(sessions: Sessions) -> None:
    slug = study_of(sessions)
    with serving_chat(ChatEndpoint()) as endpoint:
        result_of(run(sessions, slug, endpoint, tools=["pairs"]))
        asked = endpoint.requests
        again = result_of(run(sessions, slug, endpoint, tools=["pairs"], concurrency=1))
    assert endpoint.requests == asked, "its form is known, and no question is open"
    assert again["answered"] == 0
    with sessions.read() as session:
        own = ExportOptions(assessor="fake@machine.invalid")
        lines = b"".join(open_export(session, slug, "topk.jsonl", own).chunks).splitlines()
        assert b"".join(open_export(session, slug, "topk.jsonl").chunks) == b""
    assert len(lines) == 2
    for line in lines:
        ranked = [int(name.rsplit("d", 1)[1]) for name in json.loads(line)["ranking"]]
        assert ranked == sorted(ranked, reverse=True)


@pytest.mark.thorough
def test_people_s_results_hold_nothing_of_a_machine(sessions: Sessions) -> None:
    slug = study_of(sessions)
    with serving_chat(ChatEndpoint()) as endpoint:
        run(sessions, slug, endpoint)
    with sessions.read() as session:
        source = StudySource(session, slug, ExportOptions())
        assert list(source.all_works()) == []


@pytest.mark.thorough
@pytest.mark.parametrize(
    "text",
    [
        "",
        "3",
        "tie, I think",
        '{"answer": 7}',
        '{"answer": null, "confidence": 3}',
        "[" * 100_000,
        "A\0\ud800",
        '{"answer": "A", "confidence": 80} {"answer": "B", "confidence": 80}',
    ],
)
def test_an_unreadable_reply_is_no_answer(sessions: Sessions, text: str) -> None:
    slug = study_of(sessions)

    def fails(number: int) -> Fault | None:
        return None if number == 1 else Fault(body=completion(text))

    with serving_chat(ChatEndpoint(faults=fails)) as endpoint:
        result = result_of(run(sessions, slug, endpoint, rounds=2))
    assert (result["answered"], result["without_answer"]) == (0, 6)
    with sessions.read() as session:
        assert logged(session) == []
        problems = set(session.scalars(select(MachineCall.problem)))
        assert problems == {"the reply could not be read"}


@pytest.mark.thorough
@pytest.mark.parametrize("told", [None, "many", -5, 10**40, float("inf")])
def test_a_strange_number_of_tokens_ends_no_run(sessions: Sessions, told: object) -> None:
    slug = study_of(sessions)
    odd = json.loads(completion('{"answer": "1", "confidence": 200}'))
    odd["usage"]["prompt_tokens"] = told
    faults = {3: Fault(body=json.dumps(odd))}.get
    with serving_chat(ChatEndpoint(faults=faults)) as endpoint:
        result = result_of(run(sessions, slug, endpoint, tools=["grades"], concurrency=1))
    assert (result["without_answer"], result["tokens_in"] >= 100) == (0, True)


@each_case(
    "address", ["", "host/v1", "ftp://host", "https://me:sk-1@host/v1", "https://host/v1?key=sk-1"]
)
def test_an_address_that_could_hold_a_key_is_refused(address: str) -> None:
    with pytest.raises(Invalid, match="the key apart from it") as refused:
        Terms.read({"model": "fake", "endpoint": address})
    assert "sk-1" not in str(refused.value)


@pytest.mark.thorough
@each_case("key", ["token", "tokens", "content", "choices", "usage", "answer", "A", "1", '"', "{"])
def test_a_key_that_is_part_of_replies_destroys_none(sessions: Sessions, key: str) -> None:
    name = f"with {key}"
    with serving_chat(ChatEndpoint(key=key)) as endpoint:
        terms = {"tools": ["grades"], "name": name, "price_in": 1, "price_out": 1}
        result = result_of(run(sessions, study_of(sessions, slug=name), endpoint, **terms))
    assert (result["finished"], result["without_answer"], result["unreported"]) == (2, 0, 0)
    assert result["tokens_in"] == 100 * endpoint.requests
    with sessions.read() as session:
        mine = select(MachineCall.reply, MachineCall.answer).join(Assignment).join(User)
        stored = session.execute(mine.where(User.name == name)).all()
        assert not any(key in reply.replace("[key]", "") for reply, _ in stored)
        assert all(answer for _, answer in stored)


def test_a_wrong_key_is_said_once_and_not_shown(sessions: Sessions) -> None:
    slug = study_of(sessions)
    with serving_chat(ChatEndpoint()) as endpoint:
        endpoint.key, right = "sk-wrong", endpoint.key
        with serving_chat(ChatEndpoint(key=right)) as other:
            endpoint.address = other.address
            job = run(sessions, slug, endpoint)
            assert other.requests == 1
    assert job.state is JobState.FAILED
    assert "401" in job.message
    assert "sk-wrong" not in job.message


@pytest.mark.thorough
def test_a_run_that_loses_its_worker_is_continued_and_pays_only_for_what_was_in_transit(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    slug = study_of(sessions)
    complete, kills = calls._complete, [3, 6, 9, 12, 15]

    def killed_before_it_is_stored(call: MachineCall, *rest: Any) -> None:
        if kills and endpoint.requests >= kills[0]:
            kills.pop(0)
            raise OperationalError("", {}, Exception("the worker is gone"))
        complete(call, *rest)

    monkeypatch.setattr(calls, "_complete", killed_before_it_is_stored)
    with serving_chat(ChatEndpoint()) as endpoint:
        for _ in range(6):
            run(sessions, slug, endpoint, concurrency=1)
            with sessions.write.begin() as session:
                session.execute(update(Job).values(lease_until=None, state=JobState.STOPPED))
    with sessions.read() as session:
        assert unfinished(session) == []
        asked = session.scalars(select(MachineCall.requests)).all()
    assert kills == []
    assert sum(asked) == len(asked) + 5
    assert sum(endpoint.paid.values()) == len(asked) + 5 + 1, "and the first question of all"


def left_biased(prompt: str) -> str:
    return "A" if "alphabet" in prompt or "Page A:" in prompt else honest(prompt)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("terms", "answers"),
    [
        ({"orders": "both"}, {"tie"}),
        ({"orders": "both", "contradiction": "third"}, {"left", "right"}),
        ({"orders": "one"}, {"left"}),
    ],
)
def test_a_model_that_prefers_a_side_contradicts_itself_in_both_orders(
    sessions: Sessions, terms: dict[str, Any], answers: set[str]
) -> None:
    slug = study_of(sessions)
    with serving_chat(ChatEndpoint(model=left_biased)) as endpoint:
        result_of(run(sessions, slug, endpoint, tools=["pairs"], **terms))
    with sessions.read() as session:
        assert {answer for _, answer in logged(session)} == answers


@pytest.mark.thorough
def test_prompts_are_of_the_study_and_every_version_is_kept(sessions: Sessions) -> None:
    slug = study_of(sessions)
    own = "Q: {query}\nPage A:\n<<<\n{left}\n>>>\n\nPage B:\n<<<\n{right}\n>>>\n{reply}"
    with sessions.write.begin() as session:
        study = session.scalars(select(Study)).one()
        assert prompt_of(session, study.id, Tool.PAIRS).number == 0
        assert save_prompt(session, study, Tool.PAIRS, own).number == 1
        assert save_prompt(session, study, Tool.PAIRS, own).number == 1
        with pytest.raises(Invalid, match=r"lacks: \{right\}"):
            save_prompt(session, study, Tool.PAIRS, "{query} {left} {reply}")
        with pytest.raises(Invalid, match=r"names \{letf\}"):
            save_prompt(session, study, Tool.PAIRS, own + "{letf}")
    with serving_chat(ChatEndpoint()) as endpoint:
        result = result_of(run(sessions, slug, endpoint, tools=["pairs"]))
    assert result["prompts"] == {"pairs": 1}
    assert all(prompt.startswith("Q: ") for prompt in endpoint.prompts[1:])


def test_a_machine_has_no_password_and_an_estimate_leaves_nothing(sessions: Sessions) -> None:
    study_of(sessions)
    with sessions.write.begin() as session:
        for content in session.scalars(select(Content)):
            content.text = "long " * 999
    terms = Terms.read(
        {"model": "fake", "endpoint": "http://localhost", "price_in": 2, "price_out": 8}
    )
    with sessions.write() as session:
        study = session.scalars(select(Study)).one()
        found = judging.estimate(session, study, terms)
        assert (found.assignments, found.requests) == (2, 2 * found.questions)
        assert 2 * 999 * 5 / 4 < found.tokens_in / found.requests < 4 * 999 * 5 / 4, "two pages"
        assert found.cost == pytest.approx((2 * found.tokens_in + 8 * found.tokens_out) / 1e6)
        with pytest.raises(Conflict, match="is a machine"):
            set_password(session, session.scalars(select(User).where(User.machine)).one(), "x" * 20)
        session.rollback()
        study = session.scalars(select(Study)).one()
        assert judging.estimate(session, study, terms) == found
        study.archived_at = now()
        with pytest.raises(Conflict, match="unarchive it"):
            judging.estimate(session, study, terms)
    with sessions.read() as session:
        assert session.scalar(select(User).where(User.machine)) is None
