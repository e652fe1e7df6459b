"""What can be compared on a study: ground truths, features and models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from topkapi.app.db.base import Json
from topkapi.app.db.models import Assignment, Candidate, Query
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.values import by_number
from topkapi.extras import EXTRAS, is_installed

_SAMPLE = 200  # candidates whose features are looked at

FEWEST_QUERIES = 3  # a part to train on, one to tune on, one to test on
USUAL = ("regression", "ranksvm", "listnet", "topk-listmle", "focused-net")
CONSENSUS = ("bradley-terry", "supervised-kemeny")
_TOOLS = {"topk": Tool.PAIRS, "graded": Tool.GRADES}


@dataclass(frozen=True, slots=True)
class ModelOffer:
    """What a comparison can use; ``queries`` are those with labels, per ground truth.

    A study without features of its own is compared on features of its texts.
    """

    queries: Mapping[str, int]
    models: Mapping[str, str]
    features: Sequence[str]
    own_features: bool

    @property
    def possible(self) -> bool:
        """Whether any ground truth has enough queries."""
        return max(self.queries.values()) >= FEWEST_QUERIES


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """What somebody wants to compare."""

    truth: str = "topk"
    models: tuple[str, ...] = USUAL
    features: tuple[str, ...] = ()
    consensus: str = CONSENSUS[0]


def model_offer(session: Session, study_id: int) -> ModelOffer:
    """Return what can be compared on a study. The numerical libraries are loaded here."""
    from topkapi.analysis.data.text_features import NAMES
    from topkapi.analysis.experiments.grids import TABLE_ORDER, title

    labelled = _labelled_queries(session, study_id)
    own = _feature_names(session, study_id)
    return ModelOffer(
        queries={truth: labelled.get(tool, 0) for truth, tool in _TOOLS.items()},
        models={
            name: title(name) for name in TABLE_ORDER if name not in EXTRAS or is_installed(name)
        },
        features=sorted(own, key=by_number) if own else NAMES,
        own_features=bool(own),
    )


def job_parameters(offer: ModelOffer, choice: ModelChoice) -> Json:
    """Return the parameters of the job; raise Invalid for a choice that is not offered."""
    if choice.truth not in offer.queries:
        raise Invalid("Choose lists or grades as ground truth.", field="truth")
    if offer.queries[choice.truth] < FEWEST_QUERIES:
        raise Invalid(
            f"{offer.queries[choice.truth]} finished queries have these labels, and a comparison "
            f"needs {FEWEST_QUERIES}: to train, to tune and to test.",
            field="truth",
        )
    if choice.consensus not in CONSENSUS:
        raise Invalid(f"Choose one of {', '.join(CONSENSUS)}.", field="consensus")
    models = [name for name in offer.models if name in choice.models]
    if not models:
        raise Invalid("Choose at least one model.", field="models")
    features = [name for name in offer.features if name in choice.features]
    if not features:
        raise Invalid("Choose at least one feature.", field="features")
    every = len(features) == len(offer.features)
    return {
        "truth": choice.truth,
        "models": models,
        "features": [] if every else features,
        "consensus": choice.consensus,
    }


def _labelled_queries(session: Session, study_id: int) -> Mapping[Tool, int]:
    """Return per tool the number of queries that somebody has finished."""
    statement = (
        select(Assignment.tool, func.count(Query.id.distinct()))
        .join(Query, Query.id == Assignment.query_id)
        .where(
            Query.study_id == study_id,
            Assignment.finished_at.is_not(None),
            Assignment.withdrawn_at.is_(None),
        )
        .group_by(Assignment.tool)
    )
    return {row[0]: row[1] for row in session.execute(statement)}


def _feature_names(session: Session, study_id: int) -> set[str]:
    """Return the names of features in a sample of the study's candidates."""
    statement = (
        select(Candidate.features)
        .join(Query, Query.id == Candidate.query_id)
        .where(Query.study_id == study_id, Candidate.features.is_not(None))
        .limit(_SAMPLE)
    )
    return {name for features in session.scalars(statement) for name in features or {}}
