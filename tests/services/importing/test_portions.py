"""Assessors answer while a study is imported, and nothing of it shows until all of it does."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from tests.factories import make_study
from tests.media import pdf_of
from tests.services.importing.test_media import media_study
from tests.studies import small_study
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import AuditEvent, Content, Document, Study
from topkapi.app.db.models.document import content_hash
from topkapi.app.db.models.study import UNFINISHED
from topkapi.app.db.queries.progress import open_studies
from topkapi.app.db.queries.studies import studies
from topkapi.app.db.queries.studies.study_tables import drop_unfinished
from topkapi.app.db.search import index_documents, matching_documents
from topkapi.app.domain.errors import Conflict
from topkapi.app.services import audit
from topkapi.app.services.importing import (
    import_and_commit,
    open_source,
    portions,
    service,
    staging,
    writing,
)
from topkapi.app.services.importing.portions import add_contents, finish_interrupted
from topkapi.app.services.importing.records.contents import content_row

pytestmark = pytest.mark.both


@pytest.fixture(autouse=True)
def _small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "_BYTES", 1)


def count(sessions: Sessions, table: type[Content | Study | AuditEvent]) -> int:
    with sessions.read() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def found(session: Session, word: str) -> list[str]:
    condition = matching_documents(session, word)
    assert condition is not None
    return list(session.scalars(select(Document.external_id).where(condition)))


@pytest.mark.thorough
def test_others_write_while_a_study_is_imported(sessions: Sessions, tmp_path: Path) -> None:
    studies: list[int] = []
    contents: list[int] = []

    def answer(_doing: str, _done: int, _total: int) -> None:
        with sessions.late.begin() as session:  # gives up at once if the import holds a lock
            audit.record(session, None, "answer", "q")
        studies.append(count(sessions, Study))
        contents.append(count(sessions, Content))

    with open_source(media_study(tmp_path / "study")) as source:
        import_and_commit(sessions, source, progress=answer)
    assert set(studies) == {0}
    assert contents[-1] > contents[0] == 0
    assert count(sessions, AuditEvent) == len(studies) + 1
    with sessions.read() as session:
        assert session.scalars(select(Study.name)).all() == ["Media"]
        assert sorted(found(session, "tulips")) == ["guide", "text"]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["guide.pdf", "text.txt"])
def test_an_import_that_fails_half_way_leaves_nothing(
    sessions: Sessions, tmp_path: Path, name: str
) -> None:
    folder = media_study(tmp_path / "study")
    other = pdf_of("Something else") if name.endswith("pdf") else b"Something else"

    def change(doing: str, _done: int, _total: int) -> None:
        if doing == "writing":
            (folder / "pages" / name).write_bytes(other)

    with (
        open_source(folder) as source,
        pytest.raises(Conflict, match="changed while the study was being read"),
    ):
        import_and_commit(sessions, source, progress=change)
    assert (count(sessions, Study), count(sessions, Content)) == (0, 0)


def test_the_rows_of_a_new_study_are_written_in_portions_and_shown_at_once(
    sessions: Sessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[int] = []

    def others(_seconds: float) -> None:
        with sessions.late.begin() as session:  # gives up at once if the import holds a lock
            audit.record(session, None, "answer", "q")
        with sessions.read() as session:
            pages.append(session.scalar(select(func.count(Document.id))) or 0)
            listed = studies.studies_with_counts(session)
            assert (listed, studies.count_studies(session), open_studies(session)) == ([], 0, [])

    monkeypatch.setattr(writing, "_ROWS", 4)
    with monkeypatch.context() as pausing, open_source(small_study(tmp_path / "study")) as source:
        pausing.setattr("topkapi.app.services.importing.portions.time.sleep", others)
        pausing.setattr(service, "index_in_portions", lambda _: None)
        report = import_and_commit(sessions, source)
    assert report.documents == 6
    assert {0, 4, 6} == set(pages)
    with sessions.read() as session:
        (row,) = studies.studies_with_counts(session)
        assert (row[0].slug, *row[1:4]) == ("small", 2, 6, 6)


@pytest.mark.parametrize("pause", range(1, 6))
def test_rows_that_were_written_before_a_failure_are_removed(
    sessions: Sessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pause: int
) -> None:
    pauses = 0

    def end(_seconds: float) -> None:
        nonlocal pauses
        pauses += 1
        if pauses == pause:
            raise KeyboardInterrupt

    monkeypatch.setattr(staging, "_BYTES", 4 * 1024**2)
    monkeypatch.setattr("topkapi.app.services.importing.portions.time.sleep", end)
    with open_source(small_study(tmp_path / "study")) as source, pytest.raises(KeyboardInterrupt):
        import_and_commit(sessions, source)
    assert (count(sessions, Study), count(sessions, Content)) == (0, 0)


def test_rows_are_removed_when_a_restarted_database_is_there_again(
    sessions: Sessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails = [OperationalError("", {}, Exception("the database restarts"))] * 3

    def removed(*arguments: Any) -> None:
        if fails:
            raise fails.pop()
        drop_unfinished(*arguments)

    def failing(*_arguments: Any) -> None:
        raise OperationalError("", {}, Exception("the connection was closed"))

    monkeypatch.setattr(portions, "drop_unfinished", removed)
    monkeypatch.setattr(portions, "_PAUSES", (0.0,) * 4)
    monkeypatch.setattr(service, "_store_rows", failing)
    with (
        open_source(small_study(tmp_path / "study")) as source,
        pytest.raises(OperationalError, match="connection was closed"),
    ):
        import_and_commit(sessions, source)
    assert (count(sessions, Study), count(sessions, Content)) == (0, 0)


@pytest.mark.parametrize("left", ["contents", "rows"])
def test_what_a_killed_import_left_is_removed_and_the_rest_stays(
    sessions: Sessions, tmp_path: Path, left: str
) -> None:
    with open_source(small_study(tmp_path / "study")) as source:
        import_and_commit(sessions, source)
    kept = count(sessions, Content)
    with sessions.write.begin() as session:
        digest = content_hash("text/plain", b"left over")
        row = content_row("text/plain", b"left over", digest)
        assert add_contents(session, [row]) == [digest]
        if left == "rows":
            killed = make_study(session, slug=f"{UNFINISHED}0123")
            index_documents(session, killed.id)
    finish_interrupted(sessions)
    assert (count(sessions, Study), count(sessions, Content)) == (1, kept)
    with sessions.read() as session:
        assert len(found(session, "do")) == 6


def test_a_study_that_appears_meanwhile_is_a_conflict(sessions: Sessions, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study")

    def import_first(doing: str, _done: int, _total: int) -> None:
        if doing == "writing" and not count(sessions, Study):
            with open_source(folder) as again:
                import_and_commit(sessions, again)

    with open_source(folder) as source, pytest.raises(Conflict, match="nothing new"):
        import_and_commit(sessions, source, progress=import_first)
    assert count(sessions, Study) == 1
    with sessions.read() as session:
        assert len(found(session, "do")) == 6
