"""Calibration of stated confidence, against plain sums and in simulated studies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topkapi.analysis.errors import BadData
from topkapi.analysis.machines import calibration

REPLIES = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 100), st.integers(0, 3)), min_size=1, max_size=60
)


@given(REPLIES)
def test_bins_and_error_are_plain_sums(replies: list[tuple[int, int, int]]) -> None:
    query = np.array([each[0] for each in replies])
    found = calibration(query, [c / 100 for _, c, _ in replies], [a / 3 for *_, a in replies])
    bins: dict[int, list[tuple[float, float]]] = {}
    for _, sure, agreed in replies:
        at = 0 if sure < 50 else min(sure // 10, 9)
        bins.setdefault(at, []).append((sure / 100, agreed / 3))
    error = 0.0
    for (_, mine), shown in zip(sorted(bins.items()), found.bins, strict=True):
        stated, agreement = (float(np.mean(each)) for each in zip(*mine, strict=True))
        assert shown.replies == len(mine)
        assert shown.confidence == pytest.approx(stated)
        assert shown.low <= shown.confidence <= shown.high
        assert shown.agreement == pytest.approx(agreement)
        error += len(mine) * abs(stated - agreement) / len(replies)
    assert found.error == pytest.approx(error)
    assert (found.replies, found.queries) == (len(replies), len(set(query.tolist())))
    assert (found.error_ends is None) == (found.queries < 5)


@pytest.mark.parametrize("replies", [([], []), ([0.5], [1.2]), ([-0.1], [0.5]), ([np.nan], [0.5])])
def test_what_is_no_share_is_refused(replies: tuple[list[float], list[float]]) -> None:
    with pytest.raises(BadData, match="between 0 and 1"):
        calibration(np.zeros(len(replies[0]), int), *replies)
