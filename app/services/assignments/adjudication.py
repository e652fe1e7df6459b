"""Adjudication: one more person judges the pairs that decide the consensus of a query.

A pair is open if the two possible answers of one more person lead to different lists; see
`topkapi.analysis.aggregation.open_pairs`.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import TYPE_CHECKING

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.base import Json
from topkapi.app.db.models import Assignment, Study, User
from topkapi.app.db.queries.assignments import assignments as queries
from topkapi.app.db.queries.assignments.manual_assignment import (
    VOIDED,
    TrackRecord,
    active_assessors,
    people_who_answered,
    track_records,
)
from topkapi.app.db.queries.results.exports import document_names
from topkapi.app.db.queries.studies.importing import query_numbers
from topkapi.app.db.queries.studies.studies import hold_settings
from topkapi.app.domain.assignment.rotation import ADJUDICATION
from topkapi.app.domain.draws import shuffled
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict
from topkapi.app.domain.pairs.answers import Pair
from topkapi.app.domain.pairs.known import ACCURATE
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.services import audit
from topkapi.app.services.accounts.users import user_of_email
from topkapi.app.services.assignments.manual_assignment import query_of_name
from topkapi.app.services.assignments.rotation import refuse_archived
from topkapi.app.services.heads import PersonHead
from topkapi.app.services.results.exports import StudySource

if TYPE_CHECKING:
    from topkapi.analysis.report import StudyData

LISTED = 25  # queries whose open pairs are computed: two consensus lists per pair


@dataclass(frozen=True, slots=True)
class Adjudicator:
    """Somebody who was assigned the open pairs of a query."""

    name: str
    finished: bool


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A query whose finished lists disagree; ``query_id`` is its id in the database.

    ``share`` is the mean share of an assessor's preferences that the consensus reverses, ``pairs``
    are the open pairs of documents. ``free`` are the people who may adjudicate.
    """

    query_id: int
    query: str
    text: str
    lists: int
    share: float
    pairs: Sequence[Sequence[str]]
    adjudicators: Sequence[Adjudicator] = ()
    free: Sequence[PersonHead] = ()

    @property
    def is_waiting(self) -> bool:
        """Whether an adjudication is not finished."""
        return any(not each.finished for each in self.adjudicators)

    @property
    def is_assignable(self) -> bool:
        """Whether it can be assigned to the first of ``free``, whose work was not voided."""
        fair = bool(self.free) and self.free[0].note != VOIDED
        return fair and bool(self.pairs) and not self.is_waiting


@dataclass(frozen=True, slots=True)
class Disagreements:
    """The queries of a study with the most disagreement, and the number of all that disagree."""

    queries: Sequence[Disagreement]
    total: int


def disagreements(session: Session, study: Study, known: Json | None = None) -> Disagreements:
    """Return the queries whose finished lists disagree, most disagreement first.

    ``known`` is what `contention` returned for the study, perhaps some time ago.
    """
    stored = known or _contention(session, study)
    numbers = query_numbers(session, study.id)
    asked = [each for each in stored["queries"] if each["query"] in numbers]
    met = _people_of_queries(session, [numbers[each["query"]] for each in asked])
    known_work, answered = track_records(session, study.id), people_who_answered(session)
    people = _Proposals(active_assessors(session), known_work, answered)
    judged: dict[int, list[Adjudicator]] = {}
    for query, name, finished_at in queries.adjudications_of_study(session, study.id):
        judged.setdefault(query, []).append(Adjudicator(name, finished_at is not None))
    return Disagreements(
        [
            Disagreement(
                query_id=number,
                **each,
                adjudicators=judged.get(number, ()),
                free=people.free(met.get(number, set())),
            )
            for each in asked
            for number in [numbers[each["query"]]]
        ],
        stored["total"],
    )


class _Proposals:
    """Orders people for one query after another: the first of each list is proposed.

    People whose work was voided come last, before them people who are wrong about known pairs; of
    the others the one with the least open and proposed work is first.
    """

    def __init__(
        self,
        people: Sequence[User],
        known: Mapping[int, TrackRecord],
        answered: Collection[int] = (),
    ) -> None:
        self._people, self._answered = people, answered
        self._known = {user.id: known.get(user.id, TrackRecord()) for user in people}
        self._load = Counter({number: each.open for number, each in self._known.items()})

    def free(self, met: set[int]) -> list[PersonHead]:
        """Return the people who have not met the query, the proposed one first."""
        free = sorted((user for user in self._people if user.id not in met), key=self._rank)
        if free:
            self._load[free[0].id] += 1
        return [PersonHead.of(user, self._known[user.id].note or self._hint(user)) for user in free]

    def _hint(self, user: User) -> str:
        is_expected = user.password_hash is None and user.id not in self._answered
        return "invited, has not signed in yet" if is_expected else ""

    def _rank(self, user: User) -> tuple[bool, bool, int, float, str]:
        known = self._known[user.id]
        accuracy = (known.right + 1) / (known.known + 1)
        return known.void > 0, accuracy < ACCURATE, self._load[user.id], -accuracy, user.name


def contention(data: "StudyData") -> Json:
    """Return which queries of a study disagree and in which pairs, by the names of documents."""
    # Imported here, so that a server starts without the numerical libraries.
    from topkapi.analysis.report.subjects.queries import contested

    pairs = [tool for tool in data.tools if tool.name == Tool.PAIRS]
    disputed, total = contested(data, pairs[0], limit=LISTED) if pairs else ([], 0)
    lines = [
        {
            "query": data.queries[each.query],
            "text": data.text(each.query),
            "lists": each.assessors,
            "share": each.share,
            "pairs": [[data.documents[each.query][page] for page in pair] for pair in each.pairs],
        }
        for each in disputed
    ]
    return {"total": total, "queries": lines}


def _contention(session: Session, study: Study, query: str | None = None) -> Json:
    from topkapi.app.services.results.exports.gathering import gather

    return contention(gather(StudySource(session, study.slug), tools=(Tool.PAIRS,), query=query))


def assign_adjudication(
    session: Session, study: Study, *, query: str, email: str, actor_id: int | None = None
) -> Assignment:
    """Assign the open pairs of a query to a person who was never assigned it."""
    user = user_of_email(session, email)
    asked = query_of_name(session, study, query)
    hold_settings(session, study)
    _refuse(session, study, asked.id, user)
    found = _contention(session, study, asked.external_id)["queries"]
    ids = {name: number for number, name in document_names(session, asked.id).items()}
    pairs = [(ids[one], ids[other]) for each in found for one, other in each["pairs"]]
    if not pairs:
        raise Conflict(
            f"No single answer would change the consensus of {asked.external_id}; there is nothing "
            "to adjudicate."
        )
    made = Assignment(
        user_id=user.id,
        query_id=asked.id,
        tool=Tool.PAIRS,
        round=ADJUDICATION,
        plan=_plan(study, pairs, token_hex(16)).as_json(),
        expected_left=len(pairs),
    )
    session.add(made)
    session.flush()
    audit.record(
        session,
        actor_id,
        "adjudication.assign",
        study.slug,
        assignment=made.id,
        assessor=user.email,
        query=asked.external_id,
        pairs=len(pairs),
    )
    return made


def assign_proposals(
    session: Session, study: Study, known: Json | None = None, *, actor_id: int | None = None
) -> int:
    """Assign every listed query that waits for nobody to the person proposed; return how many."""
    proposed = [
        (each.query, each.free[0].email)
        for each in disagreements(session, study, known).queries
        if each.is_assignable
    ]
    for query, email in proposed:
        assign_adjudication(session, study, query=query, email=email, actor_id=actor_id)
    return len(proposed)


def _plan(study: Study, pairs: Sequence[Pair], seed: str) -> Plan:
    """Return the plan that asks the pairs in random order, with the answers of the study."""
    settings = study.settings
    return Plan(
        order=tuple(dict.fromkeys(page for pair in pairs for page in pair)),
        k=settings.k,
        allow_ties=settings.allow_ties,
        allow_bad=settings.allow_bad,
        seed=seed,
        pairs=tuple(shuffled(pairs, seed, "adjudication")),
    )


def _refuse(session: Session, study: Study, query_id: int, user: User) -> None:
    refuse_archived(study)
    if user.disabled_at is not None:
        raise Conflict(f"{user.email} is disabled; enable the account before you assign work.")
    if user.id in _people_of_queries(session, [query_id]).get(query_id, set()):
        raise Conflict(
            f"{user.name} was assigned this query before, and no one judges a query twice. "
            "Choose another person."
        )
    for query, name, finished_at in queries.adjudications_of_study(session, study.id):
        if query == query_id and finished_at is None:
            raise Conflict(f"{name} has been assigned this adjudication and has not finished it.")


def _people_of_queries(session: Session, query_ids: Iterable[int]) -> dict[int, set[int]]:
    """Return everyone who was ever assigned each query, with any tool."""
    statement = select(Assignment.query_id, Assignment.user_id)
    found: dict[int, set[int]] = {}
    for query, user in session.execute(statement.where(Assignment.query_id.in_(set(query_ids)))):
        found.setdefault(query, set()).add(user)
    return found
