"""What a person's finished sessions say about their errors, used by their next session."""

from sqlalchemy.orm import Session

from topkapi.app.db.queries.judging import labeling as queries
from topkapi.app.domain.pairs.earlier_errors import prior_from
from topkapi.app.domain.pairs.pending_question import error_model_in
from topkapi.app.domain.pairs.session import PairSession
from topkapi.app.services.judging.live_sessions import LiveAssignment


def use_earlier_errors(session: Session, live: LiveAssignment, user_id: int) -> None:
    """Tell a new session what the person's finished ones in the study say about their errors."""
    if isinstance(live.session, PairSession) and live.session.awaits_prior:
        rows = queries.finished_questions(session, user_id, live.query.study_id)
        prior = prior_from([model for row in rows if (model := error_model_in(row)) is not None])
        if prior is not None:
            live.session.use_prior(prior)
