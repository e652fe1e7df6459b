"""The queue of jobs and its workers, on both databases."""

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from threading import Barrier, Event, Thread
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import undefer

from tests.factories import make_study, make_user
from tests.processes import running
from tests.waiting import WATCHDOG, until
from topkapi.app.db import base
from topkapi.app.db.engine import Sessions, make_engine, make_sessions
from topkapi.app.db.models import AuditEvent, Job, Study
from topkapi.app.domain.enums import JobState
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.jobs import store
from topkapi.app.services.jobs.running import RunningJob
from topkapi.app.services.jobs.worker import Worker

pytestmark = pytest.mark.both

PAST = timedelta(seconds=-1)  # a lease that has expired when it begins
LONG = timedelta(minutes=30)  # one that does not expire while a test runs
KIND = "sum"


def add(job: RunningJob) -> dict[str, Any]:
    job.progress(0.5, "adding")
    return {"sum": sum(job.parameters["numbers"])}


def queue(sessions: Sessions, *numbers: int) -> int:
    with sessions.write.begin() as session:
        study = session.scalar(select(Study)) or make_study(session, slug="tulips")
        return store.queue_job(session, study, KIND, {"numbers": list(numbers)}).id


def job_of(sessions: Sessions, job_id: int) -> Job:
    with sessions.read() as session:
        job = session.get_one(Job, job_id)
        assert isinstance(job.result, str | None)
        return job


def result_of(sessions: Sessions, job_id: int) -> Any:
    return json.loads(job_of(sessions, job_id).result or "null")


def take(sessions: Sessions, worker: str, lease: timedelta = LONG) -> store.Lease | None:
    with sessions.write.begin() as session:
        return store.take_job(session, worker, lease)


def test_jobs_run_in_order_and_keep_their_result(sessions: Sessions) -> None:
    first, second = queue(sessions, 1, 2), queue(sessions, 3, 4)
    assert queue(sessions, 1, 2) == first, "the same one waits already"
    Worker(sessions, {KIND: add}).run(until_empty=True)
    done = job_of(sessions, first)
    assert (done.state, done.progress, done.attempts) == (JobState.DONE, 1.0, 1)
    assert result_of(sessions, first) == {"sum": 3}
    assert result_of(sessions, second) == {"sum": 7}
    times = [job_of(sessions, number).finished_at for number in (first, second)]
    assert times == sorted(times, key=str)
    assert queue(sessions, 1, 2) not in (first, second), "an ended job is run again on request"


def test_racing_workers_take_every_job_once(sessions: Sessions) -> None:
    jobs = [queue(sessions, number) for number in range(12)]
    start, taken = Barrier(2), dict[str, list[int]]()

    def race(name: str) -> None:
        start.wait()
        taken[name] = []
        while (held := take(sessions, name)) is not None:
            taken[name].append(held.job_id)

    racers = [Thread(target=race, args=(name,)) for name in ("one", "two")]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert sorted(taken["one"] + taken["two"]) == jobs


def test_an_expired_lease_passes_to_another_worker_and_the_first_can_change_nothing(
    sessions: Sessions,
) -> None:
    job_id = queue(sessions, 1)
    late = take(sessions, "late", PAST)
    now = take(sessions, "now")
    assert late is not None
    assert now is not None
    assert (now.job_id, now.attempt) == (late.job_id, 2)
    assert take(sessions, "third") is None, "its lease holds"
    with sessions.write.begin() as session:
        assert not store.extend_lease(session, late)
        assert not store.finish_job(session, late, {"sum": 0})
        assert not store.fail_job(session, late, "no")
        assert not store.release_job(session, late)
        assert store.extend_lease(session, now)
        assert store.finish_job(session, now, {"sum": 1})
        assert not store.finish_job(session, now, {"sum": 2})
    assert result_of(sessions, job_id) == {"sum": 1}


def test_a_job_that_loses_its_worker_three_times_fails_and_says_why(sessions: Sessions) -> None:
    job_id = queue(sessions, 1)
    for number in range(store.MOST_ATTEMPTS):
        assert take(sessions, f"worker-{number}", PAST) is not None
    assert take(sessions, "last") is None
    job = job_of(sessions, job_id)
    assert job.state is JobState.FAILED
    assert "ended 3 times" in job.message


@pytest.mark.parametrize("shift", [timedelta(days=1), timedelta(hours=-2)])
def test_a_clock_that_was_wrong_for_a_moment_holds_no_job_back(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch, shift: timedelta
) -> None:
    queue(sessions, 1)
    with monkeypatch.context() as wrong:
        wrong.setattr(
            base, "datetime", SimpleNamespace(now=lambda zone: datetime.now(zone) + shift)
        )
        assert take(sessions, "killed", PAST) is not None
    assert take(sessions, "next") is not None
    assert take(sessions, "third") is None, "its lease holds"


def test_a_lease_is_extended_while_a_job_computes(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("topkapi.app.services.jobs.running._EXTENSIONS", 100_000)
    queue(sessions, 1)
    others: list[object] = []

    def slow(job: RunningJob) -> dict[str, Any]:
        def lease() -> str:
            with job.sessions.read() as session:
                return str(session.scalars(select(Job.lease_until)).one())

        first = lease()
        until(lambda: lease() > first, "a longer lease")
        others.append(take(sessions, "other"))
        return {}

    Worker(sessions, {KIND: slow}, lease=LONG).run(until_empty=True)
    assert others == [None]


def test_only_the_latest_report_of_a_study_is_kept(sessions: Sessions) -> None:
    kinds: dict[str, Callable[[RunningJob], dict[str, Any]]] = {
        "report": lambda _job: {"digest": ""},
        "models": lambda _job: {"rows": []},
    }
    with sessions.write.begin() as session:
        studies = [make_study(session, slug=slug) for slug in ("tulips", "roses")]
        who = make_user(session).id
    for _ in range(2):
        with sessions.write.begin() as session:
            for study in studies:
                for kind in kinds:
                    store.queue_job(session, study, kind, {}, actor_id=who)
        Worker(sessions, kinds=kinds).run(until_empty=True)
    with sessions.read() as session:
        jobs = session.scalars(select(Job).options(undefer(Job.result)).order_by(Job.id)).all()
    kept = {kind: [job.result is not None for job in jobs if job.kind == kind] for kind in kinds}
    assert kept == {"report": [False, False, True, True], "models": [True] * 4}


def test_a_stopped_job_stops_at_its_next_step(sessions: Sessions) -> None:
    job_id = queue(sessions, 1)

    def endless(job: RunningJob) -> dict[str, Any]:
        job.progress(0.1, "began")
        with job.sessions.write.begin() as session:
            actor = make_user(session).id
            store.request_stop(session, session.get_one(Job, job_id), "tulips", actor_id=actor)
        until(lambda: job.progress(0.2, "goes on"), "the stop")
        return {}

    Worker(sessions, {KIND: endless}).run(until_empty=True)
    job = job_of(sessions, job_id)
    assert (job.state, job.message, job.result) == (JobState.STOPPED, "Stopped.", None)
    with sessions.read() as session:
        acts = session.scalars(select(AuditEvent.action).order_by(AuditEvent.id)).all()
    assert acts == ["job.start", "job.stop"]


def test_a_waiting_job_is_stopped_at_once_and_a_lost_one_when_it_is_found(
    sessions: Sessions,
) -> None:
    waiting, lost = queue(sessions, 1), queue(sessions, 2)
    with sessions.write.begin() as session:
        store.request_stop(session, session.get_one(Job, waiting), "tulips")
    assert job_of(sessions, waiting).state is JobState.STOPPED
    assert take(sessions, "killed", PAST) is not None
    with sessions.write.begin() as session:
        store.request_stop(session, session.get_one(Job, lost), "tulips")
    assert job_of(sessions, lost).state is JobState.RUNNING
    assert take(sessions, "next") is None
    assert job_of(sessions, lost).state is JobState.STOPPED


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Invalid("There is nothing to learn from."), "There is nothing to learn from."),
        (ZeroDivisionError("by zero"), "Unexpected error: ZeroDivisionError: by zero."),
    ],
)
def test_a_failing_job_says_why_and_the_next_one_runs(
    sessions: Sessions, error: Exception, words: str
) -> None:
    failing, fine = queue(sessions, 0), queue(sessions, 1)

    def fail_at_zero(job: RunningJob) -> dict[str, Any]:
        if job.parameters["numbers"] == [0]:
            raise error
        return add(job)

    Worker(sessions, {KIND: fail_at_zero}).run(until_empty=True)
    job = job_of(sessions, failing)
    assert job.state is JobState.FAILED
    assert job.message.startswith(words)
    assert result_of(sessions, fine) == {"sum": 1}


def test_a_job_whose_database_was_away_is_taken_again(sessions: Sessions) -> None:
    tries: list[int] = []

    def interrupted(job: RunningJob) -> dict[str, Any]:
        tries.append(1)
        if len(tries) == 1:
            raise OperationalError("SELECT", {}, Exception("server closed the connection"))
        return add(job)

    number = queue(sessions, 1, 2)
    worker = Worker(sessions, {KIND: interrupted})
    worker.run(until_empty=True)
    assert job_of(sessions, number).state is JobState.RUNNING
    worker.run(until_empty=True)
    done = job_of(sessions, number)
    assert (done.state, done.attempts, result_of(sessions, number)) == (
        *(JobState.DONE, 2),
        {"sum": 3},
    )


def test_a_worker_told_to_end_returns_its_job(sessions: Sessions) -> None:
    job_id = queue(sessions, 1)

    def told_to_end(_job: RunningJob) -> dict[str, Any]:
        raise SystemExit(143)

    with pytest.raises(SystemExit):
        Worker(sessions, {KIND: told_to_end}).run(until_empty=True)
    job = job_of(sessions, job_id)
    assert (job.state, job.attempts, job.lease_until) == (JobState.QUEUED, 0, None)


def wait_for_ever(database_url: str) -> None:
    """Run jobs in a process of its own, none of which ends."""

    def hang(job: RunningJob) -> dict[str, Any]:
        job.progress(0.5, "half way")
        Event().wait()
        return {}

    Worker(make_sessions(make_engine(database_url)), {KIND: hang}, lease=LONG).run()


@pytest.mark.thorough
def test_a_job_killed_with_its_worker_is_finished_by_another(
    database_url: str, sessions: Sessions
) -> None:
    job_id, other = queue(sessions, 2, 3), Worker(sessions, {KIND: add})
    code = f"from tests.services.test_jobs import *; wait_for_ever({database_url!r})"
    with running([sys.executable, "-c", code], cwd=Path(__file__).parents[2]):
        until(lambda: job_of(sessions, job_id).progress == 0.5, "the first half")
    assert not other.run_one(), "its lease holds"
    with sessions.write.begin() as session:
        store.expire_leases(session, job_of(sessions, job_id).worker or "")
    assert other.run_one()
    job = job_of(sessions, job_id)
    assert (job.state, job.attempts, job.worker) == (JobState.DONE, 2, other.name)
    assert result_of(sessions, job_id) == {"sum": 5}


def test_postgresql_wakes_a_waiting_worker_also_after_its_connection_was_lost(
    sessions: Sessions,
) -> None:
    if sessions.read().get_bind().dialect.name != "postgresql":
        pytest.skip("SQLite has no notices")

    def listening() -> int | None:
        activity = "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
        with sessions.read() as session:
            found = session.scalar(text(f"{activity} AND query = 'LISTEN {store.CHANNEL}'"))
            return None if found is None else int(found)

    def end(job: RunningJob) -> dict[str, Any]:
        if job.parameters["numbers"] == [0]:
            raise SystemExit
        return add(job)

    def work() -> None:
        with suppress(SystemExit):
            Worker(sessions, {KIND: end}, idle=10 * WATCHDOG).run()

    worker = Thread(target=work, daemon=True)
    worker.start()
    until(listening, "a worker that listens")
    first, lost = queue(sessions, 1, 2), listening()
    until(lambda: result_of(sessions, first) == {"sum": 3}, "the first result")
    with sessions.write.begin() as session:
        session.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": lost})
    until(lambda: listening() not in (None, lost), "a new connection")
    second = queue(sessions, 3, 4)
    until(lambda: result_of(sessions, second) == {"sum": 7}, "the second result")
    queue(sessions, 0)
    worker.join()
