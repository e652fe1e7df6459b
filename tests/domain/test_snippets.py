"""Snippets: the passage with the most terms, and Markdown as plain text."""

from hypothesis import given
from hypothesis import strategies as st

from topkapi.app.domain.text.snippets import LENGTH, snippet, without_markdown

TERMS = ["tulips", "cut", "keep"]


def plain(parts: tuple[tuple[str, int | None], ...]) -> str:
    return "".join(text for text, _ in parts)


@given(text=st.text(max_size=900), terms=st.lists(st.text("abc<&'\" é木", min_size=1, max_size=5)))
def test_a_snippet_is_a_passage_of_the_page(text: str, terms: list[str]) -> None:
    usable = [term for term in terms if term.strip()]
    parts = snippet(text, usable)
    found = plain(parts)
    assert len(found) <= LENGTH + 4
    assert found.removeprefix("… ").removesuffix(" …") in " ".join(text.split())
    assert all(colour in (None, 1, 2, 3, 4) for _, colour in parts)


def test_the_passage_with_most_terms_is_chosen_and_marked() -> None:
    filler = "Nothing of use stands here at all. " * 20
    text = f"{filler}Tulips again. {filler}Keep cut tulips upright. {filler}"
    parts = snippet(text, TERMS)
    assert [(word.lower(), colour) for word, colour in parts if colour] == [
        ("keep", 3),
        ("cut", 2),
        ("tulips", 1),
    ]
    assert plain(parts).startswith("… ")
    assert plain(parts).endswith(" …")


def test_without_a_term_the_page_begins_at_its_beginning() -> None:
    assert snippet("One two.", TERMS) == (("One two.", None),)
    assert snippet("", TERMS) == ()
    assert snippet("One two.", []) == (("One two.", None),)


def test_tables_are_read_as_prose() -> None:
    text = "| cause | cure |\n|---|:--|\n| cold | wait |\na | b"
    assert " ".join(without_markdown(text).split()) == "cause cure cold wait a | b"


def test_markdown_is_read_as_prose() -> None:
    text = '## Keep *cut* tulips\n\n* _one_two_\n> said `x` [link](https://a.example "t") 2 * 3'
    assert " ".join(without_markdown(text).split()) == ("Keep cut tulips one_two said x link 2 * 3")
