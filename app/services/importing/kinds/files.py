"""Files under pages/ that pages may refer to; pages are among them, so that links resolve."""

from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.models import StudyFile
from topkapi.app.db.models.document import content_hash
from topkapi.app.services.fence import limits
from topkapi.app.services.importing.kinds.base import Check, Checked, Kind, Row, Writing
from topkapi.app.services.importing.kinds.documents import check_pixels
from topkapi.app.services.importing.problems import Location
from topkapi.app.services.importing.records.pages import file_type


class FileKind(Kind[str, str, str]):
    """Files by path, kept as hashes of their contents; those of documents are among them."""

    role = many = "files"
    one = "file"
    model = StudyFile

    def check(self, check: Check) -> None:
        """Check every file under pages/ that is not a document."""
        checked = check.checked
        for path in checked.bundle.layout.pages:
            if path in checked[self] or path in checked.document_paths:
                continue
            if len(path) > limits.MAX_PATH:
                problem = f"The path exceeds {limits.MAX_PATH:,} characters."
                check.problems.add(Location(path[:80]), None, problem, "Shorten it.")
            data = check.reader.content(path)
            if file_type(path).startswith("image/"):
                check_pixels(check, Location(path), data, path)
            checked[self][path] = content_hash(file_type(path), data)
            checked.bytes += len(data)

    def location(self, checked: Checked, key: str) -> Location:
        return Location(key)

    def stored(self, session: Session, study_id: int) -> dict[str, str]:
        facts = select(StudyFile.path, StudyFile.content_hash)
        found = session.execute(facts.where(StudyFile.study_id == study_id))
        return {row[0]: row[1] for row in found}

    def rows(self, write: Writing, new: frozenset[str], staged: Iterable[Any]) -> Iterator[Row]:
        """Yield every new file, and the parts that show PDF files."""
        hashes = {path: write.checked[self][path] for path in sorted(new)} | write.rendered
        for path, digest in hashes.items():
            yield {"study_id": write.study_id, "path": path, "content_hash": digest}


FILES = FileKind()
