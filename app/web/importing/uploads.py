"""Receiving studies: from a form or as the raw body of a request, to disk, never into memory."""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Literal

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from topkapi.app.domain.errors import Invalid
from topkapi.app.services.fence.limits import MAX_UNPACKED
from topkapi.app.services.importing import ReadOptions
from topkapi.app.services.importing.uploads import ImportRunner, UploadStore
from topkapi.app.services.importing.uploads.store import discard, files_beside, safe_name
from topkapi.app.web.access.bodies import upload

_NO_FILE = "Choose a .zip or .tar.gz of the folder, a full copy, or a single LETOR file."


def import_runner(request: Request) -> ImportRunner:
    """Return this process's runner of imports."""
    runner: ImportRunner = request.app.state.uploads
    return runner


async def close_form(request: Request) -> AsyncIterator[None]:
    """Close the files of a form when the request is over, however it ended."""
    try:
        yield
    finally:
        await request.close()


STUDY = upload(MAX_UNPACKED, seconds=3600.0)
RECEIVING = [Depends(close_form)]  # for routes that receive a study
Runner = Annotated[ImportRunner, Depends(import_runner)]


async def receive(
    request: Request, store: UploadStore, filename: str | None = None
) -> tuple[Path, str, int]:
    """Store the upload on disk; return its path, its file name and its size.

    Without a ``filename`` only a form is accepted, which names its file. Files that a form has
    besides, such as a prior, are stored beside it.
    """
    path = await run_in_threadpool(store.new_file)
    if filename is None or _is_form(request):
        beside = files_beside(path)
        form = await request.form(max_files=1 + len(beside), max_fields=20)
        sent = form.get("file")
        if not isinstance(sent, UploadFile) or not sent.filename:
            raise Invalid(_NO_FILE, field="file")
        filename = sent.filename
        size = await run_in_threadpool(store.keep, sent.file, path)
        for role, place in beside.items():
            more = form.get(role)
            if isinstance(more, UploadFile) and more.filename:
                await run_in_threadpool(store.keep, more.file, place)
    else:
        size = await _stream(request, store, path)
    if size == 0:
        discard(path)
        raise Invalid(f"The file is empty. {_NO_FILE}", field="file")
    return path, safe_name(filename), size


def options_in(form: FormData) -> ReadOptions:
    """Return the options of the upload form; empty fields are not set."""
    split, name, slug = (
        str(form.get(field) or "").strip() or None for field in ("split", "name", "slug")
    )
    queries, candidates, pool = (_count(form, each) for each in ("queries", "candidates", "pool"))
    missing: Literal["missing"] | None = "missing" if form.get("leave_out") == "missing" else None
    return ReadOptions(queries, candidates, split, name, slug, missing, pool)


def _count(form: FormData, name: str) -> int | None:
    text = str(form.get(name) or "").strip()
    if text and not (text.isdecimal() and 0 < int(text[:10]) <= 1_000_000):
        raise Invalid(
            f"{name.capitalize()}: {text!r} is not a whole number of 1 or more.", field=name
        )
    return int(text) if text else None


def _is_form(request: Request) -> bool:
    return request.headers.get("content-type", "").startswith("multipart/form-data")


async def _stream(request: Request, store: UploadStore, path: Path) -> int:
    size = 0
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "wb") as target:
            async for block in request.stream():
                size += len(block)
                store.refuse_larger(size)
                await run_in_threadpool(target.write, block)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return size
