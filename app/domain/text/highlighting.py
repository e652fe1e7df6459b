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

from topkapi.app.domain.text.terms import colour_of, parts_of

_CHARACTERS = "".join(map(chr, range(0x1F000)))  # all that have an upper and a lower case
_NOT_IN_A_WORD = r"(?<!\w[\s\S])"  # the character before the first one of the term, already read


def term_pattern(terms: Sequence[str]) -> re.Pattern[str] | None:
    """Compile a pattern with a group for each term and part of one (`parts_of`), longer ones first.

    A match starts at the start of a word. Return None without terms.
    """
    return _compiled(tuple(terms)) if terms else None


@lru_cache(1024)  # compiling costs as much as searching in 50 kB of text
def _compiled(terms: tuple[str, ...]) -> re.Pattern[str]:
    parts = [(part, index) for index, term in enumerate(terms) for part in parts_of(term)]
    named = [(part, f"t{index}_{number}") for number, (part, index) in enumerate(parts)]
    by_length = sorted(named, key=lambda each: -len(each[0]))
    # Scripts without letter case, such as Chinese or Thai, often have no spaces between words.
    spaced = [each for each in by_length if unicodedata.category(each[0][0]) != "Lo"]
    unspaced = [each for each in by_length if each not in spaced]
    ends = [f"{_NOT_IN_A_WORD}(?:{_ends(spaced)})"] if spaced else []
    ends += [_ends(unspaced)] if unspaced else []
    starts = _any_of("".join(_same_letter(each[0]) for each in {part for part, _ in parts}))
    return re.compile(f"{starts}(?:{'|'.join(ends)})", re.IGNORECASE)


def _ends(named: Iterable[tuple[str, str]]) -> str:
    """Return a pattern of terms without their first characters, each in the group of its name."""
    by_start: dict[str, list[str]] = defaultdict(list)
    for term, name in named:
        first, *others = term.split()
        words = r"\s++".join(map(re.escape, [first[1:], *others]))
        by_start[_same_letter(first[0])].append(f"(?P<{name}>{words})")
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


def colour_of_match(found: re.Match[str]) -> int:
    """Return the highlight colour of a match of `term_pattern`."""
    return colour_of(int((found.lastgroup or "t0_")[1:].partition("_")[0]))


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
        yield found.group(), colour_of_match(found)
        done = found.end()
    if done < len(text):
        yield text[done:], None
