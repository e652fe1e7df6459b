"""Uploads on disk: the bytes as they came, and beside them what is known of them.

No table holds them: while an import is being written, SQLite takes no other writer, and progress
has to be told all the same. Every process of a host sees the same folder; several hosts that share
a database should share the folder too.
"""

import json
import os
import re
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO

from topkapi.app.db.base import now
from topkapi.app.domain.errors import Conflict, Invalid, NotFound
from topkapi.app.services.importing.sources import limits

KEEP = timedelta(days=1)
SILENCE = timedelta(minutes=15)  # a job that says nothing for so long has died with its process
_ID = re.compile(r"[0-9a-f]{32}")
_COPY = 1 << 20


class Stage(StrEnum):
    """How far an upload is."""

    RECEIVED = "received"
    CHECKING = "checking"
    READY = "ready"
    REFUSED = "refused"
    WRITING = "writing"
    DONE = "done"


AT_WORK = frozenset({Stage.RECEIVED, Stage.CHECKING, Stage.WRITING})


@dataclass(frozen=True, slots=True)
class Upload:
    """A study that was sent; ``report`` says what was read, ``problems`` what is to mend."""

    id: str
    filename: str
    size: int
    user_id: int
    stage: Stage
    changed_at: datetime
    doing: str = ""
    done: int = 0
    total: int = 0
    report: Mapping[str, Any] | None = None
    problems: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    more_problems: bool = False
    read: Mapping[str, int] = field(default_factory=dict)  # before a refusal
    message: str = ""

    @property
    def is_at_work(self) -> bool:
        """Whether something is being done with it."""
        return self.stage in AT_WORK

    @property
    def share(self) -> float:
        """How much of the present step is done, from 0 to 1."""
        return self.done / self.total if self.total else 0.0


class UploadStore:
    """The folder of uploads."""

    def __init__(self, folder: Path, *, largest: int = limits.MAX_UNPACKED) -> None:
        self._folder = folder
        self.largest = largest

    def new_file(self) -> Path:
        """Where the bytes of a new upload go; what is older than a day is removed first."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._sweep()
        return self._folder / f"{secrets.token_hex(16)}.study"

    def keep(self, source: BinaryIO, path: Path) -> int:
        """Copy a stream to ``path`` and return its size; too much is refused and removed."""
        size = 0
        try:
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as target:
                while block := source.read(_COPY):
                    size += len(block)
                    self.refuse_larger(size)
                    target.write(block)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return size

    def refuse_larger(self, size: int) -> None:
        """Refuse what is more than a study may be."""
        if size > self.largest:
            raise Invalid(
                f"The file is larger than {limits.size_in_words(self.largest)}. Divide the study.",
                field="file",
            )

    def enter(self, path: Path, *, filename: str, size: int, user_id: int) -> Upload:
        """Note an upload whose bytes are at ``path``."""
        upload = Upload(path.stem, safe_name(filename), size, user_id, Stage.RECEIVED, now())
        self.save(upload)
        return upload

    def find(self, upload_id: str) -> Upload:
        """The upload, or NotFound; one that fell silent is refused as cut off."""
        path = self._folder / f"{upload_id}.json"
        if not _ID.fullmatch(upload_id) or not path.exists():
            raise NotFound("There is no such upload, or it is older than a day. Send it again.")
        stored = json.loads(path.read_text())
        stored["stage"] = Stage(stored["stage"])
        stored["changed_at"] = datetime.fromisoformat(stored["changed_at"])
        upload = Upload(**stored)
        if upload.is_at_work and now() - upload.changed_at > SILENCE:
            message = "The server stopped while it was at work on this. Nothing was written."
            return replace(upload, stage=Stage.REFUSED, message=message)
        return upload

    def save(self, upload: Upload) -> None:
        """Write what is known, whole or not at all."""
        path = self._folder / f"{upload.id}.json"
        partial = path.with_suffix(".partial")
        stored = {**asdict(upload), "changed_at": upload.changed_at.isoformat()}
        partial.write_text(json.dumps(stored))
        partial.replace(path)

    def content(self, upload: Upload) -> Path:
        """The file with the bytes; a refusal if this host does not have it."""
        path = self._folder / f"{upload.id}.study"
        if not path.exists():
            raise NotFound("The file is not on this machine any more. Send it again.")
        return path

    def claim(self, upload: Upload) -> None:
        """Take the upload for its import; whoever comes second is refused."""
        try:
            (self._folder / f"{upload.id}.claim").touch(mode=0o600, exist_ok=False)
        except FileExistsError:
            raise Conflict("This upload is being imported already.") from None

    def drop(self, upload: Upload) -> None:
        """Remove the bytes; what is known stays for a day."""
        (self._folder / f"{upload.id}.study").unlink(missing_ok=True)

    def _sweep(self) -> None:
        oldest = time.time() - KEEP.total_seconds()
        for path in self._folder.glob("*.*"):
            if path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)


def safe_name(name: str) -> str:
    """A file name as it may be shown: the last part, without what cannot be printed."""
    last = re.split(r"[/\\]", name)[-1]
    return "".join(each for each in last if each.isprintable())[:200] or "study"
