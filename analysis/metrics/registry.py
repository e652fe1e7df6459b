"""Measures by name, and the function that scores data with several of them at once."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, overload

import numpy as np

from topkapi.analysis.data.padding import blocks
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.errors import BadData, UnknownName, unknown_name
from topkapi.analysis.metrics import dcg, err, overlap, pairs, precision
from topkapi.analysis.metrics.gains import Gains
from topkapi.analysis.metrics.query_batch import QueryBatch
from topkapi.analysis.typing import FloatArray

Ties = Literal["stable", "expected"]
Scorer = Callable[[QueryBatch], FloatArray]

_CUT: dict[str, Callable[..., FloatArray]] = {
    "p": precision.precision,
    "recall": precision.recall,
    "rr": err.reciprocal_rank,
    "map": precision.average_precision,
    "ndcg": dcg.ndcg,
    "letor4-ndcg": dcg.letor4_ndcg,
    "kappa-ndcg": dcg.ndcg,
    "err": err.err,
    "kappa-err": err.kappa_err,
}
_NAME = re.compile(r"(?P<base>[a-z][a-z0-9-]*)(?:@(?P<k>[1-9][0-9]*))?(?::(?P<p>0?\.[0-9]+))?")

MEASURES = (*_CUT, "rbp", "topk-01", "wkt", "capped-wkt", "rbo", "compatibility", "kendall-tau")
"""Names a measure can begin with; ``@10`` cuts at rank 10, ``rbp:.5`` sets the persistence."""

LEARNABLE = ("ndcg", "kappa-ndcg")
"""Measures that can take learned gains and discounts."""

LOSSES = ("topk-01", "wkt", "capped-wkt")
"""Measures of which less is better."""


def measure(name: str, ties: Ties = "stable", gains: Gains | None = None) -> Scorer:
    """Return the function of a measure's name, from a batch of queries to a value per query.

    Parameters
    ----------
    name
        Name of a measure, such as ``ndcg@10``.
    ties
        ``stable`` (row order) or ``expected`` (mean over all orders of ties).
    gains
        Gains and discounts instead of 2^label - 1 and 1 / log2(1 + j) in ndcg and kappa-ndcg.

    Returns
    -------
    Scorer
        Function of a ``QueryBatch``.

    Raises
    ------
    UnknownName
        If there is no such measure.

    Examples
    --------
    >>> measure("ndcg@0")
    Traceback (most recent call last):
    topkapi.analysis.errors.UnknownName: no measure 'ndcg@0': did you mean 'ndcg@10'? There are ...
    """
    match = _NAME.fullmatch(name)
    if match is None or match["base"] not in MEASURES:
        raise unknown_name("measure", name, usual_names())
    base, k = match["base"], int(match["k"]) if match["k"] else None
    if base in LEARNABLE and match["p"] is None and gains is not None:
        return partial(dcg.learned_ndcg, k=k, expected=ties == "expected", gains=gains)
    if base in _CUT and match["p"] is None:
        return partial(_CUT[base], k=k, expected=ties == "expected")
    if base == "rbp":
        p = float(match["p"] or 0.8)
        return partial(precision.rank_biased, k=k, expected=ties == "expected", persistence=p)
    if ties == "expected":
        raise UnknownName(f"{name} has no mean over tied orders: use ties='stable'")
    return _uncut(name, base, k, match["p"])


def _uncut(name: str, base: str, k: int | None, persistence: str | None) -> Scorer:
    if base in ("rbo", "compatibility") and k is None:
        function = overlap.rbo if base == "rbo" else overlap.compatibility
        default = 0.9 if base == "rbo" else 0.95
        return partial(function, persistence=float(persistence) if persistence else default)
    if persistence is None and base in ("wkt", "capped-wkt"):
        return partial(pairs.wkt, k=k, capped=base == "capped-wkt")
    if persistence is None and base == "topk-01" and k is not None:
        return partial(overlap.topk_01, k=k)
    if persistence is None and base == "kendall-tau" and k is None:
        return pairs.kendall_tau
    raise unknown_name("measure", name, usual_names())


def usual_names(k: int = 10) -> list[str]:
    """Return every measure by its usual name, cut at ``k`` where it is usually cut.

    >>> usual_names(5)[:3]
    ['p@5', 'recall@5', 'map']
    """
    return [
        *(
            f"p@{k}",
            f"recall@{k}",
            "map",
            "rr",
            "rbp:.8",
            f"ndcg@{k}",
            f"letor4-ndcg@{k}",
            f"kappa-ndcg@{k}",
            "err",
            "kappa-err",
        ),
        *(f"topk-01@{k}", f"wkt@{k}", f"capped-wkt@{k}", "rbo:.9", "compatibility:.95"),
        "kendall-tau",
    ]


@overload
def evaluate(
    data: RankingData,
    scores: FloatArray,
    names: Sequence[str],
    *,
    per_query: Literal[False] = False,
    ties: Ties = "stable",
    gains: Gains | None = None,
) -> dict[str, float]: ...


@overload
def evaluate(
    data: RankingData,
    scores: FloatArray,
    names: Sequence[str],
    *,
    per_query: Literal[True],
    ties: Ties = "stable",
    gains: Gains | None = None,
) -> dict[str, FloatArray]: ...


def evaluate(
    data: RankingData,
    scores: FloatArray,
    names: Sequence[str],
    *,
    per_query: bool = False,
    ties: Ties = "stable",
    gains: Gains | None = None,
) -> dict[str, float] | dict[str, FloatArray]:
    """Evaluate scores against the labels of ``data``.

    Parameters
    ----------
    data
        Documents of many queries.
    scores
        Scores (n_rows,), higher is better; -inf for a document that was not retrieved.
    names
        Names of measures, such as ``ndcg@10``.
    per_query
        Whether to return arrays (n_queries,) instead of means.
    ties
        ``stable``: documents of equal score keep their row order; ``expected``: mean over all their
        orders.
    gains
        Gains and discounts instead of the usual ones of ndcg and kappa-ndcg.

    Returns
    -------
    dict[str, float] or dict[str, FloatArray]
        Mean over queries, or values per query, by measure.

    Examples
    --------
    >>> data = RankingData(np.ones((3, 1)), np.array([0.0, 1.0, 2.0]), np.array([0, 3]))
    >>> evaluate(data, np.array([0.1, 0.3, 0.2]), ["p@2", "ndcg@3"])
    {'p@2': 1.0, 'ndcg@3': 0.796...}
    """
    scorers = {name: measure(name, ties, gains) for name in names}
    if gains is not None and not any(name.split("@")[0] in LEARNABLE for name in names):
        raise BadData(f"gains are for {' and '.join(LEARNABLE)}, none of which is asked for")
    _check_scores(data, scores)
    values: dict[str, FloatArray] = {name: np.empty(data.n_queries) for name in names}
    top_grade = float(data.labels.max(initial=0.0))
    for block in blocks(data.offsets):
        batch = QueryBatch.of(block, data.labels, scores, top_grade)
        for name, scorer in scorers.items():
            values[name][block.queries] = scorer(batch)
    if per_query:
        return values
    return {name: float(array.mean()) if array.size else 0.0 for name, array in values.items()}


def _check_scores(data: RankingData, scores: FloatArray) -> None:
    if scores.shape != (data.n_rows,):
        raise BadData(f"{data.n_rows} documents but scores of shape {scores.shape}")
    wrong = np.isnan(scores) | (scores == np.inf)
    if wrong.any():
        row = int(np.argmax(wrong))
        query = int(np.searchsorted(data.offsets, row, side="right")) - 1
        raise BadData(f"query {data.query_ids[query]}: a score is not a finite number")
