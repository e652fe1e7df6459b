"""Terms found in plain text: where they are, and which colour each one has.

The pattern takes no more steps than a fixed number per character: words of a phrase are joined by
possessive blanks, and a phrase is limited in length.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from topkapi.app.domain.text.terms import colour_of


def term_pattern(terms: Sequence[str]) -> re.Pattern[str] | None:
    """Compile one group per term, longer ones first; a match begins where a word does."""
    if not terms:
        return None
    spaced: list[str] = []
    unspaced: list[str] = []
    for place in sorted(range(len(terms)), key=lambda place: -len(terms[place])):
        words = r"\s++".join(re.escape(word) for word in terms[place].split())
        # Scripts without letter case, such as Chinese or Thai, often have no spaces between words.
        is_spaced = unicodedata.category(terms[place][0]) != "Lo"
        (spaced if is_spaced else unspaced).append(f"(?P<t{place}>{words})")
    starts = [rf"(?<!\w)(?:{'|'.join(spaced)})"] if spaced else []
    return re.compile("|".join([*starts, *unspaced]), re.IGNORECASE)


def split_at_terms(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, int | None]]:
    """Yield stretches of ``text``, each with the colour of its mark; together they are the text.

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
