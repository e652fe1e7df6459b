"""A practice question as the state of an assignment, so that practice looks like judging."""

from sqlalchemy.orm import Session

from topkapi.app.db.models import PracticeItem
from topkapi.app.db.queries.judging.labeling import document_heads
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.grades.session import AskingGrade
from topkapi.app.domain.lists.plan import ShownList
from topkapi.app.domain.lists.session import AskingLists
from topkapi.app.domain.pairs.answers import Question, QuestionKind
from topkapi.app.domain.pairs.session import Asking
from topkapi.app.domain.session import Progress
from topkapi.app.domain.study import stored_plan
from topkapi.app.domain.text.terms import query_terms
from topkapi.app.services.judging.live_sessions import DocumentHead, QueryHead
from topkapi.app.services.judging.states import AssignmentState
from topkapi.app.services.training.trainings import TrainingState


def practice_state(
    session: Session, training: TrainingState, item: PracticeItem, number: int
) -> AssignmentState:
    """Return practice question ``number`` as if it were the open question of an assignment."""
    heads = document_heads(session, sorted({*item.left, *item.right}))
    left = training.of - number + 1
    return AssignmentState(
        assignment_id=0,
        tool=item.tool,
        query=_query(training, item),
        terms=query_terms(item.query),
        documents={row[0]: DocumentHead(*row) for row in heads},
        plan=stored_plan(training.settings, item.tool, (), ""),
        position=number - 1,
        state=_asking(item),
        new=frozenset(),
        progress=Progress(number - 1, left, left, left, exact=True),
        scale=training.of,
        can_undo=False,
        can_redo=False,
        active_ms=0,
    )


def _asking(item: PracticeItem) -> Asking | AskingGrade | AskingLists:
    if item.tool is Tool.GRADES:
        return AskingGrade(item.left[0])
    if item.tool is Tool.LISTS:
        left = ShownList(1, "left", tuple(item.left))
        return AskingLists(left, ShownList(2, "right", tuple(item.right)))
    return Asking(Question(QuestionKind.SORT, item.left[0], item.right[0]))


def _query(training: TrainingState, item: PracticeItem) -> QueryHead:
    study = training.study
    return QueryHead(
        id=0,
        study_id=study.id,
        study_slug=study.slug,
        study_name=study.name,
        name=item.external_id,
        text=item.query,
        description=item.description,
        narrative="",
    )
