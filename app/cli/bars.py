"""A progress bar that appears only on a terminal, after two seconds."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 2.0
_WIDTH = 30
_EVERY = 0.1

Update = Callable[[str, int, int], None]


@contextmanager
def late_bar() -> Iterator[Update]:
    """Yield a function that takes the current activity, the amount done, and the total."""
    if not sys.stderr.isatty():
        yield lambda _doing, _done, _total: None
        return
    bar = _Bar()
    try:
        yield bar.update
    finally:
        bar.clear()


class _Bar:
    def __init__(self) -> None:
        self._next = time.monotonic() + PATIENCE
        self._drawn = False

    def update(self, doing: str, done: int, total: int) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _EVERY
        self._drawn = True
        share = done / total if total else 1.0
        full = round(_WIDTH * share)
        line = f"\r{doing:<10} [{'#' * full}{'.' * (_WIDTH - full)}] {share:4.0%}"
        sys.stderr.write(line)
        sys.stderr.flush()

    def clear(self) -> None:
        if self._drawn:
            sys.stderr.write("\r" + " " * (_WIDTH + 20) + "\r")
            sys.stderr.flush()
