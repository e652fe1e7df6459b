"""Study folders for tests: a small valid one, and helpers to write its files."""

import gzip
import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Candidate, Document, Query
from topkapi.app.services.importing import ImportReport, import_study, open_source

STUDY = 'name = "Small study"\nslug = "small"\nk = 3\n'


def write_jsonl(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as stream:
        stream.write(text)


def write_gzip(path: Path, text: str) -> None:
    path.write_bytes(gzip.compress(text.encode()))


def query(number: int) -> dict[str, Any]:
    return {"id": f"q{number}", "text": f"how to do the thing {number}"}


def document(number: int) -> dict[str, Any]:
    return {"id": f"d{number}", "title": f"Page {number}", "text": f"Do it {number} times."}


def candidate(number: int, of: int) -> dict[str, Any]:
    return {"query": f"q{of}", "document": f"d{number}", "grade": number % 5}


def small_study(folder: Path, *, queries: int = 2, documents: int = 3) -> Path:
    """Write a valid study in which every query has ``documents`` candidates of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.toml").write_text(STUDY)
    write_jsonl(folder / "queries.jsonl", (query(number) for number in range(queries)))
    total = queries * documents
    write_jsonl(folder / "documents.jsonl", (document(number) for number in range(total)))
    write_jsonl(
        folder / "candidates.jsonl",
        (candidate(number, of=number // documents) for number in range(total)),
    )
    return folder


def zipped(folder: Path, *, inside: str = "") -> bytes:
    """Return the folder as a zip archive, optionally nested in the folder ``inside``."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, f"{inside}{path.relative_to(folder).as_posix()}")
    return buffer.getvalue()


def load(session: Session, path: Path, **how: Any) -> ImportReport:
    """Import a folder or an archive, with the options of `import_study`."""
    with open_source(path) as source:
        report = import_study(session, source, **how)
    session.flush()
    return report


def offered(session: Session) -> list[tuple[str, str, int | None]]:
    """Return query, document and grade of each candidate, in their order."""
    statement = (
        select(Query.external_id, Document.external_id, Candidate.grade)
        .join(Candidate, Candidate.query_id == Query.id)
        .join(Document, Document.id == Candidate.document_id)
        .order_by(Query.position, Candidate.position)
    )
    return [(row[0], row[1], row[2]) for row in session.execute(statement)]
