from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, MetaData, select
from sqlalchemy.orm import Session

from tests.cases import each_case
from tests.services.importing.malformed import CASES, Case
from tests.studies import append, query, small_study, write_jsonl
from topkapi.app.db.engine import Sessions
from topkapi.app.domain.errors import Conflict
from topkapi.app.services.importing import (
    ReadOptions,
    Source,
    StudyRefused,
    import_study,
    open_source,
    service,
)
from topkapi.app.services.importing.checking import check_study
from topkapi.app.services.importing.kinds.base import Checked
from topkapi.app.services.importing.problems import MOST_PROBLEMS


def spoilt(case: Case, folder: Path) -> Path:
    study = small_study(folder / "study")
    return case.spoil(study) or study


@each_case("case", CASES)
def test_a_fault_is_named_by_file_line_and_field(case: Case, tmp_path: Path) -> None:
    path = spoilt(case, tmp_path)
    with pytest.raises(StudyRefused) as refused, open_source(path) as source:
        check_study(source)
    first = refused.value.problems[0]
    assert (first.file, first.field) == (case.file, case.field)
    if case.line is not None:
        assert first.line == case.line
    assert case.says in f"{first.problem} {first.mend}"
    assert str(first) in str(refused.value)
    assert all(problem.problem and len(problem.problem) < 400 for problem in refused.value.problems)


def dump(engine: Engine) -> dict[str, list[Any]]:
    """Return every row of every table."""
    metadata = MetaData()
    metadata.reflect(engine)
    with engine.connect() as connection:
        return {
            name: sorted(map(repr, connection.execute(select(table))))
            for name, table in metadata.tables.items()
        }


def file_bytes(engine: Engine) -> list[bytes]:
    """Return the files of SQLite, with the write-ahead log; nothing for PostgreSQL."""
    if engine.dialect.name != "sqlite":
        return []
    path = Path(engine.url.database or "")
    return [file.read_bytes() for file in (path, Path(f"{path}-wal")) if file.exists()]


def test_a_refused_study_leaves_the_database_as_it_was(
    engine: Engine, sessions: Sessions, tmp_path: Path
) -> None:
    with sessions.write.begin() as session, open_source(small_study(tmp_path / "good")) as source:
        import_study(session, source)
    before = dump(engine), file_bytes(engine)
    for case in CASES:
        path = spoilt(case, tmp_path / case.name)
        with (
            pytest.raises(StudyRefused),
            sessions.write.begin() as session,
            open_source(path) as source,
        ):
            import_study(session, source)
        assert file_bytes(engine) == before[1], case.name
    assert dump(engine) == before[0]


def test_the_first_twenty_problems_come_at_once(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    write_jsonl(study / "queries.jsonl", [{**query(n), "text": ""} for n in range(50)])
    with pytest.raises(StudyRefused) as refused, open_source(study) as source:
        check_study(source)
    assert [each.line for each in refused.value.problems] == list(range(1, MOST_PROBLEMS + 1))
    assert "the first 20 problems" in str(refused.value)
    assert refused.value.causes[0].problem.startswith("20 of the first 20 problems are of one kind")


def test_problems_of_several_files_come_together(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    write_jsonl(study / "queries.jsonl", [query(0), {**query(0), "text": "x"}, query(1)])
    append(study / "documents.jsonl", '{"id": "d9", "txt": "x"}\n')
    append(study / "candidates.jsonl", '{"query": "q0", "document": 1.5}\n')
    with pytest.raises(StudyRefused) as refused, open_source(study) as source:
        check_study(source)
    found = [(problem.file, problem.line) for problem in refused.value.problems]
    assert found == [("queries.jsonl", 2), ("documents.jsonl", 7), ("candidates.jsonl", 7)]


def test_a_file_that_changes_between_the_readings_is_refused(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = small_study(tmp_path / "study")

    def check_and_change(source: Source, options: ReadOptions) -> Checked:
        checked = check_study(source, options=options)
        text = (study / "documents.jsonl").read_text().replace("Do it 1", "Do it 7")
        (study / "documents.jsonl").write_text(text)
        return checked

    monkeypatch.setattr(service, "check_study", check_and_change)
    with (
        open_source(study) as source,
        pytest.raises(Conflict, match="changed while the study was being read"),
    ):
        import_study(session, source)
