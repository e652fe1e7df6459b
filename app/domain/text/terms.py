"""Terms to highlight: those of the query, and those that the assessor adds."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.text.stop_words import stop_words_for

MAX_TERMS = 12
MAX_TERM_LENGTH = 60
COLOURS = 4

_WORD = re.compile(r"\w+(?:[-'’.]\w+)*")
_HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KATAKANA = "\u30a1-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HIRAGANA = "\u3041-\u309f"
_PARTICLES = "のをにはがとでもへやか"
_CHINESE_STOP_WORDS = (
    "为什么 為什麼 怎么样 怎麼樣 怎么 怎麼 怎样 怎樣 如何 "
    "什么 什麼 哪些 哪个 哪個 多少 是否 有没有 可以"
)
_JAPANESE_STOP_WORDS = (
    "ください について どうすれば どうやって どのように できる している します ですか とは なぜ"
)
_ANY = re.compile(f"[{_HAN}{_KATAKANA}{_HIRAGANA}]")
_ONLY_HAN = re.compile(f"[{_HAN}]{{3,}}")
_PIECES = re.compile(
    f"[{_HAN}]+(?:(?![{_PARTICLES}])[{_HIRAGANA}][{_HAN}]+)*"  # 食べ物 is one word, 花の水 is not
    f"|[{_KATAKANA}]+|[{_HIRAGANA}]+|[^{_HAN}{_KATAKANA}{_HIRAGANA}]+"
)
_ONLY_HIRAGANA = re.compile(f"[{_HIRAGANA}]{{1,2}}")
_STOPS = re.compile("|".join(["[的吗嗎呢吧]", *_CHINESE_STOP_WORDS.split()]))
_PART_LENGTHS = (4, 3, 2)


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
        raise Invalid(f"A term can have at most {MAX_TERM_LENGTH} characters.", field="term")
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


def words_in(text: str) -> list[str]:
    """Return the words of ``text``, itself if it is not Chinese or Japanese.

    >>> words_in("如何保持郁金香直立"), words_in("iPhone15の使い方"), words_in("tulips")
    (['保持郁金香直立'], ['iPhone15', '使い方'], ['tulips'])
    """
    if not _ANY.search(text):
        return [text]
    pieces = [part for piece in _PIECES.findall(text) for part in _STOPS.split(piece)]
    return [piece for piece in pieces if piece and not _says_nothing(piece)] or [text]


def _says_nothing(piece: str) -> bool:
    return bool(_ONLY_HIRAGANA.fullmatch(piece)) or piece in _JAPANESE_STOP_WORDS.split()


def parts_of(term: str) -> list[str]:
    """Return what is highlighted for a term: itself, and the parts of several Han characters.

    >>> parts_of("郁金香"), parts_of("tulips")
    (['郁金香', '郁金', '金香'], ['tulips'])
    """
    if not _ONLY_HAN.fullmatch(term):
        return [term]
    parts = [
        term[start : start + length]
        for length in _PART_LENGTHS
        for start in range(len(term) - length + 1)
    ]
    return list(dict.fromkeys([term, *parts]))
