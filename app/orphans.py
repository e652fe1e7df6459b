"""Server processes end with the one that started them, however that one ended."""

import multiprocessing
import os
import signal
import threading


def end_with_parent() -> None:
    """Stop this process in good order when its parent has gone; does nothing without a parent."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
