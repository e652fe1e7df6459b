"""Known pairs: from gold and from grades, compared with answers; the interval of a share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from tests.cases import each_case
from topkapi.analysis import jackknife
from topkapi.app.domain.pairs.answers import Answer, Judgment, Preference, QuestionKind
from topkapi.app.domain.pairs.known import KnownPairs, gold_of, wilson_interval


def said(left: int, right: int, answer: Answer) -> Judgment:
    return Judgment(QuestionKind.SORT, left, right, answer)


@given(
    st.dictionaries(st.integers(1, 6), st.integers(-1, 4)),
    st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6), st.sampled_from(["left", "tie"]))),
    st.tuples(st.integers(1, 6), st.integers(1, 6)),
)
def test_a_pair_is_known_alike_from_both_sides(
    grades: dict[int, int], rows: list[tuple[int, int, str]], pair: tuple[int, int]
) -> None:
    gold = [row for row in rows if row[0] != row[1]]
    known = KnownPairs(gold_of(gold), grades)
    forth, back = known.preference(*pair), known.preference(*reversed(pair))
    assert back == (None if forth is None else forth.swapped())
    last = next((row for row in reversed(gold) if set(row[:2]) == set(pair)), None)
    if last is not None:
        better = Preference.FIRST if last[0] == pair[0] else Preference.SECOND
        assert forth is (Preference.TIE if last[2] == "tie" else better)
    else:
        known_grades = [grades[page] for page in pair if page in grades]
        clear = len(known_grades) == 2 and abs(known_grades[0] - known_grades[1]) >= 2
        assert (forth is not None) == clear


@each_case(
    ("answer", "right"),
    [
        (Answer.LEFT, True),
        (Answer.RIGHT, False),
        (Answer.TIE, False),
        (Answer.RIGHT_BAD, True),
        (Answer.LEFT_BAD, False),
        (Answer.LEFT_UNJUDGEABLE, None),
        (Answer.RIGHT_UNJUDGEABLE, None),
    ],
)
def test_each_answer_is_compared(answer: Answer, right: bool | None) -> None:
    known = KnownPairs(grades={1: 3, 2: 0})
    assert known.is_right(said(1, 2, answer)) is right
    assert known.is_right(said(1, 3, answer)) is None


def test_binary_grades_need_a_gap_of_one() -> None:
    grades = {1: 1, 2: 0}
    assert KnownPairs(grades=grades).preference(1, 2) is None
    assert KnownPairs(grades=grades, gap=1).preference(1, 2) is Preference.FIRST


@given(st.integers(1, 3000), st.data())
def test_the_interval_is_the_reports(total: int, data: st.DataObject) -> None:
    right = data.draw(st.integers(0, total))
    low, high = wilson_interval(right, total)
    other = binomtest(right, total).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx((other.low, other.high), abs=1e-9)
    share = np.array([right / total])
    size, z = np.array([total]), np.array([1.959963984540054])
    ends = jackknife._wilson(share, share * (1 - share) / size, size, z)
    assert (low, high) == pytest.approx((float(ends[0][0]), float(ends[1][0])), abs=1e-6)
