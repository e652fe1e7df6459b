"""Vectorised parser of SVMlight text.

Every line has to be a label, then ``qid:name``, then words ``number:value``. The numbers are read
digit by digit over all words together and blanked out, so that NumPy's parser sees values only.
"""

import warnings
from dataclasses import dataclass

import numpy as np

from topkapi.analysis.typing import BoolArray, ByteArray, FloatArray, IntArray

LONGEST_NUMBER = 9  # digits of a feature number
_BLANK = ord(" ")


@dataclass(frozen=True)
class Rows:
    """``labels`` and ``pairs`` (n_rows,), the words per row; ``numbers`` and ``values`` of all."""

    labels: FloatArray
    pairs: IntArray
    numbers: IntArray
    values: FloatArray


def read_rows(body: bytes, n_rows: int) -> Rows | None:
    r"""Parse the numbers of a text without comments and blank lines.

    None if it is not well formed.

    >>> read_rows(b"2 qid:7 1:.5 3:1\n", 1).numbers
    array([1, 3])
    """
    flat = np.frombuffer(bytearray(body), dtype=np.uint8)
    ends = np.flatnonzero(flat == ord("\n"))
    if ends.size != n_rows or n_rows == 0:
        return None
    colons = np.flatnonzero(flat == ord(":"))
    found = _words(flat, ends, colons)
    if found is None:
        return None
    words, query = found
    numbers = _whole_numbers(flat, words[~query], colons[~query])
    if numbers is None:
        return None
    _blank_query_words(flat, words[query])
    values = _parse(flat)
    pairs = np.diff(np.searchsorted(colons, ends), prepend=0) - 1
    if values is None or values.size != n_rows + numbers.size:
        return None
    positions = np.cumsum(pairs + 1) - pairs - 1
    return Rows(values[positions], pairs, numbers, np.delete(values, positions))


def _words(flat: ByteArray, ends: IntArray, colons: IntArray) -> tuple[IntArray, BoolArray] | None:
    """Find the starts of the words after the labels, and which of them are ``qid:`` words.

    Every such word must hold one colon, and the first of a line must begin with qid:.
    """
    space = flat <= _BLANK
    starts = np.flatnonzero(space[:-1] & ~space[1:]) + 1  # the word at 0 is the first label
    heads = np.concatenate([[0], ends[:-1] + 1])
    label = np.zeros(flat.size + 1, dtype=np.bool_)
    label[heads] = True
    words = starts[~label[starts]]
    if words.size != colons.size or space[heads].any():
        return None
    if not ((words < colons).all() and (colons[:-1] < words[1:]).all()):
        return None
    firsts = np.searchsorted(words, heads)
    if firsts[-1] >= words.size or (np.diff(firsts) == 0).any():
        return None
    query = np.zeros(words.size, dtype=np.bool_)
    query[firsts] = True
    named = all(
        (flat[words[query] + position] == char).all() for position, char in enumerate(b"qid:")
    )
    return (words, query) if named else None


def _whole_numbers(flat: ByteArray, words: IntArray, colons: IntArray) -> IntArray | None:
    """Parse the digits before each colon.

    They and the colons become blanks in ``flat``.
    """
    lengths = colons - words
    if lengths.size and lengths.max() > LONGEST_NUMBER:
        return None
    numbers = np.zeros(words.size, dtype=np.int64)
    for position in range(int(lengths.max(initial=0))):
        longer = lengths > position
        at = words[longer] + position
        digits = flat[at] - np.uint8(ord("0"))  # other signs wrap around to 10 or more
        if (digits > 9).any():
            return None
        numbers[longer] = 10 * numbers[longer] + digits
        flat[at] = _BLANK
    flat[colons] = _BLANK
    return numbers


def _blank_query_words(flat: ByteArray, words: IntArray) -> None:
    at = words
    while at.size:
        at = at[flat[at] > _BLANK]
        flat[at] = _BLANK
        at = at + 1


def _parse(flat: ByteArray) -> FloatArray | None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.fromstring(flat.tobytes(), sep=" ")
        except (DeprecationWarning, ValueError):
            return None
