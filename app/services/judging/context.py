"""What lies on an assessor's context beside the question: the study's rules, and where they are."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from topkapi.app.db.queries.judging import labeling as queries
from topkapi.app.db.queries.judging.queue import work_in_study
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.judging import timing
from topkapi.app.services.judging.labeling import AssignmentState, assignment_at_work


@dataclass(frozen=True, slots=True)
class JudgingContext:
    """The rules of the study, the number of this query among the person's, and its clock."""

    guidelines: str
    settings: StudySettings
    number: int
    of: int
    question_ms: int


def judging_context(
    session: Session, assignment_state: AssignmentState, *, user_id: int
) -> JudgingContext:
    """The context for an assignment of this person."""
    assignment = assignment_at_work(session, assignment_state.assignment_id, user_id)
    study = queries.query_with_study(session, assignment.query_id).study
    mine = work_in_study(session, user_id, assignment_state.query.study_id)
    return JudgingContext(
        guidelines=study.guidelines,
        settings=StudySettings.from_json(study.settings),
        number=mine.index(assignment.id) + 1 if assignment.id in mine else 1,
        of=max(1, len(mine)),
        question_ms=timing.time_on_question(session, assignment),
    )
