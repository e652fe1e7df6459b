"""Conversion of a conclusion about indices to the reported confidence about items."""

from collections.abc import Sequence

from topkapi.app.domain.pairs.answers import ItemId, Judgment
from topkapi.app.domain.pairs.confidence import ListConfidence, PageConfidence
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.robust.conclusion import Conclusion, ItemPosterior
from topkapi.app.domain.pairs.robust.gains import discounts

_LEAST = 0.001  # pages with a smaller probability of being in the top k are omitted
_DIGITS = 4  # further digits are sampling noise


def confidence_from(
    found: Conclusion, plan: Plan, judgments: Sequence[Judgment], concluded: Sequence[ItemId]
) -> ListConfidence:
    """Return ``found``, the conclusion from ``judgments``, as a `ListConfidence`.

    ``concluded`` is the list of the finished session, or empty.
    """
    posteriors = {plan.order[each.index]: each for each in found.item_posteriors}
    ranking = tuple(plan.order[index] for index in found.ranking)
    others = [
        item for item in posteriors.keys() - set(ranking) if posteriors[item].in_top >= _LEAST
    ]
    others.sort(key=lambda item: (-posteriors[item].in_top, item))
    quality = _expected(concluded, posteriors, plan.k) if concluded else None
    return ListConfidence(
        ranking=ranking,
        quality=round(found.quality, _DIGITS),
        concluded_quality=None if quality is None else round(quality, _DIGITS),
        error_rate=round(found.error_rate, _DIGITS),
        answers=sum(judgment.answer.is_preference for judgment in judgments),
        pages=tuple(_page(item, posteriors[item]) for item in (*ranking, *others)),
    )


def _page(item: ItemId, posterior: ItemPosterior) -> PageConfidence:
    return PageConfidence(item, round(posterior.in_top, _DIGITS), posterior.low, posterior.high)


def _expected(listed: Sequence[ItemId], posteriors: dict[ItemId, ItemPosterior], k: int) -> float:
    """Return the expected kappa-NDCG of ``listed``; a removed page has gain 0."""
    gains = (posteriors[item].gain if item in posteriors else 0.0 for item in listed[:k])
    return sum(gain * float(weight) for gain, weight in zip(gains, discounts(k), strict=False))
