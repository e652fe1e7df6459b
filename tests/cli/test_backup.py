"""`topkapi backup` and `restore`: file permissions, and errors in one line."""

import json
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.commands import run_command
from tests.judging import make_job
from topkapi.app.db.engine import Sessions


@pytest.fixture
def niceness(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record the niceness that the command sets, without changing the test process."""
    asked: list[int] = []
    monkeypatch.setattr("topkapi.app.cli.backup.os.nice", asked.append)
    return asked


@pytest.mark.thorough
def test_there_and_back(
    database_url: str,
    sessions: Sessions,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    niceness: list[int],
) -> None:
    with sessions.write.begin() as session:
        make_job(session, documents=5)
    path = tmp_path / "all.zip"
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", database_url)
    code, out, _ = run_command(capsys, ["backup", str(path), "--json"])
    assert code == 0
    assert json.loads(out)["rows"]["documents"] == 5
    assert path.stat().st_mode & 0o777 == 0o600
    assert niceness == [10], "the server comes first"
    code, _, error = run_command(capsys, ["backup", str(path)])
    assert (code, "--overwrite" in error) == (1, True)

    restored = tmp_path / "restored.db"
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", f"sqlite:///{restored}")
    code, out, _ = run_command(capsys, ["restore", str(path), "--json"])
    assert code == 0
    assert json.loads(out)["rows"]["documents"] == 5
    assert restored.stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("niceness")
def test_a_damaged_file_is_told_in_one_line(
    sqlite_url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "all.zip"
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", sqlite_url)
    assert run_command(capsys, ["backup", str(path)])[0] == 0
    whole = path.read_bytes()
    at = whole.index(b"backup.json") + 20  # in the compressed bytes of the manifest
    path.write_bytes(whole[:at] + b"\xff" * 8 + whole[at + 8 :])
    code, _, error = run_command(capsys, ["restore", str(path)])
    assert code == 1
    assert "is not a backup of Topkapi, or is damaged" in error
    assert len(error.splitlines()) == 1


@pytest.mark.thorough
@pytest.mark.usefixtures("niceness")
def test_of_backups_by_time_the_newest_are_kept(
    sqlite_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", sqlite_url)
    folder = tmp_path / "backups"
    folder.mkdir()
    old = [folder / f"topkapi-2026010{day}T030000Z.zip" for day in range(1, 5)]
    for path in (*old, folder / "mine.zip", folder / "topkapi-2026-01-01.zip"):
        path.write_bytes(b"")
    code, out, _ = run_command(capsys, ["backup", str(folder), "--keep", "3"])
    assert (code, out.endswith(", 2 old deleted\n")) == (0, True)
    kept = sorted(path.name for path in folder.iterdir())
    assert kept[:2] == ["mine.zip", "topkapi-2026-01-01.zip"]
    assert kept[2:4] == [path.name for path in old[2:]]
    assert ZipFile(folder / kept[4]).namelist()
    assert len(kept) == 5
    code, _, err = run_command(capsys, ["backup", str(folder / "mine.zip"), "--keep", "3"])
    assert (code, "name the folder" in err) == (1, True)
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", f"sqlite:///{tmp_path / 'drill.db'}")
    code, out, _ = run_command(capsys, ["restore", str(folder)])
    assert (code, out.endswith(f"{kept[4]}\n")) == (0, True)
    code, _, err = run_command(capsys, ["restore", str(tmp_path)])
    assert (code, "contains no backup" in err) == (1, True)
