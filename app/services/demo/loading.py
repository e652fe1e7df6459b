"""Loading the demo: accounts, the study, assignments by rotation, and simulated work."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

from sqlalchemy import func, select
from sqlalchemy.orm import Session

import topkapi.app
from topkapi.app.db.base import now
from topkapi.app.db.models import Assignment, Candidate, Document, Query, Study, User
from topkapi.app.db.queries.studies.studies import study_of_slug
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.domain.errors import Conflict
from topkapi.app.installation.demo_accounts import DEMO_PASSWORD
from topkapi.app.services.accounts.users import create_user
from topkapi.app.services.assignments.rotation import Origin, assign_rotation
from topkapi.app.services.demo.people import ASSESSORS, DemoAssessor, Judge
from topkapi.app.services.demo.working import Sitting
from topkapi.app.services.importing import import_study, open_source
from topkapi.app.services.judging.live_sessions import LiveSessions
from topkapi.app.services.studies.lifecycle import set_access

ROUNDS = 2
_SEED = "demo"
_STAFF = (
    ("Aylin Demir", "admin@demo.example", Role.ADMIN),
    ("Rosa Keller", "researcher@demo.example", Role.RESEARCHER),
)
_LISTS = timedelta(hours=30)  # lists were compared up to so long before the demo is loaded
_BETWEEN = timedelta(hours=7)  # from one assignment to the next


@dataclass(frozen=True, slots=True)
class SignIn:
    """A demo account to sign in with."""

    email: str
    name: str
    role: Role
    password: str = DEMO_PASSWORD


@dataclass(frozen=True, slots=True)
class Demo:
    """What was loaded."""

    slug: str
    assignments: int
    finished: int
    judgments: int
    sign_ins: tuple[SignIn, ...]


def demo_folder() -> Path:
    """Return the folder of the demo study, in a checkout and in a wheel."""
    return Path(topkapi.app.__file__).parent / "demo"


def is_empty(session: Session) -> bool:
    """Return whether the database has neither users nor studies."""
    tables = (select(User.id), select(Study.id))
    return all(session.scalar(statement.limit(1)) is None for statement in tables)


def sign_ins(session: Session) -> tuple[SignIn, ...]:
    """Return the existing demo accounts that are not disabled."""
    statement = select(User).where(User.demo, User.disabled_at.is_(None)).order_by(User.id)
    return tuple(SignIn(user.email, user.name, user.role) for user in session.scalars(statement))


def load_demo(session: Session, *, at: datetime | None = None) -> Demo:
    """Create the accounts, import the study, assign two rounds and simulate work."""
    at = at or now()
    _refuse_second(session)
    people = [_account(session, name, email, role) for name, email, role in _STAFF]
    assessors = [
        _account(session, person.name, person.email, Role.ASSESSOR) for person in ASSESSORS
    ]
    admin = people[0]
    with open_source(demo_folder()) as source:
        report = import_study(session, source, actor_id=admin.id)
    study = study_of_slug(session, report.slug)
    assert study is not None
    first_query = session.scalars(select(func.min(Query.id)).where(Query.study == study)).one()
    origin = Origin(person=admin.id - 1, query=first_query - 1)
    work = assign_rotation(
        session,
        study,
        [user.id for user in assessors],
        rounds=ROUNDS,
        seed=_SEED,
        origin=origin,
        actor_id=admin.id,
        at=at - timedelta(days=10),
    )
    set_access(session, study, people[1], given=True, actor_id=admin.id)
    people_at_work = dict(zip((u.id for u in assessors), ASSESSORS, strict=True))
    _let_work(session, study, work, people_at_work, at)
    work += _let_compare(session, study, people_at_work, admin.id, at, origin)
    return Demo(
        slug=study.slug,
        assignments=len(work),
        finished=sum(row.finished_at is not None for row in work),
        judgments=sum(row.answered for row in work),
        sign_ins=sign_ins(session),
    )


def _refuse_second(session: Session) -> None:
    if sign_ins(session):
        raise Conflict(
            "The demo is already loaded. To start over, use another database: "
            "TOPKAPI_DATABASE_URL=sqlite:///fresh.db topkapi demo"
        )


def _account(session: Session, name: str, email: str, role: Role) -> User:
    return create_user(
        session, email=email, name=name, role=role, password=DEMO_PASSWORD, demo=True
    )


def _let_work(
    session: Session,
    study: Study,
    work: Sequence[Assignment],
    people: Mapping[int, DemoAssessor],
    at: datetime,
) -> None:
    truth, grades = _truth(), _grades(session, study)
    names = {row.id: row.external_id for row in session.scalars(select(Query))}
    scale = [grade.name for grade in study.settings.grades]
    live = LiveSessions()
    for user_id, person in people.items():
        random = Random(person.email)
        clock = at - person.began
        mine = [row for row in work if row.user_id == user_id]
        for number, row in enumerate(_in_order(mine)):
            share = 1.0 if number < person.finished else person.begun_share
            if number > person.finished or share == 0:
                break
            query = names[row.query_id]
            judge = Judge(person.habits, truth[query], grades[query], scale, random)
            sitting = Sitting(session, live, row, judge, clock)
            sitting.work(share)
            clock = sitting.at + _BETWEEN * random.uniform(0.6, 1.3)


def _let_compare(
    session: Session,
    study: Study,
    people: Mapping[int, DemoAssessor],
    admin_id: int,
    at: datetime,
    origin: Origin,
) -> list[Assignment]:
    """Assign lists to everyone; assessors without other open work finish them."""
    work = assign_rotation(
        session,
        study,
        list(people),
        rounds=ROUNDS,
        seed=_SEED,
        origin=origin,
        lists=True,
        actor_id=admin_id,
        at=at - timedelta(days=2),
    )
    truth, grades = _truth(), _grades(session, study)
    names = {row.id: row.external_id for row in session.scalars(select(Query))}
    live = LiveSessions()
    for row in work:
        person = people[row.user_id]
        if person.finished < len(names):
            continue
        query = names[row.query_id]
        random = Random(f"{person.email}/lists/{query}")
        judge = Judge(person.habits, truth[query], grades[query], (), random)
        Sitting(session, live, row, judge, at - _LISTS * random.uniform(0.5, 1)).work(1.0)
    return work


def _in_order(work: Sequence[Assignment]) -> list[Assignment]:
    """Return the work by round, pairs before grades."""
    return sorted(work, key=lambda row: (row.round, row.tool is not Tool.PAIRS, row.id))


def _truth() -> dict[str, list[str]]:
    """Return the true order of the pages per query, known only to simulated assessors."""
    lines = (demo_folder() / "truth.jsonl").read_text(encoding="utf-8").splitlines()
    return {record["query"]: record["order"] for record in map(json.loads, lines)}


def _grades(session: Session, study: Study) -> dict[str, dict[str, int]]:
    statement = (
        select(Query.external_id, Document.external_id, Candidate.grade)
        .join(Candidate, Candidate.query_id == Query.id)
        .join(Document, Document.id == Candidate.document_id)
        .where(Query.study_id == study.id)
    )
    found: dict[str, dict[str, int]] = {}
    for query, document, grade in session.execute(statement):
        found.setdefault(query, {})[document] = grade or 0
    return found
