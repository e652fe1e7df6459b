"""Highlighting of terms in plain text: the location and the colour of each match.

Matching takes a bounded number of steps per character: the words of a phrase are joined by a
possessive whitespace pattern, and the length of a phrase is limited. Most characters take one
step, because a pattern starts with the set of characters that a term can start with, for which
``re`` searches three times faster than for alternatives without regard to case.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from topkapi.app.domain.text.terms import colour_of

_CHARACTERS = "".join(map(chr, range(0x1F000)))  # all that have an upper and a lower case
_NOT_IN_A_WORD = r"(?<!\w[\s\S])"  # the character before the first one of the term, already read


def term_pattern(terms: Sequence[str]) -> re.Pattern[str] | None:
    """Compile a pattern with one group per term, longer terms first.

    A match starts at the start of a word. Return None without terms.
    """
    return _compiled(tuple(terms)) if terms else None


@lru_cache(1024)  # compiling costs as much as searching in 50 kB of text
def _compiled(terms: tuple[str, ...]) -> re.Pattern[str]:
    by_length = sorted(range(len(terms)), key=lambda index: -len(terms[index]))
    # Scripts without letter case, such as Chinese or Thai, often have no spaces between words.
    spaced = [index for index in by_length if unicodedata.category(terms[index][0]) != "Lo"]
    unspaced = [index for index in by_length if index not in spaced]
    ends = [f"{_NOT_IN_A_WORD}(?:{_ends(terms, spaced)})"] if spaced else []
    ends += [_ends(terms, unspaced)] if unspaced else []
    starts = _any_of("".join(_same_letter(term[0]) for term in terms))
    return re.compile(f"{starts}(?:{'|'.join(ends)})", re.IGNORECASE)


def _ends(terms: Sequence[str], indices: Iterable[int]) -> str:
    """Return a pattern of terms without their first characters, one group per term."""
    by_start: dict[str, list[str]] = defaultdict(list)
    for index in indices:
        first, *others = terms[index].split()
        words = r"\s++".join(map(re.escape, [first[1:], *others]))
        by_start[_same_letter(first[0])].append(f"(?P<t{index}>{words})")
    return "|".join(
        f"(?<={_any_of(start)})(?:{'|'.join(ends)})" for start, ends in by_start.items()
    )


def _any_of(characters: str) -> str:
    return f"(?-i:[{re.escape(characters)}])"


@lru_cache(4096)
def _same_letter(character: str) -> str:
    """Return the characters that ``re`` takes for this one without regard to case."""
    others = re.findall(re.escape(character), _CHARACTERS, re.IGNORECASE)
    return "".join(sorted({character, *others}))


def split_at_terms(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, int | None]]:
    """Yield consecutive parts of ``text``, each with its highlight colour or None.

    Joined, the parts are the whole text.

    >>> list(split_at_terms("Cut tulips.", term_pattern(["tulip"])))
    [('Cut ', None), ('tulip', 1), ('s.', None)]
    """
    done = 0
    for found in pattern.finditer(text):
        if found.start() > done:
            yield text[done : found.start()], None
        yield found.group(), colour_of(int((found.lastgroup or "t0")[1:]))
        done = found.end()
    if done < len(text):
        yield text[done:], None
