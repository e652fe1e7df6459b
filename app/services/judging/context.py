"""What the judging page shows beside the question: guidelines, settings and the query number."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from topkapi.app.db.models import User
from topkapi.app.db.queries.judging import labeling as queries
from topkapi.app.db.queries.judging.queue import work_in_study
from topkapi.app.db.queries.judging.timing import time_on_question
from topkapi.app.domain.shortcuts import keys_of
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.judging.labeling import assignment_at_work
from topkapi.app.services.judging.states import AssignmentState


@dataclass(frozen=True, slots=True)
class JudgingContext:
    """The study's guidelines and settings, the query's number in the person's queue, and its time.

    ``number`` is one more than the finished ones among ``of`` assignments; ``question_ms`` is the
    time already spent on the open question; ``keys`` maps actions to the person's keys;
    ``answers`` is how many questions with this tool the person has answered in the study;
    ``added`` is how many pages the query got since the last of them.
    """

    guidelines: str
    settings: StudySettings
    number: int
    of: int
    question_ms: int
    keys: Mapping[str, str]
    answers: int = 0
    added: int = 0


def judging_context(
    session: Session, assignment_state: AssignmentState, *, user_id: int
) -> JudgingContext:
    """Return the judging context for an assignment of this person."""
    assignment = assignment_at_work(session, assignment_state.assignment_id, user_id)
    study = queries.query_with_study(session, assignment.query_id).study
    mine = work_in_study(session, user_id, assignment_state.query.study_id)
    return JudgingContext(
        guidelines=study.guidelines,
        settings=study.settings,
        number=1 + sum(row.finished_at is not None for row in mine if row.id != assignment.id),
        of=max(1, len(mine)),
        question_ms=time_on_question(session, assignment),
        keys=keys_of(session.get_one(User, user_id).keys),
        answers=sum(row.answered for row in mine if row.tool is assignment_state.tool),
        added=sum(row.added_pages for row in mine if row.id == assignment.id),
    )
