"""Reliability of the people who judge in teams."""

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy.orm import Session

from topkapi.app.db.queries.judging import teams as queries
from topkapi.app.domain.pairs.reliability import Reliability, errors_in, reliability_of


def reliabilities(session: Session, study_id: int) -> dict[int, Reliability]:
    """Return how each member of a team of the study errs, by user."""
    found: defaultdict[int, list[tuple[int, Sequence[Sequence[float]]]]] = defaultdict(list)
    for user_id, answered, stored in queries.answers_in_teams(session, study_id):
        errors = errors_in(stored)
        if errors is not None:
            found[user_id].append((answered, errors))
    pooled = {user_id: reliability_of(rows) for user_id, rows in found.items()}
    return {user_id: each for user_id, each in pooled.items() if each is not None}
