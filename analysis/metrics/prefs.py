"""trec_eval's preference measures: shares of people's preferences that a run fulfils.

A run fulfils a preference for one document over another if it ranks the first above the second, or
retrieves only the first. The names are those of ``trec_eval -R prefs``: ``_imp`` leaves out
preferences between two documents that were not retrieved, ``_ret`` those with any such document.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from topkapi.analysis.data.exports.trec_prefs import PreferenceLevel
from topkapi.analysis.data.runs import Run, in_32_bits
from topkapi.analysis.errors import BadData, UnknownName
from topkapi.analysis.metrics.prefs_groups import (
    JudgmentGroup,
    fulfilled_and_possible,
    judgment_groups,
    with_as_many_nonrel,
    with_as_many_nonrel_retrieved,
)

Wins = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PreferenceQuery:
    """Judgment groups of one query; the first ``retrieved`` documents are in the run's order."""

    groups: Sequence[JudgmentGroup]
    retrieved: int


def evaluate_prefs(
    levels: Iterable[PreferenceLevel], run: Run, names: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Score a run on preferences, query by query.

    A query that the run lacks counts as one for which it retrieved nothing, as in ``trec_eval -c``.

    Parameters
    ----------
    levels
        Levels of documents in judgment groups, from ``read_prefs`` or ``read_qrels_prefs``.
    run
        Scores of the retrieved documents; those equal in 32 bits are ordered by id, as trec_eval
        does here.
    names
        Names of :data:`PREFS_MEASURES`.

    Returns
    -------
    dict[str, dict[str, float]]
        Value by measure and query.

    Raises
    ------
    UnknownName
        If there is no such measure.
    BadData
        If a judgment group contradicts itself.

    Examples
    --------
    >>> levels = [PreferenceLevel("q", "ansa", name, 3 - at) for at, name in enumerate("abc")]
    >>> evaluate_prefs(levels, {"q": {"b": 2.0, "a": 1.0}}, ["prefs_simp", "prefs_simp_ret"])
    {'prefs_simp': {'q': 0.666...}, 'prefs_simp_ret': {'q': 0.0}}
    """
    measures = {name: prefs_measure(name) for name in names}
    by_query: dict[str, list[PreferenceLevel]] = {}
    for level in levels:
        by_query.setdefault(level.query, []).append(level)
    if not by_query.keys() & run.keys():
        raise BadData("the run and the preferences have no query in common")
    values: dict[str, dict[str, float]] = {name: {} for name in names}
    for query, mine in by_query.items():
        found = _query(mine, run.get(query, {}))
        for name, scorer in measures.items():
            values[name][query] = scorer(found)
    return values


def prefs_summary(name: str, values: Mapping[str, float]) -> float:
    """Return the mean over queries, or for counts of preferences the sum, as trec_eval does."""
    total = sum(values.values())
    return total if name in _COUNTS else total / len(values)


def _query(levels: Sequence[PreferenceLevel], scores: Mapping[str, float]) -> PreferenceQuery:
    names = sorted({each.document for each in levels}, key=str.encode)
    known = [name for name in names if name in scores]
    ranks = np.argsort(-in_32_bits([scores[name] for name in known]), kind="stable")
    found = [known[at] for at in ranks]
    order = [*found, *(name for name in names if name not in scores)]
    return PreferenceQuery(judgment_groups(levels, order), len(found))


Scorer = Callable[[PreferenceQuery], float]
Counted = Callable[[JudgmentGroup, int], tuple[int, int]]  # fulfilled, possible
Counts = Sequence[tuple[int, int]]  # of each group


def prefs_measure(name: str) -> Scorer:
    """Return the function of a measure's name; raise UnknownName."""
    if name not in _SCORERS:
        raise UnknownName(f"no preference measure {name!r}: write {', '.join(PREFS_MEASURES)}")
    return _SCORERS[name]


def _all(group: JudgmentGroup, retrieved: int) -> tuple[int, int]:
    return fulfilled_and_possible(group.wins, retrieved)


def _implied(group: JudgmentGroup, retrieved: int) -> tuple[int, int]:
    done, possible = fulfilled_and_possible(group.wins, retrieved)
    return done, possible - int(group.wins[retrieved:, retrieved:].sum())


def _retrieved(group: JudgmentGroup, retrieved: int) -> tuple[int, int]:
    return fulfilled_and_possible(group.wins[:retrieved, :retrieved], retrieved)


def _of_groups(count: Counted, joined: Callable[[Counts], float]) -> Scorer:
    return lambda query: joined([count(group, query.retrieved) for group in query.groups])


def _share(counts: Counts) -> float:
    possible = sum(each for _, each in counts)
    return sum(each for each, _ in counts) / possible if possible else 0.0


def _mean(counts: Counts) -> float:
    return sum(done / possible for done, possible in counts if possible) / len(counts)


def _mean_or_zero(counts: Counts) -> float:
    """Average over groups; one without a possible preference makes the query 0 (0 / 0 in C)."""
    return _mean(counts) if all(possible for _, possible in counts) else 0.0


def _by_pair(considered: Callable[[Wins, int], Wins]) -> Scorer:
    def value(query: PreferenceQuery) -> float:
        wins = np.stack([group.wins for group in query.groups]).sum(axis=0, dtype=np.int64)
        asked = np.triu(considered(wins + wins.T, query.retrieved))
        shares = wins[: query.retrieved] / np.maximum(asked[: query.retrieved], 1)
        pairs = int((asked > 0).sum())
        return float(shares[asked[: query.retrieved] > 0].sum()) / pairs if pairs else 0.0

    return value


def _not_neither(asked: Wins, retrieved: int) -> Wins:
    kept = asked.copy()
    kept[retrieved:, retrieved:] = 0
    return kept


def _only_both(asked: Wins, retrieved: int) -> Wins:
    kept = np.zeros_like(asked)
    kept[:retrieved, :retrieved] = asked[:retrieved, :retrieved]
    return kept


def _total(count: Counted, column: int) -> Scorer:
    return lambda query: float(sum(count(group, query.retrieved)[column] for group in query.groups))


_COUNTS: dict[str, Scorer] = {
    "prefs_num_prefs_poss": _total(_all, 1),
    "prefs_num_prefs_ful": _total(_all, 0),
    "prefs_num_prefs_ful_ret": _total(_retrieved, 0),
}
_SCORERS: dict[str, Scorer] = {
    "prefs_simp": _of_groups(_all, _share),
    "prefs_simp_imp": _of_groups(_implied, _share),
    "prefs_simp_ret": _of_groups(_retrieved, _share),
    "prefs_pair": _by_pair(lambda asked, _: asked),
    "prefs_pair_imp": _by_pair(_not_neither),
    "prefs_pair_ret": _by_pair(_only_both),
    "prefs_avgjg": _of_groups(_all, _mean),
    "prefs_avgjg_imp": _of_groups(_implied, _mean),
    "prefs_avgjg_ret": _of_groups(_retrieved, _mean),
    "prefs_avgjg_Rnonrel": _of_groups(with_as_many_nonrel, _mean_or_zero),
    "prefs_avgjg_Rnonrel_ret": _of_groups(with_as_many_nonrel_retrieved, _mean_or_zero),
    **_COUNTS,
}
PREFS_MEASURES = tuple(_SCORERS)
"""Measures of ``evaluate_prefs``, by the names that trec_eval gives them."""
