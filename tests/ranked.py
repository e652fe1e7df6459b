"""Studies with rankings of systems, and assessors who compare them, for tests of T3."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.assessing import Assessor
from tests.factories import make_study, make_user, queries_of
from topkapi.app.db.models import Assignment, Candidate, Query, Ranking, Study, User
from topkapi.app.domain.assignment.rotation import AssignmentSpec
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.lists.session import AskingLists
from topkapi.app.services.assignments.rotation import assign
from topkapi.app.services.judging.states import AssignmentState

Opinion = Callable[[AskingLists], str]


def make_ranked_study(
    session: Session,
    *,
    slug: str | None = None,
    systems: int = 4,
    queries: int = 1,
    documents: int = 8,
    **settings: Any,
) -> Study:
    """Create a study in which every query has rankings of systems, each a different order."""
    rules = {"k": 5, "tools": (Tool.PAIRS, Tool.GRADES, Tool.LISTS), **settings}
    study = make_study(session, slug=slug, queries=queries, documents=documents, **rules)
    add_rankings(session, study, systems)
    return study


def add_rankings(session: Session, study: Study, systems: int = 3) -> None:
    """Add rankings of ``systems`` systems to every query, each a different order of its pages."""
    for query in queries_of(session, study):
        pages = pages_of(session, query)
        for number in range(systems):
            turned = [*pages[number:], *pages[:number]]
            ranked = turned if number % 2 else turned[::-1]
            session.add(Ranking(query_id=query.id, system=f"system-{number}", documents=ranked))
    session.flush()


def compare_lists(session: Session, slug: str, email: str) -> None:
    """Add lists to a study, and let ``email`` compare all of them for its first query."""
    study = session.scalars(select(Study).where(Study.slug == slug)).one()
    user = session.scalars(select(User).where(User.email == email)).one()
    settings = study.settings
    study.settings = replace(settings, tools=(*settings.tools, Tool.LISTS))
    add_rankings(session, study)
    work = give_lists(session, study, user=user)
    Judge(session, work).to_the_end()


def pages_of(session: Session, query: Query) -> Sequence[int]:
    """Return the query's pages in order."""
    statement = select(Candidate.document_id).where(Candidate.query_id == query.id)
    return session.scalars(statement.order_by(Candidate.position)).all()


def grade_pages(session: Session, study: Study) -> None:
    """Give every page a known grade from 0 to 4, by its position."""
    for query in queries_of(session, study):
        statement = select(Candidate).where(Candidate.query_id == query.id)
        for candidate in session.scalars(statement):
            candidate.grade = candidate.position % 5
    session.flush()


def give_lists(
    session: Session,
    study: Study,
    query: Query | None = None,
    *,
    user: User | None = None,
    round: int = 0,
    seed: str = "seed",
) -> Assignment:
    """Create a list assignment for ``user`` (a new person) on ``query`` (the study's first)."""
    query = query or queries_of(session, study)[0]
    user = user or make_user(session)
    share = AssignmentSpec(user.id, query.id, Tool.LISTS, round)
    return assign(session, study, [share], seed=seed)[0]


def first_page_decides(state: AskingLists) -> str:
    """Prefer the list whose first page has the smaller id."""
    return "left" if state.left.documents[0] < state.right.documents[0] else "right_much"


class Judge(Assessor):
    """One assessor who compares lists."""

    def shown(self) -> tuple[str, ...]:
        """Return the systems of the lists on the screen."""
        state = self.look().state
        assert isinstance(state, AskingLists)
        return state.left.system, state.right.system

    def say(self, opinion: Opinion = first_page_decides) -> AssignmentState:
        """Answer the open question."""
        state = self.look().state
        assert isinstance(state, AskingLists)
        return self.answer(opinion(state))

    def to_the_end(self, opinion: Opinion = first_page_decides) -> int:
        """Answer all questions; return how many there were."""
        count = 0
        while not self.look().finished:
            self.say(opinion)
            count += 1
        return count
