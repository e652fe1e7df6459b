"""Practice questions of a study: list, add, remove."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.models import PracticeItem, Study
from topkapi.app.db.queries.judging.labeling import document_heads
from topkapi.app.db.queries.results.exports import names_of_documents
from topkapi.app.db.queries.studies.importing import document_numbers
from topkapi.app.db.queries.studies.studies import hold_settings
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict, Invalid, NotFound
from topkapi.app.domain.grades.session import AskingGrade
from topkapi.app.domain.lists.plan import ShownList
from topkapi.app.domain.lists.session import AskingLists
from topkapi.app.domain.pairs.answers import Question, QuestionKind
from topkapi.app.domain.pairs.session import Asking
from topkapi.app.domain.session import Progress
from topkapi.app.domain.study import stored_plan
from topkapi.app.domain.text.terms import query_terms
from topkapi.app.domain.training.practice import MAX_QUESTIONS, PracticeQuestion, check_question
from topkapi.app.services import audit
from topkapi.app.services.importing.kinds.practice import question_of
from topkapi.app.services.judging.live_sessions import DocumentHead, QueryHead
from topkapi.app.services.judging.states import AssignmentState
from topkapi.app.services.training import trainings
from topkapi.app.services.training.trainings import TrainingState


def practice_state(
    session: Session, training: TrainingState, item: PracticeItem, number: int, *, done: int
) -> AssignmentState:
    """Return practice question ``number`` as if it were the open question of an assignment.

    ``done`` counts the answered questions: also this one, while its feedback is shown.
    """
    heads = document_heads(session, sorted({*item.left, *item.right}))
    remaining = training.of - done
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
        progress=Progress(done, remaining, remaining, remaining, exact=True),
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
    return QueryHead(
        id=0,
        study_id=training.study_id,
        study_slug=training.slug,
        study_name=training.name,
        name=item.external_id,
        text=item.query,
        description=item.description,
        narrative="",
    )


@dataclass(frozen=True, slots=True)
class StoredQuestion:
    """A practice question of a study with its id and name."""

    id: int
    name: str
    question: PracticeQuestion


def questions_of(session: Session, study: Study) -> list[StoredQuestion]:
    """Return the practice questions of a study in order, with pages by name."""
    items = _items_of(session, study.id)
    numbers = {number for item in items for number in (*item.left, *item.right)}
    names = names_of_documents(session, numbers)
    return [StoredQuestion(item.id, item.external_id, question_of(item, names)) for item in items]


def add_question(
    session: Session, study: Study, question: PracticeQuestion, *, actor_id: int | None = None
) -> PracticeItem:
    """Add a practice question after the others; its pages are documents of the study."""
    hold_settings(session, study, to_change=True)
    check_question(question, study.settings)
    items = _items_of(session, study.id)
    if len(items) >= MAX_QUESTIONS:
        raise Conflict(
            f"A study can have at most {MAX_QUESTIONS} practice questions; remove one first."
        )
    known = document_numbers(session, study.id)
    item = PracticeItem(
        study_id=study.id,
        external_id=_free_name(items),
        position=max((item.position for item in items), default=-1) + 1,
        tool=question.tool,
        query=question.query,
        description=question.description,
        left=_numbers(question.left, "left", known),
        right=_numbers(question.right, "right", known),
        answers=list(question.answers),
        explanation=question.explanation,
    )
    session.add(item)
    session.flush()
    audit.record(
        session, actor_id, "practice.add", study.slug, question=item.external_id, tool=item.tool
    )
    return item


def remove_question(
    session: Session, study: Study, item_id: int, *, actor_id: int | None = None
) -> None:
    """Remove a practice question with its answers; tries that are complete without it end."""
    hold_settings(session, study, to_change=True)
    item = session.get(PracticeItem, item_id)
    if item is None or item.study_id != study.id:
        raise NotFound(f"The study {study.slug!r} has no practice question {item_id}.")
    audit.record(session, actor_id, "practice.remove", study.slug, question=item.external_id)
    session.delete(item)
    session.flush()
    trainings.conclude_open(session, study)


def _free_name(items: Sequence[PracticeItem]) -> str:
    taken = {item.external_id for item in items}
    numbers = range(len(items) + 1, 2 * len(items) + 3)
    return next(name for name in (f"practice-{n}" for n in numbers) if name not in taken)


def _numbers(names: Sequence[str], field: str, known: dict[str, int]) -> list[int]:
    for name in names:
        if name not in known:
            raise Invalid(f"The study has no document {name!r}.", field=field)
    return [known[name] for name in names]


def _items_of(session: Session, study_id: int) -> Sequence[PracticeItem]:
    """Return the practice questions of a study in order."""
    statement = select(PracticeItem).where(PracticeItem.study_id == study_id)
    return session.scalars(statement.order_by(PracticeItem.position, PracticeItem.id)).all()
