"""Documents are found by words of their text, on both databases alike."""

import random
from pathlib import Path

import pytest
from sqlalchemy import Engine, select, text
from sqlalchemy.orm import Session

from tests.cases import each_case
from tests.factories import make_content, make_study
from tests.studies import append, small_study, write_jsonl
from topkapi.app.db import migrations
from topkapi.app.db.engine import Sessions, make_engine, make_sessions
from topkapi.app.db.models import Document, Study
from topkapi.app.db.queries.studies.study_pages import documents_page
from topkapi.app.db.search import index_documents
from topkapi.app.services.backups import read_backup, write_backup
from topkapi.app.services.importing import import_study, open_source
from topkapi.app.services.studies import lifecycle

TEXTS = {
    "d0": "How to kill weeds between stones.",
    "d1": "Weed-killer is sold in every shop, also as weedol (new).",
    "d2": "Nothing grows here. Café Ärger; snake_case and C3PO.",
    "d3": "<p>Pulling <b>weed</b>s by hand takes 3.5 hours",
}


def found(session: Session, study: Study, search: str) -> list[str]:
    rows, total = documents_page(session, study.id, search=search, limit=50, offset=0)
    assert total == len(rows)
    return [row.name for row in rows]


@pytest.fixture
def study(session: Session, tmp_path: Path) -> Study:
    folder = small_study(tmp_path / "study", queries=1, documents=4)
    kinds = {"d3": "html"}
    records = [{"id": name, kinds.get(name, "text"): text} for name, text in TEXTS.items()]
    write_jsonl(folder / "documents.jsonl", records)
    with open_source(folder) as source:
        import_study(session, source)
    return session.scalars(select(Study)).one()


@each_case(
    ("search", "expected"),
    [
        ("weed", ["d0", "d1", "d3"]),
        ("WEED hand", ["d3"]),
        ("killer", ["d1"]),
        ("weedol", ["d1"]),
        ("ärger café", ["d2"]),
        ("case", ["d2"]),
        ("d2", ["d2"]),
        ("d3 or", []),
        ("eeds", []),
        ('"weeds" AND (x* OR NOT', []),
        ("weed':*&!|<->\\", ["d0", "d1", "d3"]),
        ("%", []),
        ("--", []),
    ],
)
def test_documents_are_found_by_words_of_their_text(
    session: Session, study: Study, search: str, expected: list[str]
) -> None:
    assert found(session, study, search) == expected


def test_only_documents_of_the_study_are_found(session: Session, study: Study) -> None:
    other = make_study(session, slug="other", queries=1, documents=2)
    content = make_content(session, TEXTS["d0"])
    session.add(Document(study_id=other.id, external_id="x", content_hash=content.hash))
    index_documents(session, other.id)
    assert found(session, other, "weed") == ["x"]
    assert found(session, study, "weed") == ["d0", "d1", "d3"]


def test_the_index_follows_imports_and_deletions(
    session: Session, study: Study, tmp_path: Path
) -> None:
    append(tmp_path / "study/documents.jsonl", '{"id": "d9", "text": "Moss, not weeds."}\n')
    with open_source(tmp_path / "study") as source:
        import_study(session, source)
    assert found(session, study, "weed") == ["d0", "d1", "d3", "d9"]
    lifecycle.archive(session, study)
    lifecycle.delete_study(session, study, confirm=study.slug)
    if session.get_bind().dialect.name == "sqlite":
        left = session.execute(text("SELECT count(*) FROM document_search_docsize")).scalar_one()
        assert left == 0
    again = make_study(session, slug="again", queries=1, documents=1)
    index_documents(session)
    assert found(session, again, "moss") == []
    assert found(session, again, "wrap") == ["q0-d0"]


@pytest.mark.thorough
def test_a_restored_backup_is_searched(
    engine: Engine, sessions: Sessions, empty_database_url: str, tmp_path: Path
) -> None:
    with sessions.write.begin() as session, open_source(small_study(tmp_path / "s")) as source:
        import_study(session, source)
    write_backup(engine, migrations.head_revision(), tmp_path / "backup.zip")
    migrations.upgrade(empty_database_url)
    other = make_engine(empty_database_url)
    read_backup(other, migrations.head_revision(), tmp_path / "backup.zip")
    with make_sessions(other).read() as session:
        assert found(session, session.scalars(select(Study)).one(), "times 4") == ["d4"]
    other.dispose()


@pytest.mark.thorough
def test_a_page_of_any_size_is_stored(session: Session, study: Study) -> None:
    draw = random.Random(1)
    words = ["".join(chr(draw.randrange(0x4E00, 0x9FFF)) for _ in range(3)) for _ in range(90_000)]
    for name, page in (("many", " ".join(words)), ("long", "x" * 3_000_000)):
        content = make_content(session, page)
        session.add(Document(study_id=study.id, external_id=name, content_hash=content.hash))
    index_documents(session, study.id)
    assert found(session, study, words[0]) == ["many"]


@pytest.mark.thorough
def test_documents_stored_before_the_upgrade_are_found(
    database_url: str, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        number = make_study(session, slug="old", queries=1, documents=2).id
    for _ in range(2):
        migrations.downgrade(database_url, "0009")
        migrations.upgrade(database_url)
        with sessions.read() as session:
            assert len(found(session, session.get_one(Study, number), "water")) == 2
