"""Text features against values worked by hand, and their behaviour at the edges."""

from math import log, sqrt

import numpy as np
import pytest

from topkapi.analysis.data.text_features import NAMES, bm25, cosine, query_likelihood, text_features
from topkapi.analysis.errors import BadData


def test_bm25_of_a_case_worked_by_hand() -> None:
    documents = [["a", "b"], ["b", "b", "c", "d"]]
    rare = log(1 + 1.5 / 1.5)  # "a" is in one of two documents
    common = log(1 + 0.5 / 2.5)
    first = rare * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 3)) + common * 2.2 / (
        1 + 1.2 * (0.25 + 0.75 * 2 / 3)
    )
    second = common * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 4 / 3))
    assert bm25(["a", "b"], documents) == pytest.approx([first, second])


def test_query_likelihood_and_cosine_of_cases_worked_by_hand() -> None:
    documents = [["a"], ["b"]]
    expected = [log((1 / 0.5 + 100) / 101), log(100 / 101)]
    assert query_likelihood(["a", "zzz"], documents) == pytest.approx(expected)
    assert cosine(["a"], [["a", "b"], ["b"]]) == pytest.approx(
        [log(2) / sqrt(log(2) ** 2 + log(1.2) ** 2), 0.0]
    )


def test_a_page_about_the_query_is_above_a_page_that_is_not_in_every_match() -> None:
    found = text_features(
        "drooping tulips",
        ["Why drooping tulips droop", "Potato salad"],
        ["Drooping tulips need water. Tulips drink.", "Boil potatoes, add salt and oil."],
    )
    assert found.shape == (2, len(NAMES))
    assert (found[0, :7] > found[1, :7]).all()


def test_empty_texts_queries_and_candidates_give_zeros_not_nan() -> None:
    assert not text_features("", ["", "x"], ["", "x y"])[:, :7].any()
    assert np.isfinite(text_features("a", ["", ""], ["", ""])).all()
    assert text_features("a", [], []).shape == (0, len(NAMES))
    with pytest.raises(BadData, match="1 titles but 2 texts"):
        text_features("a", [""], ["", ""])
