"""Highlighting of terms in plain text: the location and the colour of each match.

Matching takes a bounded number of steps per character: the words of a phrase are joined by a
possessive whitespace pattern, and the length of a phrase is limited.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from topkapi.app.domain.text.terms import colour_of


def term_pattern(terms: Sequence[str]) -> re.Pattern[str] | None:
    """Compile a pattern with one group per term, longer terms first.

    A match starts at the start of a word. Return None without terms.
    """
    if not terms:
        return None
    spaced: list[str] = []
    unspaced: list[str] = []
    for index in sorted(range(len(terms)), key=lambda index: -len(terms[index])):
        words = r"\s++".join(re.escape(word) for word in terms[index].split())
        # Scripts without letter case, such as Chinese or Thai, often have no spaces between words.
        is_spaced = unicodedata.category(terms[index][0]) != "Lo"
        (spaced if is_spaced else unspaced).append(f"(?P<t{index}>{words})")
    starts = [rf"(?<!\w)(?:{'|'.join(spaced)})"] if spaced else []
    return re.compile("|".join([*starts, *unspaced]), re.IGNORECASE)


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
