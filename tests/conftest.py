"""Fixtures: fresh databases of either kind, the application, a client, a real server, a browser."""

import gc
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast
from zlib import crc32

import httpx
import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI
from hypothesis import HealthCheck, settings
from playwright.sync_api import Browser, expect, sync_playwright
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from tests.browser.chromium import ARGUMENTS, LONGEST, MISSING, required_chromium
from tests.clients import open_client
from tests.commands import Command
from tests.databases import PostgresqlTemplate, migrated_sqlite, postgresql_server, quick_folder
from tests.live import FORKER, LiveServer, serving
from tests.sizes import KINDS, POSTGRESQL, QUICK, SQLITE, is_thorough
from tests.waiting import be_patient
from topkapi.app.config import Settings
from topkapi.app.db.engine import Sessions, make_engine, make_sessions

HERE = Path(__file__).parent

settings.register_profile(
    "explore", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.register_profile("quick", settings.get_profile("ci"), max_examples=20)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_sessionstart() -> None:
    """Switch garbage collection off while tests are collected: they all stay."""
    gc.disable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave modules unread that `make test` does not run: they import what it does not install."""
    quick = config.option.markexpr == QUICK
    return True if quick and collection_path.is_file() and is_thorough(collection_path) else None


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is thorough, and put tests first that wait for servers.

    At the end, all workers would wait with them.
    """
    for item in items:
        if is_thorough(item.path) or "postgresql_template" in getattr(item, "fixturenames", ()):
            item.add_marker("thorough")
    items.sort(key=lambda item: item.get_closest_marker("server") is None)


@pytest.hookimpl(wrapper=True, tryfirst=True)  # around all others: it comes last
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Say in one line if browser tests were skipped because there is no browser."""
    yield
    skipped = terminalreporter.stats.get("skipped", [])
    if count := sum(MISSING in str(report.longrepr) for report in skipped):
        terminalreporter.write_line(f"{count} browser tests were skipped: {MISSING}.")


def pytest_collection_finish() -> None:
    """Switch it on again, rarer, and without looking through all modules and tests each time."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the TOPKAPI_ variables of the person who runs the tests."""
    for name in [name for name in os.environ if name.startswith("TOPKAPI_")]:
        if name != "TOPKAPI_TEST_DATABASE_URL":
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _usual_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the priority: a backup in this process would lower it for all tests that follow."""
    monkeypatch.setattr(os, "nice", lambda _more: 0)


@pytest.fixture(autouse=True)
def _cheap_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use Argon2 at its lowest cost, because tests do not need strong hashes."""
    cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr("topkapi.app.services.accounts.passwords.HASHER", cheap)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a migrated SQLite file that tests copy."""
    return migrated_sqlite(tmp_path_factory.mktemp("sqlite"))


@pytest.fixture(scope="session")
def postgresql_template() -> Iterator[PostgresqlTemplate]:
    """Create a migrated PostgreSQL database that tests copy."""
    with postgresql_server() as server:
        template = PostgresqlTemplate(server)
        yield template
        template.drop()


@contextmanager
def _sqlite_copy(request: pytest.FixtureRequest) -> Iterator[str]:
    template = cast(Path, request.getfixturevalue("sqlite_template"))
    with quick_folder() as folder:
        yield f"sqlite:///{shutil.copy(template, folder / 'test.db')}"


@pytest.fixture
def _patient() -> Iterator[None]:
    """Give requests and locks the time that a starved machine needs."""
    with pytest.MonkeyPatch.context() as patch:
        be_patient(patch.setattr)
        yield


@pytest.fixture
def sqlite_url(request: pytest.FixtureRequest, _patient: None) -> Iterator[str]:
    """Return the address of a fresh SQLite database, for tests that need only one kind."""
    with _sqlite_copy(request) as url:
        yield url


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test on both kinds of database, or one of pages, commands and services on one.

    Which one depends on its name, except that `make test` runs all of them on SQLite. Tests of what
    differs between the databases (statements, locks, restored backups) are marked `both`.
    """
    if "database_url" not in metafunc.fixturenames:
        return
    node = metafunc.definition
    folders = {"web", "cli", "services"} & set(node.path.relative_to(HERE).parts)
    on_one = folders and not any(node.iter_markers("both"))
    is_quick = metafunc.config.option.markexpr == QUICK
    on_postgresql = not is_quick and crc32(node.nodeid.encode()) % 2
    kinds = ((POSTGRESQL if on_postgresql else SQLITE),) if on_one else KINDS
    metafunc.parametrize("database_url", kinds, indirect=True)


@pytest.fixture
def database_url(request: pytest.FixtureRequest, _patient: None) -> Iterator[str]:
    """Return the address of a fresh, migrated database."""
    if request.param == "sqlite":
        with _sqlite_copy(request) as url:
            yield url
        return
    template = cast(PostgresqlTemplate, request.getfixturevalue("postgresql_template"))
    with template.lend() as url:
        yield url


@pytest.fixture(params=KINDS)
def empty_database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the address of a database without tables, of each kind."""
    if request.param == "sqlite":
        with quick_folder() as folder:
            yield f"sqlite:///{folder / 'empty.db'}"
        return
    template = cast(PostgresqlTemplate, request.getfixturevalue("postgresql_template"))
    with template.empty() as url:
        yield url


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """Provide an engine on the fresh database."""
    engine = make_engine(database_url)
    yield engine
    engine.dispose()


@pytest.fixture
def sessions(engine: Engine) -> Sessions:
    """Return read and write session factories on the fresh database."""
    return make_sessions(engine)


@pytest.fixture
def session(sessions: Sessions) -> Iterator[Session]:
    """Provide one write session; its changes are committed only if the test commits."""
    with sessions.write() as session:
        yield session


@pytest.fixture
def topkapi(capsys: pytest.CaptureFixture[str]) -> Command:
    """Return the command line."""
    return Command(capsys)


def _use_in_folder(url: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", url)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def folder_of_commands(database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Let commands use the fresh database, in this folder of their own."""
    return _use_in_folder(database_url, monkeypatch, tmp_path)


@pytest.fixture
def sqlite_folder_of_commands(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Path:
    """Provide `folder_of_commands` on SQLite only, for tests that need only one kind."""
    return _use_in_folder(sqlite_url, monkeypatch, tmp_path)


@pytest.fixture
def app_settings(database_url: str, tmp_path: Path) -> Settings:
    """Return settings of an application on the fresh database."""
    return Settings(
        database_url=database_url,
        secret_file=tmp_path / "topkapi.secret",
        upload_dir=tmp_path / "uploads",
        _env_file=None,
    )


@pytest.fixture
def app(app_settings: Settings) -> FastAPI:
    """Create the application on the fresh database; it starts with its first client."""
    from topkapi.app.main import create_app

    return create_app(app_settings)


@pytest.fixture
def client(app: FastAPI) -> Iterator[httpx.Client]:
    """Provide a browser-like client without cookies, which calls the application in process."""
    with open_client(app) as client:
        yield client


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Launch a headless Chromium."""
    path = required_chromium()
    expect.set_options(timeout=LONGEST)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS, timeout=LONGEST)
        yield browser
        browser.close()


@pytest.fixture
def live_server(database_url: str, tmp_path: Path) -> Iterator[LiveServer]:
    """Start the real server as a separate process on the fresh database."""
    with serving(database_url, tmp_path, start=FORKER.start) as server:
        yield server


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[Callable[[str], LiveServer]]:
    """Provide a function that starts the real server on a given database."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        yield lambda url: stack.enter_context(serving(url, tmp_path, start=FORKER.start))
