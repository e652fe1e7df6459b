"""A run: a machine judges its assignments to their end, several at a time.

It judges like a person: it reads the open question, and its answer is appended to the same log. An
assignment whose question got no readable reply waits, is tried again after the others, and stays
open in the end: nobody invents an answer for it.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import (
    Assignment,
    Candidate,
    Content,
    Document,
    MachineCall,
    MachineSpending,
    Query,
    Study,
)
from topkapi.app.db.queries.studies.studies import hold_settings, required_study
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import StaleForm
from topkapi.app.domain.machines.orders import Orders
from topkapi.app.domain.machines.prompts import Page
from topkapi.app.domain.machines.replies import ReplyForm
from topkapi.app.domain.machines.spending import Usage
from topkapi.app.services.judging import labeling
from topkapi.app.services.judging.labeling import Submission
from topkapi.app.services.judging.live_sessions import LiveSessions
from topkapi.app.services.judging.states import AssignmentState
from topkapi.app.services.machines.asking import Manner, answer_of
from topkapi.app.services.machines.assessors import give_work, machine_named
from topkapi.app.services.machines.calls import Calls, ModelQuestion
from topkapi.app.services.machines.endpoint import Endpoint
from topkapi.app.services.machines.prompts import UsedPrompt, prompt_of
from topkapi.app.services.machines.terms import Terms
from topkapi.app.services.pages.shown import PageTexts

_LOOK = 0.5  # seconds between two reports of progress
_CHARS_PER_TOKEN, _REPLY_TOKENS = 4, 20
_SAMPLED = 20  # new queries of each tool; an estimate must not take long


@dataclass(frozen=True, slots=True)
class MachineRun:
    """A run of a job: ``progress`` takes the share done and a message, and raises to end it."""

    job_id: int
    study: str
    terms: Terms
    sessions: Sessions
    progress: Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class RunWork:
    """What a run has before it asks: the machine, its open assignments, and the prompts."""

    user_id: int
    spending_id: int
    guidelines: str
    assignments: Sequence[int]
    prompts: dict[Tool, UsedPrompt]
    form: ReplyForm | None  # of earlier calls


@dataclass(slots=True)
class Tally:
    """What a run did so far."""

    answered: int = 0
    finished: int = 0
    waiting: list[int] = field(default_factory=list)  # assignments whose question got no answer


def judge(run: MachineRun, key: str) -> dict[str, Any]:
    """Judge a study by the terms of a run; return what was done and spent."""
    terms = run.terms
    work = _prepared(run.sessions, run.study, terms)
    with Endpoint(
        terms.endpoint,
        terms.model,
        key,
        timeout=terms.timeout,
        most_tokens=terms.most_tokens,
        temperature=terms.temperature,
    ) as endpoint:
        calls = Calls(
            run.sessions,
            endpoint,
            run.job_id,
            work.spending_id,
            terms.cap,
            interval=terms.interval,
        )
        run.progress(0.0, "asking how the endpoint replies")
        endpoint.form = work.form or calls.find_form()
        tally = _Judge(run, work, calls).judge_all()
    with run.sessions.read() as session:
        total = spent_by(session.get(MachineSpending, work.spending_id))
    return {
        "machine": terms.assessor,
        "form": endpoint.form.value,
        "prompts": {tool.value: used.number for tool, used in work.prompts.items()},
        "answered": tally.answered,
        "finished": tally.finished,
        "without_answer": len(tally.waiting),
        **asdict(calls.spent),
        "cost": terms.cap.prices.cost(calls.spent),
        "all_runs": {**asdict(total), "cost": terms.cap.prices.cost(total)},
    }


def spent_by(row: MachineSpending | None) -> Usage:
    """Return what a machine has spent in a study, over all runs."""
    return Usage(row.requests, row.unreported, row.tokens_in, row.tokens_out) if row else Usage()


def _prepared(sessions: Sessions, slug: str, terms: Terms) -> RunWork:
    """Give the machine its work, and read what does not change during the run."""
    with sessions.write.begin() as session:
        study = required_study(session, slug)
        hold_settings(session, study, to_change=True)  # of runs that begin together, one makes this
        machine = machine_named(session, terms.assessor)
        give_work(session, study, machine, terms.tools)
        spending = _spending_of(session, study.id, machine.id)
        if spending is None:
            spending = MachineSpending(study_id=study.id, user_id=machine.id)
            session.add(spending)
            session.flush()
        rows = _open_work(session, study.id, machine.id, terms.tools)
        form = _form_of(session, machine.id, terms.model)
        return RunWork(
            machine.id,
            spending.id,
            study.guidelines,
            [row.id for row in rows],
            {tool: prompt_of(session, study.id, tool) for tool in terms.tools},
            None if form is None else ReplyForm(form),
        )


class _Judge:
    """Judges the open assignments of one run."""

    def __init__(self, run: MachineRun, work: RunWork, calls: Calls) -> None:
        self._run, self._work, self._calls = run, work, calls
        self._live, self._texts = LiveSessions(), PageTexts()
        self._manner = Manner(
            calls.endpoint.form, run.terms.orders, run.terms.contradiction, run.terms.most_chars
        )
        self._tally = Tally()
        self._failure: Exception | None = None  # the first

    def judge_all(self) -> Tally:
        """Judge every assignment, then again those with a question without an answer."""
        left = list(self._work.assignments)
        for number in range(self._run.terms.rounds):
            self._manner = replace(self._manner, round=number)
            self._tally.waiting.clear()
            self._judge_each(left)
            left = list(self._tally.waiting)
            if not left:
                break
        return self._tally

    def _judge_each(self, assignments: Sequence[int]) -> None:
        with ThreadPoolExecutor(self._run.terms.concurrency, "machine") as pool:
            futures = {pool.submit(self._try_to_judge, number) for number in assignments}
            try:
                while futures:
                    done, futures = wait(futures, _LOOK, FIRST_COMPLETED)
                    self._collect(done)
                    self._report()
            finally:  # requests in transit are completed, nothing else begins
                self._calls.ended.set()
                for future in futures:
                    future.cancel()
        self._calls.ended.clear()

    def _collect(self, done: set[Future[None]]) -> None:
        for future in done:
            if future.exception() is not None and self._failure is not None:
                raise self._failure  # what later threads say follows from it
            future.result()

    def _report(self) -> None:
        total = len(self._work.assignments)
        share = self._tally.finished / total if total else 1.0
        told = f"{self._tally.answered} answers, {self._tally.finished} of {total} queries finished"
        self._run.progress(share, told)

    def _try_to_judge(self, assignment_id: int) -> None:
        try:
            self._judge(assignment_id)
        except Exception as error:
            self._failure = self._failure or error
            self._calls.ended.set()  # before another thread asks for more
            raise

    def _judge(self, assignment_id: int) -> None:
        """Answer until the assignment is finished, or a question gets no answer."""
        ids: dict[str, Any] = {"assignment_id": assignment_id, "user_id": self._work.user_id}
        with self._run.sessions.read() as session:
            state = labeling.assignment_state(session, self._live, **ids)
        while not state.finished and not self._calls.ended.is_set():
            answer = answer_of(
                state,
                self._pages(state),
                self._work.guidelines,
                self._work.prompts[state.tool],
                self._manner,
                self._ask,
            )
            if answer is None:
                self._tally.waiting.append(assignment_id)
                return
            submission = Submission(state.position, answer=answer)
            try:
                with self._run.sessions.write.begin() as session:
                    state = labeling.submit(session, self._live, **ids, submission=submission)
                self._tally.answered += 1
            except StaleForm:  # another run has answered
                with self._run.sessions.read() as session:
                    state = labeling.assignment_state(session, self._live, **ids)
        self._tally.finished += state.finished

    def _ask(self, asked: ModelQuestion) -> str | None:
        reply = self._calls.ask(asked)
        return None if reply is None else reply.answer

    def _pages(self, state: AssignmentState) -> dict[int, Page]:
        heads = {number: state.documents[number] for number in state.state.shown}
        with self._run.sessions.read() as session:
            texts = self._texts.of(session, [head.content_hash for head in heads.values()])
        return {
            number: Page(head.title, texts[head.content_hash]) for number, head in heads.items()
        }


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run would take, by the machine's earlier calls; costs need prices.

    Without such calls a token has four characters, a page is as long as the query's pages are on
    average, and a reply has 20 tokens. ``so_far`` is what the machine has spent in the study.
    """

    assignments: int
    questions: int
    requests: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    so_far: Usage
    cost_so_far: float | None


def estimate(session: Session, study: Study, terms: Terms) -> Estimate:
    """Estimate a run; the session is to be rolled back: it gives the machine some work."""
    machine = machine_named(session, terms.assessor)
    left_out = give_work(session, study, machine, terms.tools, most=_SAMPLED)
    rows = _open_work(session, study.id, machine.id, terms.tools)
    sampled = rows[-_SAMPLED * len(terms.tools) :]
    scale = (len(rows) + left_out) / len(sampled) if sampled else 0
    live = LiveSessions()
    usual = {tool: _usual_call(session, study, machine.id, tool) for tool in terms.tools}
    mean_length = cache(partial(_mean_length, session))
    questions, taken = 0.0, [0.0, 0.0, 0.0]  # requests, tokens in and out
    for row in sampled:
        state = labeling.assignment_state(session, live, assignment_id=row.id, user_id=machine.id)
        remaining = state.progress.expected_left
        times = 1 if row.tool is Tool.GRADES or terms.orders is Orders.ONE else 2
        is_known = None not in usual[row.tool]
        pages = 0 if is_known else len(state.state.shown) * mean_length(row.query_id)
        fixed = len(prompt_of(session, study.id, row.tool).text) + len(study.guidelines)
        unknown = (1.0, (fixed + min(pages, terms.most_chars)) / _CHARS_PER_TOKEN, _REPLY_TOKENS)
        call = [a if a is not None else b for a, b in zip(usual[row.tool], unknown, strict=True)]
        questions += remaining
        taken = [a + times * remaining * b for a, b in zip(taken, call, strict=True)]
    requests, *tokens = (round(scale * each) for each in taken)
    spent = spent_by(_spending_of(session, study.id, machine.id))
    cost = terms.cap.prices.cost
    return Estimate(
        assignments=len(rows) + left_out,
        questions=round(scale * questions),
        requests=requests,
        tokens_in=tokens[0],
        tokens_out=tokens[1],
        cost=cost(Usage(requests, 0, *tokens)),
        so_far=spent,
        cost_so_far=cost(spent),
    )


def _mean_length(session: Session, query_id: int) -> float:
    """Return the mean number of characters of a query's pages."""
    statement = (
        select(func.avg(func.length(Content.text)))
        .join(Document, Document.content_hash == Content.hash)
        .join(Candidate, Candidate.document_id == Document.id)
        .where(Candidate.query_id == query_id)
    )
    return float(session.scalar(statement) or 0)


def _usual_call(session: Session, study: Study, user_id: int, tool: Tool) -> Sequence[float | None]:
    """Return requests and tokens of the machine's mean call; of replies also in other studies."""
    here = _mean_call(session, user_id, Query.study_id == study.id, Assignment.tool == tool)
    return here if here[0] is not None else (None, None, _mean_call(session, user_id)[2])


def refuse_over_cap(found: Estimate, terms: Terms) -> None:
    """Refuse a run that would spend more than it may."""
    more = Usage(found.requests, 0, found.tokens_in, found.tokens_out)
    terms.cap.refuse(found.so_far, more, "its open questions would take about")


def _open_work(
    session: Session, study_id: int, user_id: int, tools: Sequence[Tool]
) -> Sequence[Assignment]:
    """Return the unfinished assignments of a machine in a study, with these tools."""
    statement = (
        select(Assignment)
        .join(Query, Query.id == Assignment.query_id)
        .where(
            Query.study_id == study_id,
            Assignment.user_id == user_id,
            Assignment.tool.in_(tools),
            Assignment.withdrawn_at.is_(None),
            Assignment.finished_at.is_(None),
        )
        .order_by(Assignment.id)
    )
    return session.scalars(statement).all()


def _form_of(session: Session, user_id: int, model: str) -> str | None:
    """Return the form of replies in the latest call of a machine, which it goes on with."""
    statement = (
        select(MachineCall.form)
        .join(Assignment, Assignment.id == MachineCall.assignment_id)
        .where(Assignment.user_id == user_id, MachineCall.model == model)
        .order_by(MachineCall.id.desc())
        .limit(1)
    )
    return session.scalar(statement)


def _spending_of(session: Session, study_id: int, user_id: int) -> MachineSpending | None:
    """Return the row of what a machine has spent in a study; None before its first run."""
    return session.scalar(
        select(MachineSpending).where(
            MachineSpending.study_id == study_id, MachineSpending.user_id == user_id
        )
    )


def _mean_call(
    session: Session, user_id: int, *about: ColumnElement[bool]
) -> Sequence[float | None]:
    """Return mean requests, tokens in and out of a machine's finished calls; None without any."""
    counted = (MachineCall.requests, MachineCall.tokens_in, MachineCall.tokens_out)
    statement = (
        select(*(func.avg(each) for each in counted))
        .join(Assignment, Assignment.id == MachineCall.assignment_id)
        .join(Query, Query.id == Assignment.query_id)
        .where(Assignment.user_id == user_id, MachineCall.finished_at.is_not(None), *about)
        .where(MachineCall.unreported == 0)
    )
    return [None if mean is None else float(mean) for mean in session.execute(statement).one()]
