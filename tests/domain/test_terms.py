"""Terms to highlight: extraction from a query, adding, removing, colours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.text.terms import (
    MAX_TERM_LENGTH,
    MAX_TERMS,
    colour_of,
    query_terms,
    with_term,
    without_term,
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
