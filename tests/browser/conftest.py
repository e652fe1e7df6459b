"""One browser for all tests, one server per database, a new person per test.

A browser test runs on one database, `site` or `postgresql_site`: what the page does does not depend
on it, and tests/web and tests/services do the same on both. Few whole stories take `any_site`.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import pytest
from argon2 import PasswordHasher
from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.assigned_work import AssignedWork, Site, make_assigned
from tests.browser.chromium import LONGEST
from tests.browser.page_clock import GIVEN_CLOCK
from tests.databases import PostgresqlTemplate, quick_folder
from tests.factories import make_user
from tests.live import FORKER, serving
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.db.models import User
from topkapi.app.domain.enums import Role

WIDE = {"width": 1440, "height": 900}


def _site(request: pytest.FixtureRequest, kind: str, stack: ExitStack) -> Site:
    folder = cast(pytest.TempPathFactory, request.getfixturevalue("tmp_path_factory")).mktemp(kind)
    if kind == "sqlite":
        template = cast(Path, request.getfixturevalue("sqlite_template"))
        quick = stack.enter_context(quick_folder())
        url = f"sqlite:///{shutil.copy(template, quick / 'browser.db')}"
    else:
        copies = cast(PostgresqlTemplate, request.getfixturevalue("postgresql_template"))
        url = stack.enter_context(copies.copy())
    engine = make_engine(url)
    stack.callback(engine.dispose)
    server = stack.enter_context(serving(url, folder, start=FORKER.start))
    return Site(server, make_sessions(engine))


@pytest.fixture(scope="session")
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    """Run a server on SQLite."""
    with ExitStack() as stack:
        yield _site(request, "sqlite", stack)


@pytest.fixture(scope="session")
def postgresql_site(request: pytest.FixtureRequest) -> Iterator[Site]:
    """Run a server on PostgreSQL."""
    with ExitStack() as stack:
        yield _site(request, "postgresql", stack)


@pytest.fixture(
    params=[
        pytest.param("site", id="sqlite"),
        pytest.param("postgresql_site", id="postgresql", marks=pytest.mark.thorough),
    ]
)
def any_site(request: pytest.FixtureRequest) -> Site:
    """Return the server on each database in turn, for the few stories that walk the whole way."""
    return cast(Site, request.getfixturevalue(request.param))


@pytest.fixture
def own_site(request: pytest.FixtureRequest) -> Iterator[Site]:
    """Run a server on an empty database, for pages that list everything that is stored."""
    with ExitStack() as stack:
        yield _site(request, getattr(request, "param", "sqlite"), stack)


@pytest.fixture
def admin(own_site: Site, context: BrowserContext) -> User:
    """Sign in an administrator."""
    with own_site.sessions.write.begin() as session:
        user = make_user(session, role=Role.ADMIN, name="Maren Oduya")
    context.add_cookies([own_site.cookie(user)])
    return user


@pytest.fixture
def new_context(browser: Browser) -> Iterator[Callable[..., BrowserContext]]:
    """Return a function that opens a new profile without cookies or cache, for the test.

    The clock of its pages is moved by the test. A script error fails the test.
    """
    faults: list[str] = []
    with ExitStack() as stack:

        def open_context(**options: Any) -> BrowserContext:
            context = browser.new_context(**{"viewport": WIDE, **options})
            stack.callback(context.close)
            context.set_default_timeout(LONGEST)
            context.add_init_script(GIVEN_CLOCK)
            context.on("weberror", lambda error: faults.append(str(error.error)))
            return context

        yield open_context
    assert faults == []


@pytest.fixture
def context(new_context: Callable[..., BrowserContext]) -> BrowserContext:
    """Open a wide window in a new profile."""
    return new_context()


@pytest.fixture
def phone(new_context: Callable[..., BrowserContext]) -> BrowserContext:
    """Open a phone in a new profile."""
    return new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)


@pytest.fixture
def assigned(postgresql_site: Site) -> AssignedWork:
    """Create an assignment with six pages, on PostgreSQL; `new_assigned` creates one on SQLite."""
    return make_assigned(postgresql_site)


@pytest.fixture
def tab(assigned: AssignedWork, context: BrowserContext) -> Page:
    """Open the judging page of ``assigned``, ready for an answer."""
    return assigned.open_page(context)


@pytest.fixture
def new_assigned(site: Site) -> Callable[..., AssignedWork]:
    """Return a function that creates assignments, on SQLite."""
    return lambda **more: make_assigned(site, **more)


@pytest.fixture(autouse=True)
def _real_enough_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use cheap password hashes that the server can verify, as they include their parameters."""
    cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr("topkapi.app.services.accounts.passwords.HASHER", cheap)
