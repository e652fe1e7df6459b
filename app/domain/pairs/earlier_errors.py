"""What the earlier sessions of an assessor say about how the same person errs in the next one."""

from collections.abc import Sequence

from topkapi.app.domain.pairs.confidence import ErrorModel

# Variances between the sessions of one person, of the logit of the lapse and the log of the width.
# The tie ratio keeps its tight prior; the spacing of scores belongs to a query, not to a person.
BETWEEN = (0.6, 0.3)
MOST = 20  # sessions, the latest ones


def prior_from(models: Sequence[ErrorModel]) -> ErrorModel | None:
    """Return means and precisions of a normal prior of lapse and width from earlier sessions.

    Each model is a pair of means and variances. A session's parameter is taken to vary around the
    person's by `BETWEEN`, and the next session's as well; sessions weigh by what they learned.
    None without earlier sessions.
    """
    latest = list(models)[-MOST:]
    if not latest:
        return None
    found = [_pooled(latest, column) for column in range(len(BETWEEN))]
    return tuple(mean for mean, _ in found), tuple(precision for _, precision in found)


def _pooled(models: Sequence[ErrorModel], column: int) -> tuple[float, float]:
    """Return the weighted mean of one parameter, and the precision of its prediction."""
    between = BETWEEN[column]
    weights = [1.0 / (variances[column] + between) for _, variances in models]
    total = sum(weights)
    mean = sum(w * means[column] for w, (means, _) in zip(weights, models, strict=True)) / total
    return round(mean, 4), round(1.0 / (1.0 / total + between), 4)
