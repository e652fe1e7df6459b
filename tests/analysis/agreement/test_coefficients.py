import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.analysis.agreement import brute
from tests.kappa import cohen_kappa_score
from topkapi.analysis.agreement import (
    Preferences,
    Scores,
    agreement_matrix,
    alpha_of_table,
    both_orders,
    cohen_kappa,
    fleiss_kappa,
    from_scores,
    gwet_ac1,
    gwet_ac1_of_table,
    krippendorff_alpha,
    pair_tables,
    rating_sums,
)
from topkapi.analysis.agreement.coefficients import RatingSums
from topkapi.analysis.typing import FloatArray

TABLE_2 = np.array([[737, 302, 53], [355, 2557, 207], [72, 260, 356]])
TABLE_3 = np.array([[1262, 586, 164], [372, 689, 256], [241, 601, 729]])
PRINTED_2 = [[0.6749, 0.2766, 0.0485], [0.1138, 0.8198, 0.0664], [0.1047, 0.3779, 0.5174]]
PRINTED_3 = [[0.6272, 0.2913, 0.0815], [0.2825, 0.5232, 0.1944], [0.1534, 0.3826, 0.4640]]


@pytest.mark.parametrize(("counts", "printed"), [(TABLE_2, PRINTED_2), (TABLE_3, PRINTED_3)])
def test_counts_give_the_printed_matrices(counts: FloatArray, printed: list[list[float]]) -> None:
    assert agreement_matrix(counts).round(4).tolist() == printed


def test_coefficients_of_the_top_k_table() -> None:
    found = [float(f(TABLE_2)) for f in (cohen_kappa, alpha_of_table, gwet_ac1_of_table)]
    assert [round(x, 4) for x in found] == [0.5135, 0.5134, 0.6546]


def total(preferences: Preferences) -> RatingSums:
    return RatingSums(rating_sums(preferences).values.sum(axis=0))


@given(
    seed=st.integers(0, 10**6),
    assessors=st.integers(2, 6),
    queries=st.integers(1, 4),
    documents=st.integers(3, 7),
    missing=st.sampled_from([0.0, 0.3, 0.7]),
)
def test_every_coefficient_equals_a_plain_count(
    seed: int, assessors: int, queries: int, documents: int, missing: float
) -> None:
    preferences = brute.random_preferences(seed, assessors, queries, documents, missing)
    rated = brute.ratings(preferences)
    shared = [c for c in rated if c.total() > 1]
    if not {code for c in shared for code in c} - {1}:
        return  # undefined: has a test of its own
    sums = total(preferences)
    assert float(fleiss_kappa(sums)) == pytest.approx(brute.fleiss(rated), abs=1e-9)
    assert float(gwet_ac1(sums)) == pytest.approx(brute.ac1(rated), abs=1e-9)
    assert float(krippendorff_alpha(sums)) == pytest.approx(brute.alpha(rated), abs=1e-9)


@given(seed=st.integers(0, 10**6), missing=st.sampled_from([0.0, 0.5]))
def test_cohen_equals_scikit_learn(seed: int, missing: float) -> None:
    preferences = brute.random_preferences(seed, 2, 3, 6, missing)
    both = [v for v in brute.units(preferences).values() if len(v) == 2]
    assume(len(both) >= 5)
    expected = cohen_kappa_score([v[0] for v in both], [v[1] for v in both])
    table = pair_tables(preferences).pooled()
    assert float(cohen_kappa(table)) == pytest.approx(expected, abs=1e-9)


def test_two_assessors_without_gaps_need_only_their_table() -> None:
    preferences = brute.random_preferences(3, 2, 1, 12, missing=0)
    preferences = Preferences(2, 1, preferences.blocks)
    if preferences.blocks[0].assessors.size < 2:
        pytest.fail("the seed has to give both assessors")
    sums, table = total(preferences), both_orders(pair_tables(preferences).pooled())
    assert float(gwet_ac1(sums)) == pytest.approx(float(gwet_ac1_of_table(table)), abs=1e-12)
    assert float(krippendorff_alpha(sums)) == pytest.approx(float(alpha_of_table(table)), abs=1e-12)


def test_one_category_alone_leaves_chance_corrected_figures_undefined() -> None:
    one = np.array([[0, 0, 0], [0, 7, 0], [0, 0, 0]])
    assert np.isnan(cohen_kappa(one))
    assert np.isnan(alpha_of_table(one))
    assert float(gwet_ac1_of_table(one)) == 1.0
    tied = from_scores([Scores(0, np.array([0, 1]), np.zeros((2, 4)))], 2, 1)
    assert np.isnan(fleiss_kappa(total(tied)))
    assert np.isnan(krippendorff_alpha(total(tied)))


def test_nobody_and_one_assessor_leave_everything_undefined() -> None:
    alone = from_scores([Scores(0, np.array([0]), np.array([[2.0, 1.0, 0.0]]))], 1, 1)
    for preferences in (alone, Preferences(0, 1, ())):
        sums = total(preferences)
        for figure in (fleiss_kappa, gwet_ac1, krippendorff_alpha):
            assert np.isnan(figure(sums))
        assert np.isnan(cohen_kappa(pair_tables(preferences).pooled()))


def test_batches_give_what_single_tables_give() -> None:
    both = np.stack([TABLE_2, TABLE_3])
    for figure in (cohen_kappa, alpha_of_table, gwet_ac1_of_table):
        assert figure(both).tolist() == [float(figure(TABLE_2)), float(figure(TABLE_3))]
