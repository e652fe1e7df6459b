"""Server processes end with their parent process, however that one ended."""

import multiprocessing
import os
import signal
import threading


def end_with_parent() -> None:
    """Terminate this process gracefully when its parent exits.

    Does nothing in a process without a parent.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
