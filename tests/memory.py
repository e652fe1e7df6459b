"""Memory that Python holds while something runs."""

import tracemalloc
from collections.abc import Callable


def peak_of(action: Callable[[], object]) -> int:
    """Return the most bytes that an action holds at a time."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
