"""Functions in a thread of their own, and event loops whose clock a test gives."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def in_thread(function: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """Call ``function`` in a new thread: a browser of the suite keeps an event loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *args, **named).result()


class GivenLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock is set by the test, so that limits in time end when it says so."""

    now = 0.0
    step = 0.0  # by which the clock advances whenever it is read

    def time(self) -> float:
        """Return the time that the test has set."""
        self.now += self.step
        return self.now

    def pass_by(self, seconds: float) -> None:
        """Let time pass, from another thread; return when what was due has been done."""

        async def pass_here() -> None:
            self.now += seconds
            for _ in range(5):  # a timer closes a connection, which is then lost
                await asyncio.sleep(0)

        asyncio.run_coroutine_threadsafe(pass_here(), self).result()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run ``work`` on this loop, and close it."""
        with asyncio.Runner(loop_factory=lambda: self) as runner:
            return runner.run(work)
