"""Functions in a thread of their own."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def in_thread(function: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """Call ``function`` in a new thread: a browser of the suite keeps an event loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *args, **named).result()
