"""Uploads on disk: the bytes as received, and beside them a JSON file with their state.

They are not in the database: while an import is being written, SQLite accepts no other writer, and
progress must still be saved. Every process of a host sees the same folder; several hosts that share
a database should share the folder too.
"""

import json
import os
import re
import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO

from topkapi.app.db.base import now
from topkapi.app.domain.errors import Conflict, Invalid, NotFound
from topkapi.app.domain.text.sizes import format_size
from topkapi.app.services.fence import limits
from topkapi.app.services.importing.bundle import WHOLE, ReadOptions
from topkapi.app.services.importing.kinds import SIDE_FILES

KEEP = timedelta(days=1)
SILENCE = timedelta(minutes=15)  # a job without updates for so long has died with its process
_ID = re.compile(r"[0-9a-f]{32}")
_COPY = 1 << 20


class Stage(StrEnum):
    """The state of an upload."""

    RECEIVED = "received"
    CHECKING = "checking"
    READY = "ready"
    REFUSED = "refused"
    WRITING = "writing"
    DONE = "done"


AT_WORK = frozenset({Stage.RECEIVED, Stage.CHECKING, Stage.WRITING})


@dataclass(frozen=True, slots=True)
class Upload:
    """An uploaded study; ``report`` says what was read, ``problems`` what to fix."""

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
    causes: Sequence[Mapping[str, Any]] = field(default_factory=tuple)  # one per file at most
    more_problems: bool = False
    read: Mapping[str, int] = field(default_factory=dict)  # before a refusal
    message: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)  # of `ReadOptions`

    @property
    def is_at_work(self) -> bool:
        """Whether it is being processed."""
        return self.stage in AT_WORK

    @property
    def share(self) -> float:
        """The completed share of the current step, from 0 to 1."""
        return self.done / self.total if self.total else 0.0


class UploadStore:
    """The folder of uploads."""

    def __init__(self, folder: Path, *, largest: int = limits.MAX_UNPACKED) -> None:
        self._folder = folder
        self.largest = largest

    def new_file(self) -> Path:
        """Return the path for a new upload; remove uploads older than a day first."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._sweep()
        return self._folder / f"{secrets.token_hex(16)}.study"

    def keep(self, source: BinaryIO, path: Path) -> int:
        """Copy a stream to ``path`` and return its size.

        Raise Invalid if it is too large; on any error the file is removed.
        """
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
        """Raise Invalid if ``size`` exceeds the limit."""
        if size > self.largest:
            raise Invalid(
                f"The file is larger than {format_size(self.largest)}. Split the study.",
                field="file",
            )

    def enter(
        self,
        path: Path,
        *,
        filename: str,
        size: int,
        user_id: int,
        options: ReadOptions = WHOLE,
    ) -> Upload:
        """Register an upload whose bytes are at ``path``."""
        upload = Upload(
            path.stem,
            safe_name(filename),
            size,
            user_id,
            Stage.RECEIVED,
            now(),
            options=asdict(options),
        )
        self.save(upload)
        return upload

    def find(self, upload_id: str) -> Upload:
        """Return the upload or raise NotFound; one whose job has died is shown as refused."""
        path = self._folder / f"{upload_id}.json"
        if not _ID.fullmatch(upload_id) or not path.exists():
            raise NotFound(
                "There is no such upload, or it is older than a day. Upload the file again."
            )
        stored = json.loads(path.read_text())
        stored["stage"] = Stage(stored["stage"])
        stored["changed_at"] = datetime.fromisoformat(stored["changed_at"])
        upload = Upload(**stored)
        if upload.is_at_work and now() - upload.changed_at > SILENCE:
            message = (
                "The server stopped while it processed this upload. Nothing was imported; "
                "upload the file again."
            )
            return replace(upload, stage=Stage.REFUSED, message=message)
        return upload

    def save(self, upload: Upload) -> None:
        """Save the state atomically."""
        path = self._folder / f"{upload.id}.json"
        partial = path.with_suffix(".partial")
        stored = {**asdict(upload), "changed_at": upload.changed_at.isoformat()}
        partial.write_text(json.dumps(stored))
        partial.replace(path)

    def content(self, upload: Upload) -> Path:
        """Return the file with the bytes; raise NotFound if this host does not have it."""
        path = self._folder / f"{upload.id}.study"
        if not path.exists():
            raise NotFound("The file is no longer on this server. Upload it again.")
        return path

    def claim(self, upload: Upload) -> None:
        """Claim the upload for its import; raise Conflict if it is already claimed."""
        try:
            (self._folder / f"{upload.id}.claim").touch(mode=0o600, exist_ok=False)
        except FileExistsError:
            raise Conflict("This upload is already being imported.") from None

    def drop(self, upload: Upload) -> None:
        """Remove the bytes; the state is kept for a day."""
        discard(self._folder / f"{upload.id}.study")

    def _sweep(self) -> None:
        oldest = time.time() - KEEP.total_seconds()
        for path in self._folder.glob("*.*"):
            with suppress(FileNotFoundError):  # an import that has just ended removed it
                if path.stat().st_mtime < oldest:
                    path.unlink()


def files_beside(path: Path) -> dict[str, Path]:
    """Return where the files are, by role, that may be sent with the study at ``path``."""
    return {kind.role: path.with_suffix(f".{kind.role}") for kind in SIDE_FILES}


def discard(path: Path) -> None:
    """Remove a study that was sent, and what was sent with it."""
    for each in (path, *files_beside(path).values()):
        each.unlink(missing_ok=True)


def safe_name(name: str) -> str:
    """Return a file name that is safe to show: its last part, printable characters only."""
    last = re.split(r"[/\\]", name)[-1]
    return "".join(each for each in last if each.isprintable())[:200] or "study"
