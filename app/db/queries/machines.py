"""Machine assessors: whose work is a machine's, prompts of studies, and calls."""

from collections.abc import Generator, Sequence
from dataclasses import asdict

from sqlalchemy import ColumnElement, Row, func, select, update
from sqlalchemy.orm import Session, undefer

from topkapi.app.db.models import (
    Assignment,
    Job,
    MachineCall,
    MachinePrompt,
    MachineSpending,
    Query,
    User,
)
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.machines.spending import Usage

_BATCH = 200
_KEY = 64  # characters of a call's key; a second question has a suffix


def by_people() -> ColumnElement[bool]:
    """Select the assignments of people."""
    return Assignment.user_id.not_in(select(User.id).where(User.machine))


def machine_of_name(session: Session, name: str) -> User | None:
    """Return the machine with exactly this name."""
    statement = select(User).where(User.machine, User.name == name).order_by(User.id)
    return session.scalars(statement.limit(1)).one_or_none()


def machines_at_work(session: Session, study_id: int) -> dict[str, str]:
    """Return the names of the machines with answers in a study, by e-mail."""
    statement = (
        select(User.email, User.name)
        .join(Assignment, Assignment.user_id == User.id)
        .join(Query, Query.id == Assignment.query_id)
        .where(
            Query.study_id == study_id,
            User.machine,
            Assignment.answered > 0,
            Assignment.withdrawn_at.is_(None),
        )
        .distinct()
    )
    return {row[0]: row[1] for row in session.execute(statement)}


def machine_work(session: Session, study_id: int) -> list[tuple[str, int, int]]:
    """Return name, sessions and answers of each machine that judged in a study."""
    statement = (
        select(User.name, func.count(), func.sum(Assignment.answered))
        .join(Assignment, Assignment.user_id == User.id)
        .join(Query, Query.id == Assignment.query_id)
        .where(
            Query.study_id == study_id,
            User.machine,
            Assignment.answered > 0,
            Assignment.withdrawn_at.is_(None),
        )
        .group_by(User.id, User.name)
        .order_by(User.name)
    )
    return [(name, count, int(answers)) for name, count, answers in session.execute(statement)]


def latest_prompt(session: Session, study_id: int, tool: Tool) -> MachinePrompt | None:
    """Return the prompt that is in use; None if the study has none of its own."""
    statement = select(MachinePrompt).where(
        MachinePrompt.study_id == study_id, MachinePrompt.tool == tool
    )
    return session.scalar(statement.order_by(MachinePrompt.number.desc()).limit(1))


def prompt_texts(session: Session, study_id: int, tool: Tool) -> dict[int, str]:
    """Return every version of a study's own prompt by its number."""
    statement = select(MachinePrompt.number, MachinePrompt.text).where(
        MachinePrompt.study_id == study_id, MachinePrompt.tool == tool
    )
    return {row[0]: row[1] for row in session.execute(statement)}


def versions_used(
    session: Session, study_id: int, machine: str, tool: Tool
) -> Sequence[Row[str, str, int]]:
    """Return model, its version and number of the prompt of a machine's answered calls."""
    statement = (
        select(MachineCall.model, MachineCall.version, MachineCall.prompt_number)
        .join(Assignment, Assignment.id == MachineCall.assignment_id)
        .join(Query, Query.id == Assignment.query_id)
        .join(User, User.id == Assignment.user_id)
        .where(
            Query.study_id == study_id,
            User.machine,
            User.name == machine,
            Assignment.tool == tool,
            MachineCall.answer.is_not(None),
        )
        .distinct()
    )
    return session.execute(statement).all()


def open_work(
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


def queries_without(session: Session, study_id: int, user_id: int, tool: Tool) -> Sequence[int]:
    """Return the queries of a study that a machine was not assigned with a tool."""
    mine = select(Assignment.query_id).where(Assignment.user_id == user_id, Assignment.tool == tool)
    statement = select(Query.id).where(Query.study_id == study_id, Query.id.not_in(mine))
    return session.scalars(statement.order_by(Query.position)).all()


def runs_of_study(session: Session, study_id: int, limit: int) -> Sequence[Job]:
    """Return the latest runs of machines, with their results."""
    statement = select(Job).where(Job.study_id == study_id, Job.kind == "judge")
    latest = statement.order_by(Job.id.desc()).limit(limit)
    return session.scalars(latest.options(undefer(Job.result))).all()


def call_of_key(session: Session, key: str) -> MachineCall | None:
    """Return a call, locked for a change."""
    return session.scalar(select(MachineCall).where(MachineCall.key == key).with_for_update())


def calls_of_study(
    session: Session, study_id: int, user_id: int | None
) -> Generator[Row[MachineCall, str, int, Tool, int], None, None]:
    """Yield the calls of a study, or of one machine, with query, user, tool and round."""
    statement = (
        select(
            MachineCall, Query.external_id, Assignment.user_id, Assignment.tool, Assignment.round
        )
        .join(Assignment, Assignment.id == MachineCall.assignment_id)
        .join(Query, Query.id == Assignment.query_id)
        .where(Query.study_id == study_id)
        .order_by(MachineCall.id)
    )
    if user_id is not None:
        statement = statement.where(Assignment.user_id == user_id)
    with session.execute(statement.execution_options(yield_per=_BATCH)) as rows:
        yield from rows


def form_of(session: Session, user_id: int, model: str) -> str | None:
    """Return the form of replies in the latest call of a machine, which it goes on with."""
    statement = (
        select(MachineCall.form)
        .join(Assignment, Assignment.id == MachineCall.assignment_id)
        .where(Assignment.user_id == user_id, MachineCall.model == model)
        .order_by(MachineCall.id.desc())
        .limit(1)
    )
    return session.scalar(statement)


def spending_of(session: Session, study_id: int, user_id: int) -> MachineSpending | None:
    """Return the row of what a machine has spent in a study; None before its first run."""
    return session.scalar(
        select(MachineSpending).where(
            MachineSpending.study_id == study_id, MachineSpending.user_id == user_id
        )
    )


def spend(session: Session, spending_id: int, key: str, change: Usage) -> Usage:
    """Add to what a machine has spent, and to the call with this key; return the new total.

    The row of the machine is locked until the transaction ends, so that runs wait for each other.
    """
    changes = asdict(change)
    for table, mine in (
        (MachineCall, MachineCall.key == key[:_KEY]),
        (MachineSpending, MachineSpending.id == spending_id),
    ):
        values = {name: getattr(table, name) + more for name, more in changes.items()}
        statement = update(table).where(mine).values(values)
        session.execute(statement.execution_options(synchronize_session=False))
    columns = (getattr(MachineSpending, name) for name in changes)
    return Usage(*session.execute(select(*columns).where(MachineSpending.id == spending_id)).one())


def mean_call(
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
