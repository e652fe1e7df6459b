"""`topkapi backup` and `restore`: file permissions, and errors in one line."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.commands import Command
from tests.judging import make_job
from topkapi.app.db.engine import Sessions


@pytest.fixture
def niceness(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record the niceness that the command sets, without changing the test process."""
    asked: list[int] = []
    monkeypatch.setattr("topkapi.app.cli.backup.os.nice", asked.append)
    return asked


@pytest.mark.thorough
@pytest.mark.usefixtures("folder_of_commands")
def test_there_and_back(
    sessions: Sessions,
    tmp_path: Path,
    topkapi: Command,
    monkeypatch: pytest.MonkeyPatch,
    niceness: list[int],
) -> None:
    with sessions.write.begin() as session:
        make_job(session, documents=5)
    path = tmp_path / "all.zip"
    assert topkapi.told("backup", str(path))["rows"]["documents"] == 5
    assert path.stat().st_mode & 0o777 == 0o600
    assert niceness == [10], "the server comes first"
    assert "--overwrite" in topkapi.refused("backup", str(path))

    restored = tmp_path / "restored.db"
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", f"sqlite:///{restored}")
    assert topkapi.told("restore", str(path))["rows"]["documents"] == 5
    assert restored.stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("niceness", "sqlite_folder_of_commands")
def test_a_damaged_file_is_told_in_one_line(tmp_path: Path, topkapi: Command) -> None:
    path = tmp_path / "all.zip"
    assert topkapi("backup", str(path))[0] == 0
    whole = path.read_bytes()
    at = whole.index(b"backup.json") + 20  # in the compressed bytes of the manifest
    path.write_bytes(whole[:at] + b"\xff" * 8 + whole[at + 8 :])
    assert "is not a backup of Topkapi, or is damaged" in topkapi.refused("restore", str(path))


@pytest.mark.thorough
@pytest.mark.usefixtures("niceness", "sqlite_folder_of_commands")
def test_of_backups_by_time_the_newest_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, topkapi: Command
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    old = [folder / f"topkapi-2026010{day}T030000Z.zip" for day in range(1, 5)]
    for path in (*old, folder / "mine.zip", folder / "topkapi-2026-01-01.zip"):
        path.write_bytes(b"")
    assert topkapi.done("backup", str(folder), "--keep", "3").endswith(", 2 old deleted\n")
    kept = sorted(path.name for path in folder.iterdir())
    assert kept[:2] == ["mine.zip", "topkapi-2026-01-01.zip"]
    assert kept[2:4] == [path.name for path in old[2:]]
    assert ZipFile(folder / kept[4]).namelist()
    assert len(kept) == 5
    wrong = ("backup", str(folder / "mine.zip"), "--keep", "3")
    assert "name the folder" in topkapi.refused(*wrong)
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", f"sqlite:///{tmp_path / 'drill.db'}")
    assert topkapi.done("restore", str(folder)).endswith(f"{kept[4]}\n")
    assert "contains no backup" in topkapi.refused("restore", str(tmp_path))
