"""How the people of a study err: learned from finished work, and the prior of the next query.

The evidence of a finished query is computed after its last answer is stored, in a thread, and
stored with the work. The prior of a query is computed from all of it when the query is begun.
"""

import logging
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event, Lock
from typing import TYPE_CHECKING, cast

from sqlalchemy import event
from sqlalchemy.orm import Session

from topkapi.app.db.engine import Sessions
from topkapi.app.db.queries.judging import teams as queries
from topkapi.app.db.queries.judging.labeling import assignment_of
from topkapi.app.domain.pairs.session import PairSession
from topkapi.app.domain.pairs.team_session import TeamSession
from topkapi.app.services.judging.catching_up import caught_up
from topkapi.app.services.judging.live_sessions import LiveAssignment, LiveSessions

if TYPE_CHECKING:  # loads NumPy
    from topkapi.app.domain.pairs.robust.strategy import RobustStrategy

MOST = 20  # finished queries of a person that count, the latest ones
MOST_OF_STUDY = 400  # finished queries that count; reading more would delay the answer
_log = logging.getLogger("topkapi.study_errors")


def use_study_errors(session: Session, live: LiveAssignment) -> None:
    """Tell a new session what the finished work of the study says about the person's errors."""
    if not isinstance(live.session, PairSession) or not live.session.awaits_prior:
        return
    evidence_of: defaultdict[int, list[list[float]]] = defaultdict(list)
    rows = queries.evidence_of_study(session, live.query.study_id, live.user_id, MOST_OF_STUDY)
    for user_id, evidence in rows:
        if len(evidence_of[user_id]) < MOST:
            evidence_of[user_id].append(evidence)
    if evidence_of:
        from topkapi.app.domain.pairs.robust.study_errors import study_priors  # loads NumPy

        live.session.use_prior(study_priors({live.user_id: [], **evidence_of})[live.user_id])


def learn_errors(
    sessions: Sessions, study_id: int, is_closed: Callable[[], bool] = lambda: False
) -> None:
    """Compute and store the evidence of all finished work of a study that has none."""
    with sessions.read() as session:
        missing = queries.without_evidence(session, study_id)
    done: set[int] = set()
    for assignment_id, user_id in missing:
        if assignment_id not in done and not is_closed():
            try:
                done |= _learn(sessions, assignment_id, user_id)
            except Exception:  # one query must not keep the others from being learned
                _log.exception("the errors in assignment %s were not learned", assignment_id)


def _learn(sessions: Sessions, assignment_id: int, user_id: int) -> set[int]:
    """Store the evidence of an assignment, and of the others of its team; return which."""
    with sessions.read() as session:
        head = assignment_of(session, assignment_id, user_id)
        if head is None or head.pending_question is None:
            return set()
        current = caught_up(session, LiveSessions(), head)
    read = {head.id: head.pending_question}
    if isinstance(current.session, TeamSession) and current.team is not None:
        read = {each.id: each.pending_question or {} for each in current.team.members}
    assert isinstance(current.session, PairSession)
    found = cast("RobustStrategy", current.session.strategy).evidence()
    for (number, before), each in zip(read.items(), found, strict=True):
        with sessions.write.begin() as session:  # who holds two rows may wait for who answers
            queries.store_evidence(session, number, before, each)
    return set(read)


class StudyLearner:
    """Learns in a thread from queries that were finished, after their transactions."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(1, "study-errors")
        self._waiting: set[int] = set()
        self._closed = Event()

    def learn_after(self, session: Session, study_id: int) -> None:
        """Learn from the finished work of a study once the transaction is committed."""
        event.listen(session, "after_commit", partial(self._submit, study_id), once=True)

    def _submit(self, study_id: int, session: Session) -> None:  # noqa: ARG002 (of the event)
        with self._lock:
            if study_id not in self._waiting and not self._closed.is_set():
                self._waiting.add(study_id)
                self._pool.submit(self._run, study_id)

    def _run(self, study_id: int) -> None:
        with self._lock:
            self._waiting.discard(study_id)
        learn_errors(self._sessions, study_id, self._closed.is_set)

    def close(self) -> None:
        """Stop after the query that is computed now."""
        with self._lock:
            self._closed.set()
        self._pool.shutdown(cancel_futures=True)
