"""Processes that do the same work side by side, and the process that keeps them alive."""

import logging
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from socket import socket, socketpair

_ROUND = 0.5  # seconds between two rounds, and before a worker that ended is started again
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SILENT_SECONDS = 30.0  # after which a worker that does not reply is killed
_log = logging.getLogger("topkapi.server")
_spawn = get_context("spawn")

Work = Callable[[Connection], None]  # replies to each message whether it is ready; can be pickled


class Supervisor:
    """Keeps ``count`` processes alive until SIGINT or SIGTERM; SIGHUP replaces them in turn.

    A process is asked to end only when its successor is ready: if none can start, all stay.
    """

    def __init__(self, work: Work, count: int, *, fatal: int) -> None:
        self._work, self._count = work, count
        self._fatal = fatal  # exit code of a worker for which no further attempt would help
        self._workers: list[_Worker] = []
        self._outdated: list[_Worker] = []
        self._successor: _Worker | None = None  # of the next outdated worker

    def watch(self) -> int:
        """Start the processes; return 0 after a signal to end, or the code of a fatal failure."""
        with _signals() as signals:
            self._workers = [_Worker(self._work) for _ in range(self._count)]
            while True:
                connection.wait([signals, *(each.sentinel for each in self._workers)], _ROUND)
                received = _received(signals)
                if received & {signal.SIGINT, signal.SIGTERM}:
                    return 0
                if signal.SIGHUP in received:
                    self._outdated = list(self._workers)
                if self._fatal in [self._tend(index) for index in range(self._count)]:
                    return self._fatal
                self._renew()

    def end(self) -> None:
        """Ask all workers to end, and wait until they have."""
        every = [*self._workers, *([self._successor] if self._successor else [])]
        for worker in every:
            worker.terminate()
        for worker in every:
            worker.join()

    def _renew(self) -> None:
        """Take the next step to replace the outdated workers by new ones."""
        self._outdated = [each for each in self._outdated if each in self._workers]
        successor = self._successor
        if successor is not None and (successor.is_silent() or not successor.is_alive):
            successor.kill()
            code = successor.join()
            _log.error("new server process %d ended with %s; the others stay", successor.pid, code)
            self._outdated, self._successor = [], None
        elif not self._outdated or not all(each.is_ready for each in self._workers):
            return
        elif successor is None:
            self._successor = _Worker(self._work)
        elif successor.is_ready:
            self._outdated.pop().terminate()

    def _tend(self, index: int) -> int | None:
        """Start a worker again that ended or hangs; return the exit code of one that ended."""
        worker = self._workers[index]
        if worker.is_silent():
            worker.kill()
        elif worker.is_alive:
            return None
        code = worker.join()
        if code != self._fatal:
            level = logging.INFO if worker.is_ending else logging.ERROR
            _log.log(level, "server process %d ended with %s; started again", worker.pid, code)
            time.sleep(_ROUND)
            self._workers[index] = self._successor or _Worker(self._work)
            self._successor = None
        return code


class _Worker:
    """A process, and the connection on which it replies whether it is ready."""

    def __init__(self, work: Work) -> None:
        self._connection, its_end = _spawn.Pipe()
        self._process = _spawn.Process(target=work, args=(its_end,))
        self._process.start()
        its_end.close()
        self._asked_at: float | None = None
        self._has_started = self.is_ending = False
        self.sentinel = self._process.sentinel
        self.pid = self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.is_alive()

    @property
    def is_ready(self) -> bool:
        return self._has_started and not self.is_ending

    def is_silent(self) -> bool:
        """Take the reply, and ask again; return whether the process has not replied for long."""
        now = time.monotonic()
        try:
            if self._connection.poll():
                self._has_started, self._asked_at = self._connection.recv(), None
            if self._asked_at is None:
                self._connection.send(None)
                self._asked_at = now
        except (OSError, EOFError):  # it ends
            return False
        return now - self._asked_at > SILENT_SECONDS

    def terminate(self) -> None:
        self.is_ending = True
        self._process.terminate()

    def kill(self) -> None:
        self._process.kill()

    def join(self) -> int | None:
        self._process.join()
        self._connection.close()
        return self._process.exitcode


@contextmanager
def _signals() -> Iterator[socket]:
    """Collect the numbers of signals in a socket, so that waiting for it wakes the process."""
    collected, wakeup = socketpair()
    collected.setblocking(False)
    wakeup.setblocking(False)
    for number in _SIGNALS:
        signal.signal(number, lambda _number, _frame: None)
    signal.set_wakeup_fd(wakeup.fileno())
    try:
        yield collected
    finally:
        signal.set_wakeup_fd(-1)
        collected.close()
        wakeup.close()


def _received(signals: socket) -> set[int]:
    try:
        return set(signals.recv(1000))
    except BlockingIOError:
        return set()
