"""Highlighting in plain text: parts that joined are the text, each match with its colour."""

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from topkapi.app.domain.text.highlighting import split_at_terms, term_pattern
from topkapi.app.domain.text.terms import parts_of

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
            known = {" ".join(p.split()).casefold() for term in terms for p in parts_of(term)}
            assert colour is None or folded in known


def test_phrases_are_found_across_blanks_and_in_letters_of_either_case() -> None:
    for terms, text, ranks in (
        (["cut tulips", "cut"], "Cut \n\ttulips, cut", (1, 2)),
        (["tulips"], "TULIPS, tuLips", (1, 1)),
    ):
        pattern = term_pattern(terms)
        assert pattern is not None
        first, _, last = text.partition(", ")
        expected = [(first, ranks[0]), (", ", None), (last, ranks[1])]
        assert list(split_at_terms(text, pattern)) == expected


LETTERS = "abkKsSſßiıİIμµσςåÅ木๑ -^]\\+\n"  # unusual case, and signs with a meaning in `re`


@given(
    text=st.text(LETTERS, max_size=40) | st.text(max_size=40),
    terms=st.lists(
        (st.text(LETTERS, min_size=1, max_size=4) | st.text(min_size=1, max_size=3))
        .map(str.strip)
        .filter(bool),
        min_size=1,
        max_size=4,
    ),
)
def test_terms_are_found_as_by_trying_each_at_every_character(text: str, terms: list[str]) -> None:
    pattern = term_pattern(terms)
    assert pattern is not None
    terms = [part for term in terms for part in parts_of(term)]
    tried = [re.compile(r"\s+".join(map(re.escape, t.split())), re.IGNORECASE) for t in terms]
    is_unspaced = [unicodedata.category(term[0]) == "Lo" for term in terms]
    order = sorted(range(len(terms)), key=lambda index: (is_unspaced[index], -len(terms[index])))
    expected, at = [], 0
    while at < len(text):
        starts_word = at == 0 or not re.match(r"\w", text[at - 1])
        allowed = [tried[index] for index in order if starts_word or is_unspaced[index]]
        ends = [found.end() for each in allowed if (found := each.match(text, at))]
        expected += [(at, ends[0])] if ends else []
        at = ends[0] if ends else at + 1
    assert [each.span() for each in pattern.finditer(text)] == expected


def test_parts_of_a_chinese_term_are_marked_in_its_colour() -> None:
    pattern = term_pattern(["vase", "保持郁金香直立"])
    assert pattern is not None
    text = "A vase：郁金香可以保持，花的直立。"
    marked = [part for part in split_at_terms(text, pattern) if part[1]]
    assert marked == [("vase", 1), ("郁金香", 2), ("保持", 2), ("直立", 2)]
