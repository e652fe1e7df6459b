"""Exported top-k lists as labels."""

from collections.abc import Mapping, Sequence

import numpy as np

from topkapi.analysis.agreement import Scores, topk_scores
from topkapi.analysis.data.exports.records import TopK
from topkapi.analysis.errors import BadData
from topkapi.analysis.report.reading.indices import Indices, scores_of
from topkapi.analysis.typing import FloatArray


def tie_groups(one: TopK) -> list[tuple[str, ...]]:
    """Return the ranking as groups of tied documents, best first.

    The last group may reach beyond the ranking.

    A document that is in no group of the export is a group of its own.
    """
    group_of = {document: group for group in one.groups for document in group}
    found = [tuple(group_of.get(document, (document,))) for document in one.ranking]
    return list(dict.fromkeys(found))


def list_scores(lists: Sequence[TopK], indices: Indices) -> tuple[Scores, ...]:
    """Return labels of every query with lists.

    NaN for documents that a list was not asked about, or that could not be judged.
    """
    rows: dict[int, dict[int, FloatArray]] = {}
    for each in lists:
        query, who = indices.queries[each.query], indices.assessors[each.assessor]
        mine = rows.setdefault(query, {})
        if who in mine:
            raise BadData(f"{each.assessor} has two lists for query {each.query}: keep one")
        mine[who] = _labels(each, indices.documents[query])
    return scores_of(rows)


def _labels(one: TopK, index: Mapping[str, int]) -> FloatArray:
    try:
        groups = [[index[document] for document in group] for group in tie_groups(one)]
    except KeyError as unknown:
        where = f"the list of {one.assessor} for query {one.query}"
        raise BadData(f"{where}: groups name {unknown}, which is not a page of the query") from None
    labels = np.array(topk_scores(groups, len(index), one.k), dtype=np.float64)
    unjudged = np.ones(len(index), dtype=bool)
    unjudged[[index[document] for document in one.labels()]] = False
    labels[unjudged] = np.nan
    return labels
