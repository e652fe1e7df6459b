"""`topkapi export`: write a study in one of the export formats."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, TYPE_CHECKING, Annotated, Any, cast
from zipfile import ZipFile

import typer

from topkapi.app.cli import choices
from topkapi.app.cli.common import AsJson, late_bar, open_sessions, say
from topkapi.app.cli.failures import Refused
from topkapi.app.cli.running import RUNNING

if TYPE_CHECKING or RUNNING:
    from topkapi.app.services.results.exports import (
        Export,
        ExportOptions,
        export_session,
        open_export,
    )

commands = typer.Typer()

STANDARD_OUTPUT = "-"


@commands.command(
    epilog="Example: topkapi export everyday-questions topk.jsonl --out topk.jsonl.gz"
)
def export(
    study: Annotated[str, typer.Argument(help="Slug of the study.")],
    format: Annotated[str, typer.Argument(help=f"One of {', '.join(choices.EXPORTS)}.")],
    out: Annotated[
        str,
        typer.Option(
            help="File (or folder, for dataset) to write; .gz is compressed, - is standard output."
        ),
    ] = STANDARD_OUTPUT,
    assessor: Annotated[
        str | None, typer.Option(help="Only this person: e-mail, full name or pseudonym.")
    ] = None,
    pseudonyms: Annotated[
        bool, typer.Option("--pseudonyms", help="Write assessor-01 ... instead of e-mails.")
    ] = False,
    consensus: Annotated[
        str | None,
        typer.Option(
            help="How to combine assessors in consensus.jsonl, qrels and letor: bradley-terry "
            "over their answers (the default), or supervised-kemeny over their lists."
        ),
    ] = None,
    license: Annotated[
        str, typer.Option(help="License of a dataset, such as cc-by-4.0.", show_default=False)
    ] = "",
    creator: Annotated[
        list[str] | None, typer.Option(help="Creator of a dataset; repeat for each.")
    ] = None,
    citation: Annotated[str, typer.Option(help="How to cite a dataset.", show_default=False)] = "",
    as_json: AsJson = False,
) -> None:
    """Write the results of a study; report unfinished work on standard error."""
    if (license or creator or citation) and format != "dataset":
        raise Refused("--license, --creator and --citation are written into a dataset only")
    options = ExportOptions(
        assessor,
        pseudonyms,
        consensus,
        license=license,
        creators=tuple(creator or ()),
        citation=citation,
    )
    with (
        open_sessions() as sessions,
        export_session(sessions) as session,
        late_bar() as bar,
    ):
        opened = open_export(session, study, format, options, progress=bar)
        size = _write_folder(opened, Path(out)) if _is_folder(opened, out) else _write(opened, out)
    facts = _facts(opened, study, out, size)
    if out == STANDARD_OUTPUT:
        typer.echo(str(opened.completeness), err=True)
    else:
        say(as_json, facts, f"{size} bytes written to {out} ({opened.completeness})")


def _write(found: Export, out: str) -> int:
    size = 0
    with _opened(out) as stream:
        for chunk in found.chunks:
            stream.write(chunk)
            size += len(chunk)
    return size


def _is_folder(found: Export, out: str) -> bool:
    """Return whether an archive is written as a folder: unless the output is named as a zip."""
    return found.format.suffix == ".zip" and out != STANDARD_OUTPUT and not out.endswith(".zip")


def _write_folder(found: Export, folder: Path) -> int:
    """Write the files of an archive into a new folder, which appears complete or not at all."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Refused(f"{folder} exists: name a new or empty folder, or a file that ends in .zip")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as partial:
        with TemporaryFile() as stream:
            stream.writelines(found.chunks)
            with ZipFile(stream) as archive:
                archive.extractall(Path(partial) / "whole")
                size = sum(each.file_size for each in archive.infolist())
        (Path(partial) / "whole").replace(folder)
    return size


@contextmanager
def _opened(out: str) -> Iterator[IO[bytes]]:
    """Open the output; a file appears complete or not at all."""
    if out == STANDARD_OUTPUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(out)
    if path.exists() and not path.is_file():  # a device or a pipe; opening a folder fails
        with path.open("wb") as stream:
            yield stream
        return
    if not path.parent.is_dir():
        raise Refused(f"--out: the folder {path.parent} does not exist")
    partial = path.with_name(f"{path.name}.part")
    try:
        with partial.open("wb") as stream, _packed(stream, path) as written:
            yield written
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def _packed(stream: IO[bytes], path: Path) -> Iterator[IO[bytes]]:
    """Yield the stream, compressed for ``.gz`` without a timestamp, so that the bytes are
    reproducible.
    """
    if path.suffix != ".gz":
        yield stream
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
        yield cast(IO[bytes], packed)  # it behaves as one, but is not typed so


def _facts(export: Export, study: str, out: str, size: int) -> dict[str, Any]:
    return {
        "study": study,
        "format": export.format.name,
        "out": out,
        "bytes": size,
        "complete": export.completeness.complete,
        "tools": export.completeness.as_json(),
    }
