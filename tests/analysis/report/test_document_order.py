"""The order of documents and assessors in a file is arbitrary: no figure depends on it."""

from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.analysis.report.test_build import FEW
from topkapi.analysis.agreement import (
    ErrorRates,
    Judgments,
    Scores,
    list_similarity,
    pair_tables,
    rating_sums,
)
from topkapi.analysis.data.exports import TopK, json_lines
from topkapi.analysis.report import StudyData, ToolData
from topkapi.analysis.report.sections.answers import answer_quality
from topkapi.analysis.report.sections.comparison import comparison
from topkapi.analysis.report.sections.pairs import pair_rows
from topkapi.analysis.report.sections.people import people as people_rows
from topkapi.analysis.report.sections.pooled import pooled
from topkapi.analysis.report.sections.queries import query_rows
from topkapi.analysis.report.serialise import record_of
from topkapi.analysis.report.sources import read_preferences

QUERIES, DOCUMENTS, K = 5, 6, 3
ORDERS = st.lists(st.permutations(range(DOCUMENTS)), min_size=QUERIES, max_size=QUERIES)
LISTS = st.lists(  # of each query, the ranking of each assessor; the first K are the list
    st.lists(st.permutations(range(DOCUMENTS)), min_size=2, max_size=4),
    min_size=QUERIES,
    max_size=QUERIES,
)


def study_of(rankings: list[list[list[int]]], orders: list[list[int]]) -> StudyData:
    """Return lists, grades and answers to pairs with the documents of each query in an order."""
    lists, grades, rows = [], [], []
    for query, (of_query, order) in enumerate(zip(rankings, orders, strict=True)):
        column = np.argsort(order)  # of each document
        labels, marks = np.zeros((2, len(of_query), DOCUMENTS))
        for who, ranking in enumerate(of_query):
            for rank, document in enumerate(ranking):
                labels[who, column[document]] = max(K - rank, 0)
                marks[who, column[document]] = rank % 4
            rows += [(who, query, column[a], column[b]) for a, b in pairwise(ranking)]
        lists.append(Scores(query, np.arange(len(of_query)), labels))
        grades.append(Scores(query, np.arange(len(of_query)), marks))
    who, query, left, right = np.array(rows).T
    asked = Judgments.of(assessor=who, query=query, left=left, right=right, answer=[1] * len(rows))
    tools = (ToolData("pairs", "T1", tuple(lists), asked), ToolData("grades", "T2", tuple(grades)))
    ids = tuple(tuple(f"d{document}" for document in order) for order in orders)
    names = tuple(f"q{query}" for query in range(QUERIES))
    people = max(len(each) for each in rankings)
    return StudyData("s", tuple("abcd"[:people]), names, ids, tools, k=K)


def rounded(record: Any) -> Any:
    """Round numbers to what sums in another order keep."""
    if isinstance(record, dict):
        return {key: rounded(value) for key, value in record.items()}
    if isinstance(record, list):
        return [rounded(value) for value in record]
    return round(record, 12) if isinstance(record, float) else record


def figures(study: StudyData) -> Any:
    """Return everything about agreement by tool: pooled, by pair of assessors, person, query."""
    found, counted = [], []
    for tool in study.tools:
        votes = study.preferences(tool)
        tables, lists = pair_tables(votes), list_similarity(tool.scores, depth=K)
        used = np.bincount(tables.query, minlength=QUERIES)
        drawn = FEW.resamples(used, tables.strata())
        nobody, people = ErrorRates.none(len(study.assessors)), np.arange(len(study.assessors))
        sections = (
            pooled(tables, rating_sums(votes), lists, drawn),
            pair_rows(tables, lists, drawn, study.assessors),
            people_rows(tables, nobody, answer_quality(tool), study.assessors, drawn, people),
            query_rows(study, votes, tables, lists),
        )
        found.append([record_of(each) for each in (sections[0], *chain(*sections[1:]))])
        counted.append(tables)
    if len(counted) > 1:
        found.append([record_of(comparison(("pairs", "grades"), counted[0], counted[1], FEW))])
    return rounded(found)


@pytest.mark.thorough
@settings(max_examples=20, phases=[Phase.generate])  # shrinking takes minutes
@given(rankings=LISTS, orders=ORDERS)
def test_the_order_of_documents_changes_no_figure(
    rankings: list[list[list[int]]], orders: list[list[int]]
) -> None:
    plain = [list(range(DOCUMENTS))] * QUERIES
    assert figures(study_of(rankings, orders)) == figures(study_of(rankings, plain))


@pytest.mark.parametrize("names", ["abcd", "dcba"])
def test_an_export_with_other_names_has_the_figures_of_its_study(
    tmp_path: Path, names: str
) -> None:
    rng = np.random.default_rng(4)
    rankings = [[rng.permutation(DOCUMENTS).tolist() for _ in range(4)] for _ in range(QUERIES)]
    plain = [list(range(DOCUMENTS))] * QUERIES
    whole = study_of(rankings, plain)
    study = StudyData(
        "s", whole.assessors, whole.queries, whole.documents, whole.tools[:1], whole.k
    )
    ids = rng.permutation([f"x{number}" for number in range(DOCUMENTS)])
    lists = [
        TopK(
            study="s", query=f"q{query}", assessor=names[who], round=0, complete=True, k=K,
            ranking=tuple(ids[ranking[:K]]), groups=(), rest=tuple(ids[ranking[K:]]), bad=(),
            unjudgeable=(), sorter="heap", sorter_version=1, seed="1", options={}, answered=3,
            entries=3, active_ms=1, wall_ms=1, begun_at=None, finished_at=None,
        )
        for query, of_query in enumerate(rankings)
        for who, ranking in enumerate(of_query)
    ]  # fmt: skip
    path = tmp_path / "topk.jsonl"
    path.write_text("".join(json_lines(lists)), encoding="utf-8")
    (one,), (other,) = figures(study), figures(read_preferences([path]))
    assert other[0] == one[0]
    pairs = {frozenset((row["first"], row["second"])): row for row in one[1:7]}
    for row in other[1:7]:
        known = pairs[frozenset("abcd"[names.index(row[end])] for end in ("first", "second"))]
        assert row["cohen_kappa"] == known["cohen_kappa"]
        assert row["krippendorff_alpha"] == known["krippendorff_alpha"]
