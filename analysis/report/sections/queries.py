"""The queries of one tool, the most disputed first."""

import numpy as np

from topkapi.analysis.agreement import ListSimilarity, PairTables, Preferences, agreement
from topkapi.analysis.report.schema import QueryAgreement, Reason
from topkapi.analysis.report.sections.figures import figure
from topkapi.analysis.report.sections.pooled import mean_of, mean_sums, nested, supported_tau
from topkapi.analysis.report.study import StudyData


def query_rows(
    study: StudyData, preferences: Preferences, tables: PairTables, lists: ListSimilarity | None
) -> tuple[QueryAgreement, ...]:
    """Return one row per judged query, in order of disagreement.

    Queries that are not shared come last.
    """
    counts = tables.in_both_orders()
    tau = mean_of(mean_sums(tables.query, supported_tau(tables), tables.n_queries))
    overlap = None if lists is None else mean_sums(lists.query, lists.rbo, tables.n_queries)
    rbo = np.full(tables.n_queries, np.nan) if overlap is None else mean_of(overlap)
    overall, strict = agreement(counts), agreement(counts, ties=False)
    judged = {block.query: block.assessors.size for block in preferences.blocks}
    order = sorted(judged, key=lambda q: (np.isnan(overall[q]), overall[q], study.queries[q]))
    no_overlap = Reason.NO_LISTS if lists is None else Reason.NOTHING_SHARED
    return tuple(
        QueryAgreement(
            query=study.queries[q],
            text=study.text(q),
            assessors=int(judged[q]),
            documents=len(study.documents[q]),
            counts=nested(counts[q]),
            overall=figure(overall[q], reason=Reason.NOTHING_SHARED),
            without_ties=figure(strict[q], reason=Reason.NO_PREFERENCE),
            tau_b=figure(tau[q], reason=Reason.ALL_TIED),
            rbo=figure(rbo[q], reason=no_overlap),
        )
        for q in order
    )
