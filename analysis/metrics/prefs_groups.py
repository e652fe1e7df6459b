"""Judgment groups of a query: who is preferred to whom, as trec_eval derives it from levels."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from topkapi.analysis.data.exports.trec_prefs import PreferenceLevel
from topkapi.analysis.errors import BadData
from topkapi.analysis.typing import FloatArray

ABSENT = -1.0  # level of a document that a group lacks
Wins = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class JudgmentGroup:
    """One person's preferences: ``wins[a, b]`` if document a is preferred to document b.

    ``levels`` has the level of each document, or ``ABSENT``; ``partial`` if the preferences come
    from several subgroups, so that two documents need not be comparable.
    """

    wins: Wins
    levels: FloatArray
    partial: bool


def judgment_groups(
    levels: Iterable[PreferenceLevel], documents: Sequence[str]
) -> list[JudgmentGroup]:
    """Return the groups of one query, with documents numbered as in ``documents``."""
    number = {name: at for at, name in enumerate(documents)}
    groups: dict[str, dict[str, dict[int, float]]] = {}
    for each in levels:
        subgroup = groups.setdefault(each.group, {}).setdefault(each.subgroup, {})
        if number[each.document] in subgroup:
            where = f"query {each.query}, group {each.group}"
            raise BadData(f"{where}: document {each.document} twice in a subgroup")
        subgroup[number[each.document]] = each.level
    return [_group(name, found, len(documents)) for name, found in groups.items()]


def _group(
    name: str, subgroups: Mapping[str, Mapping[int, float]], documents: int
) -> JudgmentGroup:
    wins = np.zeros((documents, documents), dtype=bool)
    levels = np.full(documents, ABSENT)
    for subgroup in subgroups.values():
        rows, given = np.array(list(subgroup)), np.array(list(subgroup.values()))
        known = levels[rows]
        if ((known != ABSENT) & ((known == 0) != (given == 0))).any():
            raise BadData(f"group {name}: a document has level 0 and another level")
        levels[rows] = given
        wins[np.ix_(rows, rows)] |= given[:, None] > given
    if len(subgroups) > 1:
        wins = _closure(wins)
        if wins.diagonal().any():
            raise BadData(f"group {name}: its preferences contradict each other")
    return JudgmentGroup(wins, levels, partial=len(subgroups) > 1)


def _closure(wins: Wins) -> Wins:
    """Return who is preferred to whom directly or through others."""
    known = wins.copy()
    for through in range(len(wins)):
        known |= known[:, through, None] & known[through]
    return known


def with_as_many_nonrel(group: JudgmentGroup, retrieved: int) -> tuple[int, int]:
    """Return fulfilled and possible preferences of all documents."""
    relevant = int((group.levels > 0).sum())
    return _balanced(group, retrieved, everywhere=relevant, keep=relevant)


def with_as_many_nonrel_retrieved(group: JudgmentGroup, retrieved: int) -> tuple[int, int]:
    """Return fulfilled and possible preferences between retrieved documents."""
    seen = JudgmentGroup(
        group.wins[:retrieved, :retrieved], group.levels[:retrieved], group.partial
    )
    everywhere = int((group.levels > 0).sum())
    keep = everywhere if group.partial else int((seen.levels > 0).sum())
    return _balanced(seen, retrieved, everywhere=everywhere, keep=keep)


def _balanced(
    group: JudgmentGroup, retrieved: int, *, everywhere: int, keep: int
) -> tuple[int, int]:
    """Count with nonrelevant documents added, or beyond the first ``keep`` left out."""
    relevant, other = group.levels > 0, group.levels == 0
    missing = int(relevant.sum()) - int(other.sum())
    if missing < 0:
        return fulfilled_and_possible(_dropped(group, keep), retrieved)
    done, possible = fulfilled_and_possible(group.wins, retrieved)
    return done + int(relevant[:retrieved].sum()) * missing, possible + everywhere * missing


def fulfilled_and_possible(wins: Wins, retrieved: int) -> tuple[int, int]:
    """Count preferences that the first ``retrieved`` documents fulfil, and all."""
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
