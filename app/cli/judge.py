"""`topkapi judge`: a machine judges a study."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, fields
from datetime import timedelta
from pathlib import Path
from signal import SIGINT, SIGTERM
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topkapi.app.cli.common import AsJson, ended_by_signals, open_sessions, say, with_options
from topkapi.app.cli.failures import Refused
from topkapi.app.cli.running import RUNNING
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.machines.orders import Contradiction, Orders
from topkapi.app.domain.machines.spending import money

if TYPE_CHECKING or RUNNING:
    from sqlalchemy.orm import undefer

    from topkapi.app.config import Settings
    from topkapi.app.db.engine import Sessions
    from topkapi.app.db.models import Job
    from topkapi.app.db.queries.studies.studies import required_study
    from topkapi.app.services.jobs import judge as judge_job
    from topkapi.app.services.jobs import store
    from topkapi.app.services.jobs.store import Lease
    from topkapi.app.services.jobs.worker import Worker
    from topkapi.app.services.machines import judging
    from topkapi.app.services.machines.judging import Estimate
    from topkapi.app.services.machines.terms import Terms

commands = typer.Typer()

_LEASE = timedelta(seconds=10)
_STOPPING = "topkapi: stopping; waiting for the replies to requests in transit"
_STOPPED = "topkapi: stopped; all answers so far are stored, and the same command continues the run"


@dataclass(frozen=True)
class JudgeCommand:
    """The options of the command."""

    model: Annotated[str, typer.Option(help="Name of the model at the endpoint.")]
    endpoint: Annotated[str, typer.Option(help="Address of an OpenAI-compatible endpoint.")]
    tool: Annotated[list[Tool] | None, typer.Option(help="Tools to judge with.")] = None
    name: Annotated[str, typer.Option(help="Name of the assessor, if not that of the model.")] = ""
    key_file: Annotated[
        Path | None, typer.Option(help="File with the key; otherwise TOPKAPI_MODEL_KEY.")
    ] = None
    orders: Annotated[Orders, typer.Option(help="Orders in which a pair is shown.")] = Orders.BOTH
    contradiction: Annotated[
        Contradiction, typer.Option(help="How to resolve contradictory replies to the two orders.")
    ] = Contradiction.TIE
    most_chars: Annotated[int, typer.Option(help="Maximum characters of pages in a prompt.")] = (
        24_000
    )
    most_tokens: Annotated[int, typer.Option(help="Maximum tokens of a reply.")] = 1000
    temperature: Annotated[float | None, typer.Option(help="Sent only if given.")] = None
    timeout: Annotated[float, typer.Option(help="Seconds to wait for a reply.")] = 120.0
    concurrency: Annotated[int, typer.Option(help="Parallel requests.")] = 4
    interval: Annotated[float, typer.Option(help="Minimum seconds between requests.")] = 0.0
    price_in: Annotated[float | None, typer.Option(help="Price per million input tokens.")] = None
    price_out: Annotated[float | None, typer.Option(help="Price per million output tokens.")] = None
    most_cost: Annotated[
        float | None, typer.Option(help="Maximum cost in this study, over all runs.")
    ] = None
    most_requests: Annotated[
        int | None, typer.Option(help="Maximum number of requests in this study, over all runs.")
    ] = None
    dry_run: Annotated[bool, typer.Option(help="Only estimate questions, tokens and cost.")] = False
    as_json: AsJson = False

    def terms(self) -> Terms:
        """Return how the machine judges."""
        names = {each.name for each in fields(Terms)}
        given = {name: value for name, value in vars(self).items() if name in names}
        return Terms.read({**given, "tools": self.tool or [Tool.PAIRS]})


@commands.command(
    epilog="Example: topkapi judge everyday-questions --model gpt-5-mini "
    "--endpoint https://api.openai.com/v1 --tool pairs --dry-run"
)
@with_options(JudgeCommand)
def judge(
    study: Annotated[str, typer.Argument(help="Short name of the study.")],
    options: JudgeCommand,
) -> None:
    """Have a model judge the study as a machine assessor.

    To continue an interrupted run, repeat the command; stored replies are not paid for again.
    """
    terms, key_file = options.terms(), options.key_file
    settings = Settings() if key_file is None else Settings(model_key_file=str(key_file))
    with open_sessions(settings) as sessions:
        with sessions.write() as session:  # rolled back: an estimate changes nothing
            estimate = judging.estimate(session, required_study(session, study), terms)
            session.rollback()
        if options.dry_run:
            say(options.as_json, asdict(estimate), _estimated(estimate))
            return
        judging.refuse_over_cap(estimate, terms)
        key = settings.key_of_model()
        worker = Worker(sessions, {"judge": lambda job: judge_job.run(job, key)}, lease=_LEASE)
        held = _taken(sessions, worker, study, terms)
        with ended_by_signals(SIGTERM, SIGINT, notice=_STOPPING):
            try:
                worker.run_taken(held)
            except SystemExit:
                with sessions.write.begin() as session:
                    job = session.get_one(Job, held.job_id)
                    store.request_stop(session, job, study)  # no server is to continue it
                typer.echo(_STOPPED, err=True)
                raise
        with sessions.read() as session:
            job = session.get_one(Job, held.job_id, options=[undefer(Job.result)])
    if job.result is None:
        raise Refused(job.message)
    result = json.loads(job.result)
    say(options.as_json, result, _told(result))


def _taken(sessions: Sessions, worker: Worker, study: str, terms: Terms) -> Lease:
    """Take the run for this process; wait for the lease of one that was killed a moment ago."""
    deadline = time.monotonic() + 2 * _LEASE.total_seconds()
    while True:
        with sessions.write.begin() as session:
            found = required_study(session, study)
            store.end_lost(session, found, "judge", except_for=terms.as_json())
            job = store.queue_job(session, found, "judge", terms.as_json())
            held = store.take_job(session, worker.name, worker.lease, job_id=job.id)
        if held is not None:
            return held
        if time.monotonic() > deadline:
            raise Refused(f"this run is already in progress as job {job.id}")
        time.sleep(0.5)


def _estimated(estimate: Estimate) -> str:
    cost = "" if estimate.cost is None else f", about {money(estimate.cost)}"
    before = "" if estimate.cost_so_far is None else f" and {money(estimate.cost_so_far)}"
    return (
        f"{estimate.assignments} queries, about {estimate.questions:,} questions, "
        f"{estimate.requests:,} requests, {estimate.tokens_in:,} tokens sent and "
        f"{estimate.tokens_out:,} received{cost}; so far {estimate.so_far.requests:,} "
        f"requests{before} in this study"
    )


def _told(result: dict[str, Any]) -> str:
    cost = "" if result["cost"] is None else f"; cost {money(result['cost'])}"
    if cost:
        cost += f" ({money(result['all_runs']['cost'])} in this study over all runs)"
    if result["unreported"]:
        cost += (
            f"; {result['unreported']} requests reported no usage and count at their upper bound"
        )
    return (
        f"{result['machine']}: {result['answered']} answers, {result['finished']} queries done, "
        f"{result['without_answer']} without a readable reply; {result['requests']} requests, "
        f"{result['tokens_in']} tokens sent, {result['tokens_out']} received{cost}"
    )
