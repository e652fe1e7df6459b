"""The consensus lists of one tool, and which assessors they depart from."""

import numpy as np

from analysis.aggregation import Consensus, consensus_of, consensus_records
from analysis.agreement import PairTables, Preferences, agreement, rest_counts
from analysis.report.figures import Json, figure
from analysis.report.study import StudyData
from analysis.typing import FloatArray

ONLY_TIES = "this assessor expressed no preference"


def agreement_weights(tables: PairTables) -> FloatArray:
    """Mean agreement with the others (n_assessors,): the weight of a vote; NaN if not shared."""
    _, who, counts = rest_counts(tables)
    sums = np.zeros((tables.n_assessors, 9))
    np.add.at(sums, who, counts)
    return agreement(sums.reshape(-1, 3, 3))


def consensus(study: StudyData, preferences: Preferences, tables: PairTables) -> list[Consensus]:
    """Supervised Kemeny of every judged query, queries in study order."""
    weights = agreement_weights(tables)
    blocks = sorted(preferences.blocks, key=lambda block: block.query)
    return [consensus_of(b, len(study.documents[b.query]), weights) for b in blocks]


def consensus_section(study: StudyData, found: list[Consensus]) -> Json:
    """Records of ``consensus.jsonl``, and the departures of each assessor over all queries."""
    k = study.k or max((len(documents) for documents in study.documents), default=0)
    records = consensus_records(
        found,
        k=k,
        queries=study.queries,
        documents=study.documents,
        assessors=study.assessors,
    )
    return {"k": k, "queries": list(records), "departures": _departures(study, found)}


def _departures(study: StudyData, found: list[Consensus]) -> list[Json]:
    mine: dict[int, list[tuple[str, float]]] = {}
    for each in found:
        for assessor, share in zip(each.assessors.tolist(), each.departures, strict=True):
            if not np.isnan(share):
                mine.setdefault(assessor, []).append((study.queries[each.query], float(share)))
    rows = []
    for assessor, shares in sorted(mine.items()):
        query, most = max(shares, key=lambda pair: pair[1])
        rows.append(
            {
                "assessor": study.assessors[assessor],
                "queries": len(shares),
                "mean": figure(np.mean([share for _, share in shares]), reason=ONLY_TIES),
                "most": most,
                "most_query": query,
            }
        )
    return rows
