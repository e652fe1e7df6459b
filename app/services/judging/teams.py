"""Teams: several people judge one query, and their answers make one list.

Each member has an assignment with its own log. A question is drawn from the answers of all, stored
with the assignment, and its pair leased: until the lease ends nobody else is asked it. What a
person was shown counts when it is answered, even if the lease has ended or the team has finished.

Everything that changes a team holds the lock of its query, taken before that of an assignment.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from topkapi.app.db.queries.judging import teams as queries
from topkapi.app.db.queries.judging.labeling import AssignmentHead
from topkapi.app.db.queries.judging.lists import lock_queries
from topkapi.app.db.queries.judging.teams import Member
from topkapi.app.domain.enums import TimerKind, Tool
from topkapi.app.domain.pairs.reliability import Reliability, errors_in, reliability_of
from topkapi.app.domain.pairs.strategy import prior_in
from topkapi.app.domain.pairs.team_session import (
    TeamSession,
    finished_step,
    merged,
    reopened_step,
)
from topkapi.app.domain.sessions import read_log

LEASE = timedelta(seconds=60)  # four heartbeats of the page
LONGEST_LEASE = timedelta(minutes=15)  # since the clock was started; then heartbeats end to count
_LEAVING = (TimerKind.PAUSE, TimerKind.AUTO_PAUSE, TimerKind.LEAVE)


@dataclass(frozen=True, slots=True)
class Team:
    """The members with the number of answers in each log, undone ones too, and who has a lease."""

    members: Sequence[Member]
    answers: Mapping[int, int]
    leases: frozenset[int]

    def others_asked(self, assignment_id: int) -> tuple[str, ...]:
        """Return the names of the other members who have a question open; first names if unique."""
        return _names([each for each in self._others(assignment_id) if each.id in self.leases])

    def others_here(self, assignment_id: int) -> tuple[str, ...]:
        """Return the names of the other members who have a question open, or wait for one."""
        others = self._others(assignment_id)
        return _names([each for each in others if each.id in self.leases or each.waits])

    def _others(self, assignment_id: int) -> list[Member]:
        return [
            each for each in self.members if each.id != assignment_id and each.finished_at is None
        ]


def _names(members: Sequence[Member]) -> tuple[str, ...]:
    first = [each.name.split()[0] for each in members if each.name.split()]
    return tuple(first if len(set(first)) == len(members) else [each.name for each in members])


def join_team(session: Session, assignment: AssignmentHead, joining: TeamSession) -> Team:
    """Bring the session of a member up to date with the whole team."""
    members = queries.members(session, assignment)
    index = {member.id: number for number, member in enumerate(members)}
    rows = queries.team_log(session, index)
    log = zip(rows, read_log(Tool.PAIRS, rows), strict=True)
    given, answers = merged((index[row.assignment_id], entry) for row, entry in log)
    leases = queries.open_leases(session, assignment.query_id)
    elsewhere = [pair for holder, pair in leases.items() if holder != assignment.id]
    known = set(joining.plan.order)
    joining.join(
        given,
        index[assignment.id],
        [prior_in(member.pending_question) for member in members],
        [pair for pair in elsewhere if known.issuperset(pair)],
    )
    return Team(members, answers, frozenset(leases))


def publish(
    session: Session, assignment: AssignmentHead, team: Team, current: TeamSession, at: datetime
) -> None:
    """Lease the open pair of a member, and finish or reopen the work of the others.

    The step of the member itself is already stored.
    """
    end, pair = current.end, current.open_pair
    ended: list[dict[str, Any]] = []
    for number, member in enumerate(team.members):
        if member.id == assignment.id:
            continue
        if end is not None:
            after, before = team.answers.get(number, 0), member.pending_question
            ended.append(
                {
                    "id": member.id,
                    "pending_question": finished_step(end, number, after=after, before=before),
                    "finished_at": member.finished_at or at,
                    "expected_left": 0,
                }
            )
        elif member.finished_at is not None and not current.stored:
            queries.reopen(session, member.id, reopened_step(member.pending_question or {}))
    queries.store_for_members(session, ended)
    if end is not None:
        queries.release(session, [member.id for member in team.members])
    elif pair is not None:
        queries.lease(session, assignment.id, assignment.query_id, pair, LEASE)
    else:
        queries.release(session, [assignment.id])


def lock_teams(session: Session, assignment_ids: Collection[int]) -> set[int]:
    """Lock the queries of assignments that belong to teams, and return them."""
    locked = queries.queries_of_teams(session, assignment_ids)
    lock_queries(session, locked)
    return locked


def reopen_teams(session: Session, query_ids: set[int]) -> None:
    """Reopen the teams of queries whose members have changed: other answers count now."""
    for row in queries.finished_teams(session, query_ids) if query_ids else ():
        queries.reopen(session, row.id, reopened_step(row.pending_question or {}))


def note_presence(
    session: Session, assignment: AssignmentHead, kind: TimerKind, at: datetime
) -> None:
    """End the lease of a member who leaves or pauses, extend that of one who works.

    To be called before the event, of the time ``at``, is stored.
    """
    if not (assignment.pending_question or {}).get("team"):
        return
    since = assignment.started_at or assignment.last_entry_at or assignment.created_at
    if kind is TimerKind.HEARTBEAT and at - since > LONGEST_LEASE:
        return
    lock_queries(session, [assignment.query_id])
    pair = queries.pending_pair(session, assignment.id)
    if kind in _LEAVING or pair is None:
        queries.release(session, [assignment.id])
    else:
        queries.lease(session, assignment.id, assignment.query_id, pair, LEASE)


def reliabilities(session: Session, study_id: int) -> dict[int, Reliability]:
    """Return how each member of a team of the study errs, by user."""
    found: defaultdict[int, list[tuple[int, Sequence[Sequence[float]]]]] = defaultdict(list)
    for user_id, answered, stored in queries.answers_in_teams(session, study_id):
        errors = errors_in(stored)
        if errors is not None:
            found[user_id].append((answered, errors))
    pooled = {user_id: reliability_of(rows) for user_id, rows in found.items()}
    return {user_id: each for user_id, each in pooled.items() if each is not None}
