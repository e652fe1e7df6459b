"""From places to items: a conclusion as the confidence that is told and stored."""

from collections.abc import Sequence

from topkapi.app.domain.pairs.answers import ItemId, Judgment
from topkapi.app.domain.pairs.confidence import ListConfidence, PageConfidence
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.robust.conclusion import Conclusion, ItemPosterior
from topkapi.app.domain.pairs.robust.gains import discounts

_LEAST = 0.001  # pages with a smaller chance of the top k are not told of
_DIGITS = 4  # more would tell of the sampling, not of the pages


def confidence_from(
    found: Conclusion, plan: Plan, judgments: Sequence[Judgment], concluded: Sequence[ItemId]
) -> ListConfidence:
    """``found`` from ``judgments``, beside ``concluded``, the list the session ended with."""
    sure = {plan.order[each.place]: each for each in found.item_posteriors}
    ranking = tuple(plan.order[place] for place in found.ranking)
    others = [item for item in sure.keys() - set(ranking) if sure[item].in_top >= _LEAST]
    others.sort(key=lambda item: (-sure[item].in_top, item))
    quality = _expected(concluded, sure, plan.k) if concluded else None
    return ListConfidence(
        ranking=ranking,
        quality=round(found.quality, _DIGITS),
        concluded_quality=None if quality is None else round(quality, _DIGITS),
        error_rate=round(found.error_rate, _DIGITS),
        answers=sum(judgment.answer.is_preference for judgment in judgments),
        pages=tuple(_page(item, sure[item]) for item in (*ranking, *others)),
    )


def _page(item: ItemId, sure: ItemPosterior) -> PageConfidence:
    return PageConfidence(item, round(sure.in_top, _DIGITS), sure.low, sure.high)


def _expected(listed: Sequence[ItemId], sure: dict[ItemId, ItemPosterior], k: int) -> float:
    """The expected kappa-NDCG of ``listed``; a page out of the contest adds nothing."""
    gains = (sure[item].gain if item in sure else 0.0 for item in listed[:k])
    return sum(gain * float(weight) for gain, weight in zip(gains, discounts(k), strict=False))
