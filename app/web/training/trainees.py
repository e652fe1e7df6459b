"""Lines of the table of people in training."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from topkapi.app.db.models import Study, Training, User
from topkapi.app.db.queries import training as queries
from topkapi.app.domain.training.rules import Step, TrainingRules, rules_of
from topkapi.app.services.training.trainings import missed_in_last_try, record_of
from topkapi.app.web.training.views import TraineeLine

_KINDS = {Step.PASSED: "good", Step.FAILED: "warn", Step.PRACTICE: "accent", Step.GUIDELINES: ""}


def trainees_of(session: Session, study: Study) -> Sequence[TraineeLine]:
    """Return the people with work in the study and the state of their training."""
    rules = rules_of(study.settings)
    missed = missed_in_last_try(session, study)
    return [
        _line(user, training, begun, rules, missed.get(user.id, ()))
        for user, training, begun in queries.people_in(session, study.id)
    ]


def _line(
    user: User,
    training: Training | None,
    begun: int,
    rules: TrainingRules,
    missed: Sequence[str],
) -> TraineeLine:
    record = record_of(training)
    step = record.step(rules)
    states = {
        Step.GUIDELINES: "not begun",
        Step.PRACTICE: f"try {record.attempt}" if rules.needed else "practising",
        Step.FAILED: "no tries left",
        Step.PASSED: "passed",
    }
    exempt = begun > 0 and not record.passed
    return TraineeLine(
        user_id=user.id,
        name=user.name,
        email=user.email,
        state="began without training" if exempt else states[step],
        kind="" if exempt else _KINDS[step],
        score=_score(training),
        missed=missed,
        may_grant=step is Step.FAILED and not exempt,
    )


def _score(training: Training | None) -> str:
    if training is None or not training.asked:
        return ""
    return f"{training.agreed} of {training.asked}"
