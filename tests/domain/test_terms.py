"""Terms to highlight: extraction from a query, adding, removing, colours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.text.terms import (
    MAX_TERM_LENGTH,
    MAX_TERMS,
    colour_of,
    parts_of,
    query_terms,
    with_term,
    without_term,
    words_in,
)


def test_a_query_is_highlighted_by_its_informative_words() -> None:
    assert query_terms("how to keep cut tulips from drooping") == (
        "keep",
        "cut",
        "tulips",
        "drooping",
    )
    assert query_terms("Why does my bread collapse? BREAD!") == ("bread", "collapse")
    assert query_terms("mother-in-law's café, 3.5 kg") == ("mother-in-law's", "café", "3.5", "kg")
    assert query_terms("how to do it") == ()
    assert query_terms("郁金香") == ("郁金香",)


@each_case(
    ("query", "terms"),
    [
        ("如何保持郁金香直立？", ("保持郁金香直立",)),
        ("为什么天空是蓝色的", ("天空是蓝色",)),
        ("北京 到 上海的高铁", ("北京", "到", "上海", "高铁")),
        ("チューリップを長持ちさせる方法", ("チューリップ", "長持", "ちさせる", "方法")),
        ("切り花の水の替え方", ("切り花", "水", "替え方")),
        ("機械学習とは", ("機械学習",)),
        ("iPhone15の使い方", ("iPhone15", "使い方")),
        ("best 郁金香 bulbs", ("郁金香", "bulbs")),
        ("튤립 오래 보관하는 방법", ("튤립", "오래", "보관하는", "방법")),
    ],
)
def test_chinese_and_japanese_queries_are_split_into_words(
    query: str, terms: tuple[str, ...]
) -> None:
    assert query_terms(query) == terms


@given(st.text("abc, -'é"))
def test_words_of_other_scripts_stay_whole(text: str) -> None:
    assert words_in(text) == parts_of(text) == [text]


@given(st.text("a郁金香的チは", min_size=1, max_size=9))
def test_words_and_parts_are_in_their_text(text: str) -> None:
    assert all(word and word in text for word in words_in(text))
    assert parts_of(text)[0] == text
    assert all(part in text and len(part) > 1 for part in parts_of(text)[1:])


@given(st.text())
def test_any_query_gives_few_short_terms_each_once(text: str) -> None:
    terms = query_terms(text)
    assert len(terms) <= MAX_TERMS
    assert len({term.casefold() for term in terms}) == len(terms)
    assert all(0 < len(term) <= MAX_TERM_LENGTH for term in terms)


def test_terms_are_added_once_and_removed_whatever_their_case() -> None:
    terms = with_term(("cut",), "  tall   Vase ")
    assert terms == ("cut", "tall Vase")
    assert with_term(terms, "TALL vase") == terms
    assert without_term(terms, "CUT") == ("tall Vase",)
    assert without_term(terms, "none") == terms


@pytest.mark.parametrize("term", ["", "  ", "x" * (MAX_TERM_LENGTH + 1)])
def test_an_invalid_term_is_refused(term: str) -> None:
    with pytest.raises(Invalid):
        with_term((), term)


def test_too_many_terms_are_refused() -> None:
    terms = tuple(f"t{number}" for number in range(MAX_TERMS))
    with pytest.raises(Invalid, match="remove one first"):
        with_term(terms, "one more")


def test_colours_repeat() -> None:
    assert [colour_of(index) for index in range(6)] == [1, 2, 3, 4, 1, 2]
