from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.exporting import judge, make_grades, make_judged_study
from tests.factories import make_assignment, make_study, make_user, queries_of
from topkapi.analysis.data.text_features import NAMES, text_features
from topkapi.app.db.models import Candidate, Content, Document, Query, Study, User
from topkapi.app.domain.errors import Invalid, NotFound
from topkapi.app.services.results.exports import ExportOptions, StudySource
from topkapi.app.services.results.exports.labels import labels_by_query
from topkapi.app.services.results.ranking import StudyRanking, ranking_of


def read(session: Session, slug: str = "tulips", assessor: str | None = None) -> StudyRanking:
    return ranking_of(StudySource(session, slug, ExportOptions(assessor=assessor)))


def labels_of(ranking: StudyRanking, truth: Any) -> dict[str, dict[str, float]]:
    data = ranking.data[truth]
    found: dict[str, dict[str, float]] = {}
    for row, query in enumerate(data.queries):
        labels = found.setdefault(data.query_ids[query], {})
        labels[data.document_ids[row]] = float(data.labels[row])
    return found


def change_features(
    session: Session, study: Study, change: Callable[[Candidate], dict[str, float] | None]
) -> None:
    statement = select(Candidate).join(Query, Query.id == Candidate.query_id)
    for candidate in session.scalars(statement.where(Query.study_id == study.id)):
        candidate.features = change(candidate)
    session.flush()


def graded_study(session: Session, *, queries: int) -> tuple[Study, User]:
    """Create a study of which one assessor has graded every query."""
    study = make_study(session, slug="tulips", queries=queries)
    user = make_user(session)
    for number, query in enumerate(queries_of(session, study)):
        judge(session, make_grades(session, user, query, "g" * (number + 1)))
    return study, user


def test_lists_become_the_labels_that_exports_have(session: Session) -> None:
    make_judged_study(session)
    exported = {
        query.name: dict(labels)
        for query, labels in labels_by_query(StudySource(session, "tulips"))
    }
    ranking = read(session)
    assert labels_of(ranking, "topk") == exported
    assert ranking.data["topk"].topk == 3
    assert ranking.unlabelled["topk"] == ("q2",)
    for labels in exported.values():
        assert sorted(labels.values())[-3:] == [1, 2, 3]


def test_grades_stand_beside_the_lists(session: Session) -> None:
    make_judged_study(session)
    ranking = read(session)
    assert ranking.data["graded"].topk is None
    assert ranking.data["graded"].query_ids == ("q0", "q2")
    assert ranking.unlabelled["graded"] == ("q1",)
    assert ranking.data["graded"].labels.max() <= 4


def test_one_assessor_can_be_chosen(session: Session) -> None:
    make_judged_study(session)
    bao = read(session, assessor="bao@tulips.example")
    assert bao.data["topk"].query_ids == ("q0",)
    assert "graded" not in bao.data
    assert bao.unlabelled == {"graded": ("q0", "q1", "q2"), "topk": ("q1", "q2")}
    with pytest.raises(NotFound, match="Choose one of"):
        read(session, assessor="nobody@tulips.example")


def test_features_are_sorted_scaled_within_a_query_and_zero_where_missing(session: Session) -> None:
    study = make_judged_study(session)
    change_features(
        session,
        study,
        lambda page: {"10": 5.0, "2": page.position + 7.0} if page.position % 2 else {"2": 8.0},
    )
    ranking = read(session)
    data = ranking.data["topk"]
    assert ranking.features == ("2", "10")
    assert not ranking.from_text
    number = np.array([int(name.rpartition("d")[2]) for name in data.document_ids[:8]])
    odd = number % 2 == 1
    np.testing.assert_allclose(data.features[:8, 1], odd)
    raw = np.where(odd, number + 7.0, 8.0)
    np.testing.assert_allclose(data.features[:8, 0], (raw - raw.min()) / (raw.max() - raw.min()))


def test_without_features_the_words_of_the_pages_are_counted(session: Session) -> None:
    study = make_judged_study(session)
    change_features(session, study, lambda _page: None)
    first = queries_of(session, study)[0]
    rows = session.execute(select(Document).where(Document.external_id.like("q0-d%"))).scalars()
    pages = sorted(rows, key=lambda page: page.external_id)
    for page in pages:
        page.title = "tulips " * (page.id % 3)
    session.flush()
    ranking = read(session)
    assert ranking.from_text
    assert ranking.features == NAMES
    texts = [session.get_one(Content, page.content_hash).text or "" for page in pages]
    raw = text_features(first.text, [page.title for page in pages], texts)
    span = np.ptp(raw, axis=0)
    expected = (raw - raw.min(axis=0)) / np.where(span > 0, span, 1.0)
    data = ranking.data["topk"]
    by_name = {name: data.features[row] for row, name in enumerate(data.document_ids)}
    found = np.array([by_name[page.external_id] for page in pages])
    np.testing.assert_allclose(found, expected)
    assert found[:, NAMES.index("bm25 of title")].max() == 1.0


def test_lists_of_an_older_k_begin_where_the_longest_do(session: Session) -> None:
    study = make_study(session, slug="tulips", queries=2)
    user = make_user(session)
    for query, k in zip(queries_of(session, study), (2, 4), strict=True):
        judge(session, make_assignment(session, user=user, query=query, k=k))
    ranking = read(session, assessor=user.email)
    assert ranking.data["topk"].topk == 4
    labels = [sorted(each.values()) for each in labels_of(ranking, "topk").values()]
    assert labels == [[0, 0, 0, 0, 3, 4], [0, 0, 1, 2, 3, 4]]


def test_lists_are_cut_and_never_made_longer(session: Session) -> None:
    make_judged_study(session)
    ranking = read(session)
    cut = ranking.under("topk", 2)
    assert cut.topk == 2
    assert sorted(cut.labels[:8])[-3:] == [0, 1, 2]
    with pytest.raises(Invalid, match="lists have 3 pages, not 10: use --k 3 or less"):
        ranking.under("topk", 10)


def test_every_query_tests_once_and_never_where_it_trains(session: Session) -> None:
    graded_study(session, queries=5)
    fold_set = read(session).fold_set("graded", folds=4, seed=3)
    tested = [name for fold in fold_set.folds for name in fold.test.query_ids]
    assert sorted(tested) == ["q0", "q1", "q2", "q3", "q4"]
    for fold in fold_set.folds:
        parts = [set(part.query_ids) for part in (fold.train, fold.validation, fold.test)]
        assert sum(map(len, parts)) == 5
    assert fold_set.name == "tulips"


@pytest.mark.parametrize(
    ("queries", "folds", "message"),
    [
        (4, 5, "4 queries have labels from grades: they make 3 to 4 folds, not 5; .* --folds 4"),
        (4, 2, "they make 3 to 4 folds, not 2"),
        (2, 3, "2 queries have labels .* at least 3 are needed"),
        (1, 3, "1 query has labels"),
    ],
)
def test_too_few_queries_for_the_folds_is_an_error_that_helps(
    session: Session, queries: int, folds: int, message: str
) -> None:
    graded_study(session, queries=queries)
    with pytest.raises(Invalid, match=message):
        read(session).fold_set("graded", folds=folds)


def test_a_ground_truth_nobody_has_finished_is_refused(session: Session) -> None:
    make_study(session, slug="tulips", queries=2)
    ranking = read(session)
    assert ranking.data == {}
    assert ranking.unlabelled["topk"] == ("q0", "q1")
    with pytest.raises(Invalid, match=r"no query is finished with pairs \(--truth topk\)"):
        ranking.under("topk")
