"""Expected labels: exact for lists of the best k, severity of graders without their noise."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.simulated_study import grade_labels, topk_labels
from topkapi.analysis.agreement import Scores
from topkapi.analysis.agreement.reliability.label_shares import are_counts_fixed, label_shares
from topkapi.analysis.typing import FloatArray

PEOPLE = np.arange(4)


def graded(rng: np.random.Generator, queries: int, severity: FloatArray) -> list[Scores]:
    """Grade 20 pages per query, each person shifted by their severity, with noise."""
    made = []
    for query in range(queries):
        seen = rng.normal(size=20) + 0.5 * rng.normal(size=(4, 20)) - severity[:, None]
        made.append(Scores(query, PEOPLE, grade_labels(seen, np.full(4, np.hypot(1, 0.5)))))
    return made


@given(n=st.integers(6, 30), k=st.integers(1, 5), seed=st.integers(0, 99))
def test_lists_of_the_best_k_are_expected_as_they_are(n: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    lists = [Scores(q, PEOPLE, topk_labels(rng.normal(size=(4, n)), k)) for q in range(3)]
    assert are_counts_fixed(lists)
    expected = (n - k + np.arange(k)) / n
    for shares in label_shares(lists):
        assert np.allclose(shares, np.broadcast_to(expected, (4, k)))


def test_the_severity_of_a_grader_is_found() -> None:
    rng = np.random.default_rng(1)
    lists = graded(rng, 40, np.array([0.0, 0.0, 0.0, 1.0]))
    assert not are_counts_fixed(lists)
    mean = np.mean([shares.mean(axis=1) for shares in label_shares(lists)], axis=0)
    assert (mean[3] > mean[:3] + 0.1).all()


def test_noise_alone_makes_nobody_severe() -> None:
    apart, raw = [], []
    for seed in range(20):
        lists = graded(np.random.default_rng(seed), 3, np.zeros(4))
        apart += [np.ptp(shares, axis=0).mean() for shares in label_shares(lists)]
        raw += [np.ptp((each.values > 1).mean(axis=1)) for each in lists]
    assert np.mean(apart) < 0.35 * np.mean(raw)


def test_scores_that_are_no_scale_are_shared_within_a_query() -> None:
    rng = np.random.default_rng(3)
    lists = [Scores(q, PEOPLE, rng.normal(size=(4, 30))) for q in range(4)]
    for shares in label_shares(lists):
        assert shares.shape == (4, 119)
        assert (np.diff(shares, axis=1) >= 0).all()
