"""Highlighting in plain text: parts that joined are the text, each match with its colour."""

from hypothesis import given
from hypothesis import strategies as st

from topkapi.app.domain.text.highlighting import split_at_terms, term_pattern

TERMS = st.lists(st.text("ab é木<\n ", min_size=1, max_size=6).filter(str.strip), max_size=5)


def test_without_terms_there_is_no_pattern() -> None:
    assert term_pattern([]) is None


@given(text=st.text("abé木<\n x", max_size=80), terms=TERMS)
def test_stretches_are_the_text(text: str, terms: list[str]) -> None:
    pattern = term_pattern(terms)
    if pattern is not None:
        stretches = list(split_at_terms(text, pattern))
        assert "".join(stretch for stretch, _ in stretches) == text
        assert all(stretch for stretch, _ in stretches)
        for stretch, colour in stretches:
            folded = " ".join(stretch.split()).casefold()
            known = {" ".join(term.split()).casefold() for term in terms}
            assert colour is None or folded in known


def test_words_of_a_phrase_may_have_any_blanks_between_them() -> None:
    pattern = term_pattern(["cut tulips", "cut"])
    assert pattern is not None
    assert list(split_at_terms("Cut \n\ttulips, cut", pattern)) == [
        ("Cut \n\ttulips", 1),
        (", ", None),
        ("cut", 2),
    ]
