"""Temporary files that live as long as the object that owns them."""

from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import IO
from weakref import finalize


def scratch_file(owner: object) -> IO[bytes]:
    """Return a temporary file that is closed when ``owner`` is no longer used."""
    opened = ExitStack()
    finalize(owner, opened.close)
    return opened.enter_context(TemporaryFile())
