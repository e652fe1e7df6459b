import multiprocessing
import stat
from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.cases import each_case
from topkapi.app.config import Settings
from topkapi.app.installation.assets import asset_dir
from topkapi.app.installation.secret import UnsafeSecret, load_secret


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPKAPI_PORT", "9001")
    assert Settings(_env_file=None).port == 9001


def test_settings_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "env").write_text("TOPKAPI_WORKERS=3\nOTHER=1\n")
    assert Settings(_env_file=tmp_path / "env").workers == 3


def test_settings_come_from_files_of_secrets(tmp_path: Path) -> None:
    (tmp_path / "TOPKAPI_DATABASE_URL").write_text("postgresql://u:p@db/topkapi\n")
    found = Settings(_env_file=None, _secrets_dir=tmp_path)
    assert found.database_url == "postgresql://u:p@db/topkapi"


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError):
        Settings(_env_file=None).port = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("PORT", "x"), ("WORKERS", "0"), ("DATABASE_URL", "mysql://a/b"), ("LOG_LEVEL", "loud")),
        ("READ_DATABASE_URL", "postgresql://replica/topkapi"),  # of SQLite
    ],
)
def test_wrong_settings_are_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"TOPKAPI_{name}", value)
    with pytest.raises(ValidationError, match=name.lower()):
        Settings(_env_file=None)


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("TOPKAPI_SECURE_COOKIE", "did you mean TOPKAPI_SECURE_COOKIES"),
        ("topkapi_databse_url", "did you mean TOPKAPI_DATABASE_URL"),
        ("TOPKAPI_COLOUR", "the documentation lists the settings"),
    ],
)
def test_a_name_that_is_no_setting_is_refused_wherever_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wrong: str, meant: str
) -> None:
    (tmp_path / "env").write_text(f"{wrong}=true\nTOPKAPI_DOMAIN=labels.example\nCOLOUR=1\n")
    with pytest.raises(ValidationError, match=meant):
        Settings(_env_file=tmp_path / "env")
    monkeypatch.setenv(wrong, "true")
    with pytest.raises(ValidationError, match=meant):
        Settings(_env_file=None)


@each_case(
    ("given", "kept"),
    [
        ("", ""),
        ("https://labels.example/", "https://labels.example"),
        ("http://10.0.0.5:8000", "http://10.0.0.5:8000"),
        ("https://tools.example/labels/", "https://tools.example/labels"),
    ],
)
def test_the_public_address_is_scheme_host_and_path(given: str, kept: str) -> None:
    assert Settings(public_url=given, _env_file=None).public_url == kept


@each_case(
    "wrong",
    [
        "labels.example",
        "ftp://a.example",
        "https://",
        "https://u:p@a.example",
        "http://a/b?c",
        "http://a/../b",
    ],
)
def test_another_public_address_is_refused(wrong: str) -> None:
    with pytest.raises(ValidationError, match="give scheme and host"):
        Settings(public_url=wrong, _env_file=None)


def test_the_secret_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "topkapi.secret"
    secret = load_secret(path)
    assert len(secret) == 64
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_secret(path) == secret
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_secret_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "topkapi.secret"
    load_secret(path)
    path.chmod(0o644)
    with pytest.raises(UnsafeSecret, match="chmod 600"):
        load_secret(path)


def test_an_empty_secret_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "topkapi.secret"
    path.touch(mode=0o600)
    with pytest.raises(UnsafeSecret, match="too short"):
        load_secret(path)


def test_workers_that_start_at_once_share_one_secret(tmp_path: Path) -> None:
    path = tmp_path / "topkapi.secret"
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        secrets = pool.map(load_secret, [path] * 16)
    assert len(set(secrets)) == 1


@pytest.mark.parametrize("name", ["templates", "static", "migrations"])
def test_assets_are_found(name: str) -> None:
    assert any(asset_dir(name).iterdir())


def test_a_missing_asset_is_named() -> None:
    with pytest.raises(FileNotFoundError, match="nothing-of-that-name"):
        asset_dir("nothing-of-that-name")
