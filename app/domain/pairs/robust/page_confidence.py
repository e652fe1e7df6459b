"""Conversion of a conclusion about indices to the reported confidence about items."""

from collections.abc import Sequence

from topkapi.app.domain.pairs.answers import ItemId, Judgment
from topkapi.app.domain.pairs.confidence import Expected, ListConfidence, PageConfidence
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.robust.conclusion import Conclusion, ItemPosterior

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
    index = {item: number for number, item in enumerate(plan.order)}
    listed = [index[item] for item in concluded]
    quality = _rounded(found.kappa_ndcg(listed))
    return ListConfidence(
        ranking=ranking,
        quality=_rounded(found.kappa_ndcg()).mean,
        concluded_quality=quality.mean if concluded else None,
        error_rate=round(found.error_rate, _DIGITS),
        answers=sum(judgment.answer.is_preference for judgment in judgments),
        pages=tuple(
            _page(item, posteriors[item]) for item in (*ranking, *_others(posteriors, ranking))
        ),
        kappa_ndcg=quality,
        overlap=_rounded(found.overlap(listed)),
        error_model=(_all_rounded(found.errors[0]), _all_rounded(found.errors[1])),
    )


def _others(posteriors: dict[ItemId, ItemPosterior], ranking: Sequence[ItemId]) -> list[ItemId]:
    """Return the pages outside ``ranking`` that may be in the top k, most probable first."""
    others = [
        item for item in posteriors.keys() - set(ranking) if posteriors[item].in_top >= _LEAST
    ]
    return sorted(others, key=lambda item: (-posteriors[item].in_top, item))


def _page(item: ItemId, posterior: ItemPosterior) -> PageConfidence:
    return PageConfidence(item, round(posterior.in_top, _DIGITS), posterior.low, posterior.high)


def _rounded(value: Expected) -> Expected:
    return Expected(*_all_rounded((value.mean, value.low, value.high)))


def _all_rounded(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(round(value, _DIGITS) for value in values)
