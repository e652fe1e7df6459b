"""One browser for all tests, one server for each kind of database, a fresh person for each test."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import cast

import pytest
from argon2 import PasswordHasher
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.chromium import ARGUMENTS, chromium_path
from tests.browser.desks import Desk, Site, make_desk
from tests.databases import PostgresqlTemplate
from tests.live import serving
from topkapi.app.db.engine import make_engine, make_sessions


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A Chromium without a window."""
    expect.set_options(timeout=20_000)  # a machine at work on other things is slow, not wrong
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)
        yield browser
        browser.close()


def _site(request: pytest.FixtureRequest, kind: str, stack: ExitStack) -> Site:
    folder = cast(pytest.TempPathFactory, request.getfixturevalue("tmp_path_factory")).mktemp(kind)
    if kind == "sqlite":
        template = cast(Path, request.getfixturevalue("sqlite_template"))
        url = f"sqlite:///{shutil.copy(template, folder / 'browser.db')}"
    else:
        server = cast(PostgresqlTemplate, request.getfixturevalue("postgresql_template"))
        url = stack.enter_context(server.copy())
    engine = make_engine(url)
    stack.callback(engine.dispose)
    return Site(stack.enter_context(serving(url, folder)), make_sessions(engine))


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def any_site(request: pytest.FixtureRequest) -> Iterator[Site]:
    """A server on each kind of database, in turn."""
    with ExitStack() as stack:
        yield _site(request, request.param, stack)


@pytest.fixture(scope="session")
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    """A server on SQLite, for what does not differ between the two."""
    with ExitStack() as stack:
        yield _site(request, "sqlite", stack)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A fresh profile: no cookies, nothing cached; a fault in a script fails the test."""
    faults: list[str] = []
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(30_000)
    context.on("weberror", lambda error: faults.append(str(error.error)))
    yield context
    context.close()
    assert faults == []


@pytest.fixture
def desk(any_site: Site) -> Desk:
    """A person's work on a query of six pages, on each kind of database."""
    return make_desk(any_site)


@pytest.fixture
def tab(desk: Desk, context: BrowserContext) -> Page:
    """The judging page of ``desk``, ready for an answer."""
    return desk.sit_down(context)


@pytest.fixture
def new_desk(site: Site) -> Callable[..., Desk]:
    """Make work as a test wants it, on SQLite."""
    return lambda **more: make_desk(site, **more)


@pytest.fixture(autouse=True)
def _real_enough_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server verifies what the tests hash; cheap parameters are part of the hash."""
    cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr("topkapi.app.services.accounts.passwords.HASHER", cheap)
