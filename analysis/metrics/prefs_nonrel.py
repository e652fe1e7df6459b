"""Counts of ``prefs_avgjg_Rnonrel``: each group has as many non-relevant documents as relevant.

A document of level 0 is not relevant. Missing ones count as fulfilled preferences, superfluous ones
are dropped from the end of the ranking. The counts are those of trec_eval, bit by bit: where it
drops documents of a group without subgroups, it also compares non-relevant documents with each
other; among retrieved documents it weights the missing ones by all relevant documents.
"""

import numpy as np

from topkapi.analysis.metrics.prefs_groups import JudgmentGroup, Wins


def with_as_many_nonrel(group: JudgmentGroup, retrieved: int) -> tuple[int, int]:
    """Return fulfilled and possible preferences of all documents."""
    relevant, other = group.levels > 0, group.levels == 0
    missing = int(relevant.sum()) - int(other.sum())
    if missing >= 0:
        done, possible = _counts(group.wins, retrieved)
        return done + int(relevant[:retrieved].sum()) * missing, (
            possible + int(relevant.sum()) * missing
        )
    return _counts(_dropped(group, int(relevant.sum())), retrieved)


def with_as_many_nonrel_retrieved(group: JudgmentGroup, retrieved: int) -> tuple[int, int]:
    """Return fulfilled and possible preferences between retrieved documents."""
    seen = JudgmentGroup(
        group.wins[:retrieved, :retrieved], group.levels[:retrieved], group.partial
    )
    relevant, other = seen.levels > 0, seen.levels == 0
    missing = int(relevant.sum()) - int(other.sum())
    everywhere = int((group.levels > 0).sum())
    if missing >= 0:
        done, possible = _counts(seen.wins, retrieved)
        return done + int(relevant.sum()) * missing, possible + everywhere * missing
    return _counts(_dropped(seen, everywhere if group.partial else int(relevant.sum())), retrieved)


def _counts(wins: Wins, retrieved: int) -> tuple[int, int]:
    return int(np.triu(wins, 1)[:retrieved].sum()), int(wins.sum())


def _dropped(group: JudgmentGroup, keep: int) -> Wins:
    """Return the preferences with only the first ``keep`` documents of level 0."""
    other = np.flatnonzero(group.levels == 0)
    wins = group.wins.copy()
    wins[:, other[keep:]] = False
    wins[other[keep:]] = False
    if not group.partial:
        wins[np.ix_(other, other[:keep])] = True
    return wins
