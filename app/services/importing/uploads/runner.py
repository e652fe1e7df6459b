"""Background jobs for uploads: check them, and import the confirmed ones, one at a time."""

import logging
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from topkapi.app.db.base import now
from topkapi.app.db.engine import Sessions
from topkapi.app.domain.errors import AppError, Conflict
from topkapi.app.services.importing import (
    KEEP_EDITS,
    EditPolicy,
    ImportReport,
    StudyRefused,
    import_and_commit,
    open_source,
)
from topkapi.app.services.importing.bundle import WHOLE, ReadOptions
from topkapi.app.services.importing.sources.reader import Progress, no_progress
from topkapi.app.services.importing.uploads.store import Stage, Upload, UploadStore, files_beside

_EVERY = 0.5  # seconds between two saved progress updates
_log = logging.getLogger("topkapi.uploads")
Step = Callable[[Path, Upload, Progress], ImportReport]


class CopyReader(Protocol):
    """Reads full copies of studies, which are not study folders."""

    def is_copy(self, path: Path) -> bool:
        """Return whether the file is a full copy."""
        ...

    def import_copy(
        self,
        sessions: Sessions,
        path: Path,
        *,
        name: str,
        slug: str | None,
        actor_id: int | None,
        dry_run: bool,
    ) -> ImportReport:
        """Write the study of a full copy."""
        ...


class ImportRunner:
    """Runs checks and imports in a background thread, so that requests are not blocked."""

    def __init__(
        self, store: UploadStore, sessions: Sessions, copies: CopyReader | None = None
    ) -> None:
        self.store = store
        self._sessions = sessions
        self._copies = copies
        self._thread: ThreadPoolExecutor | None = None  # started with the first upload

    def close(self) -> None:
        """Wait for the running job, and cancel the others."""
        if self._thread is not None:
            self._thread.shutdown(wait=True, cancel_futures=True)
            self._thread = None

    def check(self, upload: Upload) -> Upload:
        """Start checking the upload; nothing is written to the database."""
        return self._begin(upload, Stage.CHECKING, Stage.READY, self._preview)

    def confirm(self, upload: Upload, *, actor_id: int, replace: Iterable[str] = ()) -> Upload:
        """Start importing a checked upload; edits are kept except in the fields ``replace``."""
        if upload.stage is not Stage.READY:
            raise Conflict(
                f"This upload is {upload.stage}; only an upload that is ready can be imported."
            )

        self.store.claim(upload)
        policy = EditPolicy("keep", frozenset(replace))

        def write(path: Path, upload: Upload, progress: Progress) -> ImportReport:
            options = ReadOptions(**upload.options)
            return self._read(path, upload.filename, options, policy, actor_id, progress=progress)

        return self._begin(upload, Stage.WRITING, Stage.DONE, write)

    def cancel(self, upload: Upload) -> Upload:
        """Discard an upload that is not being processed."""
        if upload.is_at_work:
            raise Conflict("The upload is being processed; wait until that has finished.")
        self.store.drop(upload)
        return self._note(upload, stage=Stage.REFUSED, message="The upload was discarded.")

    def import_now(
        self,
        path: Path,
        filename: str,
        *,
        actor_id: int,
        dry_run: bool,
        options: ReadOptions = WHOLE,
        policy: EditPolicy = KEEP_EDITS,
    ) -> Future[ImportReport]:
        """Check or import a file after those before it: each takes memory for its contents."""
        return self._executor().submit(
            self._read, path, filename, options, policy, actor_id, dry_run=dry_run
        )

    def _preview(self, path: Path, upload: Upload, progress: Progress) -> ImportReport:
        options, policy = ReadOptions(**upload.options), EditPolicy("ask")
        return self._read(
            path, upload.filename, options, policy, None, dry_run=True, progress=progress
        )

    def _read(
        self,
        path: Path,
        filename: str,
        options: ReadOptions,
        policy: EditPolicy,
        actor_id: int | None,
        *,
        dry_run: bool = False,
        progress: Progress = no_progress,
    ) -> ImportReport:
        how: dict[str, Any] = {"actor_id": actor_id, "dry_run": dry_run}
        if self._copies is not None and self._copies.is_copy(path):
            slug = options.slug
            return self._copies.import_copy(self._sessions, path, name=filename, slug=slug, **how)
        beside = {role: each for role, each in files_beside(path).items() if each.exists()}
        how |= {"options": options, "policy": policy, "progress": progress}
        with open_source(path, name=filename, beside=beside) as source:
            return import_and_commit(self._sessions, source, **how)

    def _begin(self, upload: Upload, during: Stage, after: Stage, step: Step) -> Upload:
        begun = self._note(upload, stage=during, done=0, total=0, message="")
        self._executor().submit(self._run, begun, after, step)
        return begun

    def _executor(self) -> ThreadPoolExecutor:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="uploads")
        return self._thread

    def _run(self, upload: Upload, after: Stage, step: Step) -> None:
        last = 0.0

        def progress(doing: str, done: int, total: int) -> None:
            nonlocal last
            if time.monotonic() - last >= _EVERY:
                last = time.monotonic()
                self._note(upload, doing=doing, done=done, total=total)

        try:
            path = self.store.content(upload)
            report = step(path, upload, progress)
        except StudyRefused as refused:
            problems = tuple(each.as_json() for each in refused.problems)
            known: dict[str, Any] = {
                "problems": problems,
                "causes": tuple(each.as_json() for each in refused.causes),
                "more_problems": refused.more,
                "read": refused.read,
            }
            self._refuse(upload, **known)
        except AppError as refusal:
            self._refuse(upload, message=str(refusal))
        except Exception:
            _log.exception("an upload failed")
            self._refuse(
                upload,
                message="An unexpected error occurred; see the server log. Nothing was imported.",
            )
        else:
            self._note(upload, stage=after, report=report.as_json(), done=1, total=1)
            if after is Stage.DONE:
                self.store.drop(upload)

    def _refuse(self, upload: Upload, **known: Any) -> None:
        self.store.drop(upload)
        self._note(upload, stage=Stage.REFUSED, **known)

    def _note(self, upload: Upload, **known: Any) -> Upload:
        noted = replace(upload, changed_at=now(), **known)
        self.store.save(noted)
        return noted
