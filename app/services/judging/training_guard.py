"""The guard before the first work of a study: its training must be passed."""

from sqlalchemy.orm import Session

from topkapi.app.db.queries import training as queries
from topkapi.app.db.queries.judging.labeling import AssignmentHead
from topkapi.app.domain.errors import TrainingRequired


def require_training(session: Session, assignment: AssignmentHead, user_id: int) -> None:
    """Raise `TrainingRequired` if this would be the person's first work of a study with training.

    A begun assignment costs no query, so that answers stay fast. A person who began before the
    study had a training is not stopped.
    """
    if assignment.last_entry_at is not None:
        return
    slug, settings, passed = queries.study_and_training(session, user_id, assignment.query_id)
    if not settings.training or passed:
        return
    if not queries.has_begun(session, user_id, slug) and not queries.is_machine(session, user_id):
        raise TrainingRequired(
            "Complete the training of this study first: read the guidelines, then practise.",
            slug=slug,
        )
