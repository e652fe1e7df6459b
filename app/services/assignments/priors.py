"""The prior of a study: scores of its candidates that help to choose the questions."""

from sqlalchemy.orm import Session

from topkapi.app.db.models import Study, User
from topkapi.app.db.queries.assignments import assignments as queries
from topkapi.app.db.queries.results.exports import document_names
from topkapi.app.domain.errors import Conflict
from topkapi.app.domain.pairs.sorters.registry import SORTERS
from topkapi.app.domain.study import StudySettings

Scores = dict[int, dict[int, float]]  # by query and document
_MACHINE = "machine:"


def prior_scores(session: Session, study: Study, settings: StudySettings) -> Scores:
    """Return the scores that the setting `prior` names; refuse a prior that nobody has."""
    if not settings.prior or not SORTERS[settings.sorter].sampled:
        return {}
    if settings.prior.startswith(_MACHINE):
        return _machine_scores(session, study, settings.prior.removeprefix(_MACHINE).strip())
    scores = queries.prior_of_study(session, study.id, settings.prior)
    if not scores:
        raise Conflict(
            f"No candidate has the feature {settings.prior!r}, which the setting prior names. "
            "Import candidates with it, or change the setting."
        )
    return scores


def _machine_scores(session: Session, study: Study, name: str) -> Scores:
    """Return the grades of a machine, or for queries without them the labels of its list."""
    # Imported here, so that a server starts without the numerical libraries.
    from topkapi.app.services.results.exports.labels import grade_labels, labels_by_query
    from topkapi.app.services.results.exports.source import ExportOptions, StudySource

    source = StudySource(session, study.slug, ExportOptions(assessor=name, machines=True))
    scores: dict[str, dict[str, float]] = {}
    for label in grade_labels(source):
        scores.setdefault(label.query, {})[label.document] = label.label
    for query, labels in labels_by_query(source):
        scores.setdefault(query.name, {**labels})
    if not scores or not session.get_one(User, source.only).machine:
        raise Conflict(
            f"No machine {name!r}, which the setting prior names, has finished a query of this "
            "study. Let it judge first, or change the setting."
        )
    found: Scores = {}
    for query in source.queries():
        if query.name in scores:
            names, known = document_names(session, query.number), scores[query.name]
            found[query.number] = {i: known[name] for i, name in names.items() if name in known}
    return found
