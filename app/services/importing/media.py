"""Pictures and PDF files of one study: each parsed once, in a child process; scratch files."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from io import BytesIO
from tempfile import TemporaryFile
from typing import IO
from weakref import finalize

from topkapi.app.domain.text.sizes import format_size
from topkapi.app.services.fence import limits
from topkapi.app.services.fence.children import Fence, Frame, UnreadableBytes
from topkapi.app.services.pages.pdf import TEXT

_PART = re.compile(rf"[0-9]{{1,4}}\.webp|index\.html|{TEXT}")


def scratch_file(owner: object) -> IO[bytes]:
    """Return a temporary file that is closed when ``owner`` is no longer used."""
    opened = ExitStack()
    finalize(owner, opened.close)
    return opened.enter_context(TemporaryFile())


class Media:
    """Checks pictures and PDF files; the renderings of PDF files are kept in a temporary file."""

    def __init__(self) -> None:
        self.fence = Fence()
        self._digests: dict[str, str] = {}  # of what was accepted, by path
        self._parts: dict[str, list[tuple[str, int, int]]] = {}
        self._kept, self._size = scratch_file(self), 0

    def check(self, task: str, path: str, data: bytes, digest: str) -> None:
        """Raise Refused unless the file can be shown; a file is parsed once."""
        if self._digests.get(path) != digest:
            answer = self.fence.ask(task, path, BytesIO(data), len(data))
            self._parts[path] = [self._keep(*part) for part in answer]
            self._digests[path] = digest

    def _keep(self, name: str, data: bytes) -> tuple[str, int, int]:
        start, self._size = self._size, self._size + len(data)
        if not _PART.fullmatch(name):
            raise UnreadableBytes("it is damaged")
        if self._size > limits.MAX_UNPACKED:
            most = format_size(limits.MAX_UNPACKED)
            raise UnreadableBytes(f"the pages of all PDF files together exceed {most} as pictures")
        self._kept.seek(start)
        self._kept.write(data)
        return name, start, len(data)

    def rendering(self, path: str) -> Iterator[Frame]:
        """Yield the parts of a rendered PDF file, its text among them."""
        for name, start, size in self._parts[path]:
            self._kept.seek(start)
            yield name, self._kept.read(size)
