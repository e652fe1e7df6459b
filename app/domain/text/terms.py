"""Terms to highlight: those of the query, and those that the assessor adds."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.text.stop_words import stop_words_for
from topkapi.app.domain.text.unspaced import words_in

MAX_TERMS = 12
MAX_TERM_LENGTH = 60
COLOURS = 4

_WORD = re.compile(r"\w+(?:[-'’.]\w+)*")


@lru_cache(maxsize=1024)
def query_terms(text: str) -> tuple[str, ...]:
    """Return the distinct words of a query in their order, without stop words."""
    words = [word for found in _WORD.findall(text) for word in words_in(found)]
    stop_words = stop_words_for([word.casefold() for word in words])
    first: dict[str, str] = {}
    for word in words:
        if word.casefold() not in stop_words and (len(word) > 1 or not word.isascii()):
            first.setdefault(word.casefold(), word)
    return tuple(word[:MAX_TERM_LENGTH] for word in islice(first.values(), MAX_TERMS))


def with_term(terms: Sequence[str], term: str) -> tuple[str, ...]:
    """Return the terms with ``term`` appended, or unchanged if they contain it."""
    cleaned = " ".join(term.split())
    if not cleaned:
        raise Invalid("Type a word or a phrase to highlight.", field="term")
    if len(cleaned) > MAX_TERM_LENGTH:
        raise Invalid(f"A term has at most {MAX_TERM_LENGTH} characters.", field="term")
    if cleaned.casefold() in {known.casefold() for known in terms}:
        return tuple(terms)
    if len(terms) >= MAX_TERMS:
        raise Invalid(f"At most {MAX_TERMS} terms are highlighted; remove one first.", field="term")
    return (*terms, cleaned)


def without_term(terms: Sequence[str], term: str) -> tuple[str, ...]:
    """Return the terms without ``term``, ignoring case."""
    return tuple(known for known in terms if known.casefold() != term.casefold())


def colour_of(index: int) -> int:
    """Return the number of the highlight colour, from 1, of the term at ``index``."""
    return index % COLOURS + 1
