"""Step counter for regular expressions: a model of the backtracking of Python's `re`.

Growth is measured by counting steps, not by time. A step compares a character with a part of a
pattern, or backtracks over a repetition. Python's engine does the same with optimizations, so it
does not take more steps.
"""

import importlib
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_parser: Any = importlib.import_module("re._parser")
_ops: Any = importlib.import_module("re._constants")
_CATEGORIES = {
    _ops.CATEGORY_SPACE: re.compile(r"\s"),
    _ops.CATEGORY_DIGIT: re.compile(r"\d"),
    _ops.CATEGORY_WORD: re.compile(r"\w"),
    _ops.CATEGORY_NOT_SPACE: re.compile(r"\S"),
    _ops.CATEGORY_NOT_DIGIT: re.compile(r"\D"),
    _ops.CATEGORY_NOT_WORD: re.compile(r"\W"),
}
_CHARACTERS = (_ops.LITERAL, _ops.NOT_LITERAL, _ops.ANY, _ops.IN)
_REPEATS = (_ops.MAX_REPEAT, _ops.MIN_REPEAT, _ops.POSSESSIVE_REPEAT)


@cache
def _parsed(pattern: re.Pattern[Any]) -> tuple[Any, dict[Any, bool]]:
    """Return the parts of a pattern and an empty cache of what they match, once per pattern."""
    source = pattern.pattern
    parts = _parser.parse(
        source if isinstance(source, str) else source.decode("latin-1"),
        pattern.flags & ~re.UNICODE if isinstance(source, bytes) else pattern.flags,
    )
    return parts, {}


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Allow deep recursion only here: elsewhere it would let nested JSON overflow the stack."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 60_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


class Steps:
    """Counts the steps of one pattern on one text."""

    def __init__(self, pattern: re.Pattern[Any], text: str) -> None:
        self._text = text
        self._flags = pattern.flags
        self._parts, self._match_cache = _parsed(pattern)
        self.count = 0

    def of_search(self) -> int:
        """Return the number of steps to find every match."""
        position = 0
        with _deep_recursion():
            while position <= len(self._text):
                end = next(self._ends(self._parts, 0, position), None)
                position = position + 1 if end is None or end == position else end
        return self.count

    def of_match(self) -> int:
        """Return the number of steps to match the whole text from its start."""
        with _deep_recursion():
            any(end == len(self._text) for end in self._ends(self._parts, 0, 0))
        return self.count

    def _ends(self, parts: Any, index: int, position: int) -> Iterator[int]:
        if index == len(parts):
            yield position
            return
        op, argument = parts[index]
        for end in self._part_ends(op, argument, position):
            yield from self._ends(parts, index + 1, end)

    def _part_ends(self, op: Any, argument: Any, position: int) -> Iterator[int]:
        self.count += 1
        if op in _REPEATS:
            yield from self._repeat_ends(op, argument, position)
        elif op is _ops.SUBPATTERN:
            yield from self._ends(argument[3], 0, position)
        elif op is _ops.BRANCH:
            for branch in argument[1]:
                yield from self._ends(branch, 0, position)
        elif op in (_ops.ASSERT, _ops.ASSERT_NOT):
            start = position - (1 if argument[0] < 0 else 0)
            found = start >= 0 and next(self._ends(argument[1], 0, start), None) is not None
            if found == (op is _ops.ASSERT):
                yield position
        elif op is _ops.AT:
            if self._is_at(argument, position):
                yield position
        elif position < len(self._text) and self._matches(op, argument, self._text[position]):
            yield position + 1

    def _repeat_ends(self, op: Any, how: Any, position: int) -> Iterator[int]:
        ends = self._repetition_ends(how[0], how[1], how[2], position)
        if op is not _ops.POSSESSIVE_REPEAT:
            yield from ends
        elif (end := next(ends, None)) is not None:
            yield end

    def _repetition_ends(self, least: int, most: Any, parts: Any, position: int) -> Iterator[int]:
        """Yield the possible ends of a repetition, the longest first."""
        if len(parts) == 1 and parts[0][0] in _CHARACTERS:
            yield from self._character_repetitions(least, most, parts[0], position)
            return
        if most > 0:
            for end in self._ends(parts, 0, position):
                if end > position:
                    yield from self._repetition_ends(max(0, least - 1), most - 1, parts, end)
        self.count += 1
        if least <= 0:
            yield position

    def _character_repetitions(
        self, least: int, most: Any, part: Any, position: int
    ) -> Iterator[int]:
        """Yield the possible ends of a repeated character, without a call per character."""
        (op, argument), end = part, position
        stop = min(len(self._text), position + most)
        while end < stop and self._matches(op, argument, self._text[end]):
            end += 1
        self.count += end - position + 1
        for each in range(end, position + least - 1, -1):
            self.count += 1
            yield each

    def _is_at(self, where: Any, position: int) -> bool:
        text, many = self._text, bool(self._flags & re.MULTILINE)
        if where is _ops.AT_BEGINNING:
            return position == 0 or (many and text[position - 1] == "\n")
        if where is _ops.AT_END:
            rest = text[position : position + 2]
            return rest in ("", "\n") or (many and rest[:1] == "\n")
        if where is _ops.AT_END_STRING:
            return position == len(text)
        before, after = text[position - 1 : position] if position else "", text[position:][:1]
        return _is_word(before) != _is_word(after)

    def _matches(self, op: Any, argument: Any, character: str) -> bool:
        key = (op, id(argument) if op is _ops.IN else argument, character)
        if key not in self._match_cache:
            self._match_cache[key] = self._compute_match(op, argument, character)
        return self._match_cache[key]

    def _compute_match(self, op: Any, argument: Any, character: str) -> bool:
        if op is _ops.ANY:
            return character != "\n" or bool(self._flags & re.DOTALL)
        if op is _ops.IN:
            negated = argument[0][0] is _ops.NEGATE
            kinds = argument[1:] if negated else argument
            return negated != any(self._matches(kind, each, character) for kind, each in kinds)
        if op is _ops.RANGE:
            return any(argument[0] <= ord(each) <= argument[1] for each in self._cases(character))
        if op is _ops.CATEGORY:
            return _CATEGORIES[argument].match(character) is not None
        same = any(ord(each) == argument for each in self._cases(character))
        return same == (op is _ops.LITERAL)

    def _cases(self, character: str) -> set[str]:
        folds = self._flags & re.IGNORECASE
        cases = {character, character.lower(), character.upper()} if folds else {character}
        return {each for each in cases if len(each) == 1}


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
