"""One run: assessors at work, injected faults, the verdict."""

import asyncio
import time
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from bench.browser_client import ApiClient, BrowserClient, JudgingClient
from bench.faults.administrator import Administrator, judge_imports
from bench.faults.assessors import PAUSE, Assessor, Tally
from bench.faults.kinds import kinds_for
from bench.faults.records import Record
from bench.faults.verdict import Verdict, judge
from bench.faults.world import World
from tests.databases import PostgresqlServer
from tests.factories import make_study, make_user, queries_of
from tests.judging import Job, make_job
from topkapi.app.db.engine import Sessions, make_engine, make_sessions
from topkapi.app.db.models import Assignment, User
from topkapi.app.domain.enums import Role
from topkapi.app.installation.secret import load_secret
from topkapi.app.services.accounts.tokens import issue_token
from topkapi.app.web.common.cookies import Cookies

TEAM: dict[str, Any] = {"sorter": "robust", "together": True, "seed": "team", "budget": 60}
STUDY = "judged"
RECOVERY_SECONDS = 60.0  # a server that accepts nothing for longer has not recovered


@dataclass(frozen=True, slots=True)
class Plan:
    """Settings of a run."""

    faults: int
    seed: str = "1"
    workers: int = 1
    people: int = 6
    queries: int = 12  # per person
    documents: int = 60
    between: float = 0.3  # seconds of undisturbed work before a fault
    imports: bool = True  # whether studies are imported and jobs run meanwhile
    pause: float = PAUSE  # seconds of an assessor between two answers
    kinds: tuple[str, ...] = ()  # of faults; all that are possible if empty


@dataclass
class Outcome:
    """Outcome of a run: the verdict, recovery times by fault, errors that clients met."""

    verdict: Verdict
    tally: Tally
    seconds: float = 0.0
    recovery: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    stuck: list[str] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether anything was lost, duplicated, changed, invented or stuck."""
        return bool(self.verdict.violations() or self.stuck)

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as plain values."""
        times = {
            name: {"count": len(each), "median": median(each), "max": max(each)}
            for name, each in sorted(self.recovery.items())
        }
        statuses = {str(status): n for status, n in sorted(self.tally.statuses.items())}
        return {
            "failed": self.failed,
            "seconds": self.seconds,
            "verdict": asdict(self.verdict),
            "stuck": self.stuck,
            "statuses": statuses,
            "requests_without_reply": dict(self.tally.cut),
            "recovery_seconds": times,
        }


def run(
    database_url: str, folder: Path, plan: Plan, cluster: PostgresqlServer | None = None
) -> Outcome:
    """Run ``plan`` on a fresh, migrated database."""
    engine = make_engine(database_url)
    try:
        sessions = make_sessions(engine)
        jobs = _jobs(sessions, plan)
        world = World(database_url, folder, plan.workers, cluster, work=plan.imports)
        return asyncio.run(_run(world, sessions, folder, jobs, plan))
    finally:
        engine.dispose()


def _jobs(sessions: Sessions, plan: Plan) -> list[list[Job]]:
    """Create the assignments of each person, in working order; one query is a team's."""
    with sessions.write.begin() as session:
        study = make_study(session, slug=STUDY, queries=plan.queries + 1, documents=plan.documents)
        shared, *queries = queries_of(session, study)
        users = [make_user(session) for _ in range(plan.people)]
        jobs = []
        for number, user in enumerate(users):
            own = [make_job(session, query=q, user=user, k=20, seed=user.email) for q in queries]
            team = make_job(session, query=shared, user=user, **TEAM)
            jobs.append([team, *own] if number % 2 == 0 else [*own, team])
        return jobs


async def _run(
    world: World, sessions: Sessions, folder: Path, jobs: list[list[Job]], plan: Plan
) -> Outcome:
    start = time.monotonic()
    records = [[Record(job.assignment_id) for job in each] for each in jobs]
    people = _people(world, sessions, folder, jobs, records, plan)
    administrators = [_administrator(world, sessions, plan)] if plan.imports else []
    tally = people[0].tally
    outcome = Outcome(Verdict(), tally)
    ended = asyncio.Event()
    await world.start()
    try:
        async with asyncio.TaskGroup() as group:
            for person in people:
                group.create_task(person.work(ended))
            for each in administrators:
                group.create_task(each.work(ended))
            await _inflict(world, people, plan, outcome)
            ended.set()
        for each in administrators:
            await each.last_job()
    finally:
        await world.end()
    outcome.verdict = judge(sessions, [record for each in records for record in each])
    for each in administrators:
        judge_imports(sessions, each, outcome.verdict)
    outcome.seconds = time.monotonic() - start
    return outcome


def _administrator(world: World, sessions: Sessions, plan: Plan) -> Administrator:
    with sessions.write.begin() as session:
        _, token = issue_token(session, make_user(session, role=Role.ADMIN), "bench")
    return Administrator(world.address, token, STUDY, Random(f"administrator {plan.seed}"))


async def _inflict(world: World, people: list[Assessor], plan: Plan, outcome: Outcome) -> None:
    random, kinds = Random(f"faults {plan.seed}"), kinds_for(world)
    names = _shares(random, sorted(plan.kinds or kinds), plan.faults)
    for name in names:
        await asyncio.sleep(plan.between * 2 * random.random())
        ended = await kinds[name](world, people, random) or time.monotonic()
        if not await _recovered(outcome.tally, ended):
            outcome.stuck.append(f"nothing was acknowledged for {RECOVERY_SECONDS} s after {name}")
            return
        outcome.recovery[name].append(outcome.tally.last - ended)


def _shares(random: Random, names: list[str], count: int) -> list[str]:
    """Return every kind about equally often, in random order."""
    found = [names[number % len(names)] for number in range(count)]
    random.shuffle(found)
    return found


async def _recovered(tally: Tally, since: float) -> bool:
    while tally.last <= since:
        await asyncio.sleep(0.005)
        if time.monotonic() - since > RECOVERY_SECONDS:
            return False
    return True


def _people(
    world: World,
    sessions: Sessions,
    folder: Path,
    jobs: list[list[Job]],
    records: list[list[Record]],
    plan: Plan,
) -> list[Assessor]:
    """Create the assessors: half in a browser, half on the API; every third has a second tab."""
    secret = load_secret(folder / "topkapi.secret")
    cookies = Cookies(secret, lifetime=timedelta(days=7), secure=False)
    tally, people = Tally(), list[Assessor]()
    for number, (mine, known) in enumerate(zip(jobs, records, strict=True)):
        ways = [_browser(world, sessions, cookies, mine), _program(world, mine)]
        if number % 2:
            ways.reverse()
        for clients in ways if number % 3 == 0 else ways[:1]:
            random = Random(f"person {plan.seed} {len(people)}")
            work = list(zip(clients, known, strict=True))
            people.append(Assessor(work, tally, random, plan.pause))
    return people


def _program(world: World, jobs: list[Job]) -> list[JudgingClient]:
    return [ApiClient(world.address, job.assignment_id, job.token) for job in jobs]


def _browser(
    world: World, sessions: Sessions, cookies: Cookies, jobs: list[Job]
) -> list[JudgingClient]:
    with sessions.read() as session:
        user_id = session.get_one(Assignment, jobs[0].assignment_id).user_id
        cookie = cookies.session_token(session.get_one(User, user_id), "nonce")
    csrf = cookies.csrf_token("nonce")
    return [BrowserClient(world.address, job.assignment_id, cookie, csrf) for job in jobs]
