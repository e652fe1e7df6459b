"""The wheel is complete, and runs outside the checkout."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.clients import get
from tests.commands import Command
from tests.live import free_port, wait_until_ready
from tests.processes import running

ROOT = Path(__file__).parent.parent
OFFLINE = re.compile("dns error|error sending request|connection|No matching distribution", re.I)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel of this checkout."""
    if not (ROOT / "static" / "vendor" / "htmx.min.js").exists():
        pytest.skip("the browser assets are not there: run make setup")
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = out.glob("topkapi-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the wheel like an installation."""
    site = tmp_path_factory.mktemp("site")
    with ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


@pytest.fixture
def environment(installed: Path, tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TOPKAPI_")}
    return {
        **kept,
        "PYTHONPATH": str(installed),
        "TOPKAPI_DATABASE_URL": f"sqlite:///{tmp_path / 'demo.db'}",
        "TOPKAPI_SECRET_FILE": str(tmp_path / "topkapi.secret"),
    }


@pytest.fixture
def bare_clone(tmp_path: Path) -> Path:
    """Copy the files of the repository, without what was fetched."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("needs a git checkout, and git")
    folder = tmp_path / "clone"
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, check=True)
    for name in tracked.stdout.decode().splitlines():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name, follow_symlinks=False)
    return folder


def build(folder: Path, target: str, npm: str) -> subprocess.CompletedProcess[str]:
    """Build in ``folder``; ``npm`` is the script that stands for npm on that machine."""
    programs = folder.parent / "bin"
    programs.mkdir(exist_ok=True)
    (programs / "npm").write_text(f"#!/bin/sh\n{npm}\n")
    (programs / "npm").chmod(0o755)
    return subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder / "dist")],
        cwd=folder,
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )


NPM_FETCHES = (
    "mkdir -p node_modules/htmx.org/dist && echo fetched > node_modules/htmx.org/dist/htmx.min.js"
)
NPM_FAILS = "echo no registry answers >&2; exit 1"
HTMX = "topkapi/app/_assets/static/vendor/htmx.min.js"


def test_a_bare_clone_builds_a_complete_sdist_and_wheel(bare_clone: Path, tmp_path: Path) -> None:
    done = build(bare_clone, "sdist", NPM_FETCHES)
    assert done.returncode == 0, done.stderr
    (sdist,) = (bare_clone / "dist").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # since Python 3.11.4
        archive.extractall(tmp_path / "sdist")
    (unpacked,) = (tmp_path / "sdist").iterdir()
    done = build(unpacked, "wheel", NPM_FAILS)
    assert done.returncode == 0, done.stderr
    (wheel,) = (unpacked / "dist").glob("*.whl")
    with ZipFile(wheel) as archive:
        assert archive.read(HTMX) == b"fetched\n"
        tokens = archive.read("topkapi/analysis/report/page/tokens.css")
    assert tokens == (ROOT / "static/css/tokens.css").read_bytes()


def test_a_build_that_cannot_fetch_the_browser_assets_says_so(bare_clone: Path) -> None:
    done = build(bare_clone, "wheel", NPM_FAILS)
    assert done.returncode != 0
    assert done.stderr.splitlines()[-1].startswith("topkapi: static/vendor/htmx.min.js is missing")
    assert "no registry answers" in done.stderr
    assert not list(bare_clone.glob("dist/*.whl"))


def test_a_server_without_a_browser_asset_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, topkapi: Command
) -> None:
    for name in ("templates", "static", "migrations"):
        (tmp_path / "_assets" / name).mkdir(parents=True)
    monkeypatch.setattr("topkapi.app.installation.assets._PACKAGE", tmp_path)
    monkeypatch.chdir(tmp_path)
    missing = "topkapi: static/vendor/htmx.min.js is missing from the installation: "
    assert topkapi.refused("serve").startswith(missing)
    assert {path.name for path in tmp_path.iterdir()} == {"_assets"}


def topkapi(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from topkapi.app.cli import main; main()", *arguments]


def make_namesakes(folder: Path) -> None:
    """Create packages that have the names of our folders and cannot be imported."""
    for name in ("app", "analysis"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("raise ImportError('not this one')\n")


def test_templates_static_files_migrations_and_the_demo_travel_in_the_wheel(
    installed: Path,
) -> None:
    assets = installed / "topkapi" / "app" / "_assets"
    for name in (
        "templates/base.html",
        "static/css/app.css",
        "static/vendor/htmx.min.js",
        "migrations/env.py",
        "docs/judging.md",
    ):
        assert (assets / name).is_file(), name
    assert list((assets / "migrations" / "versions").glob("*.py"))
    assert (installed / "topkapi" / "app" / "demo" / "study.toml").is_file()
    assert list((installed / "topkapi" / "app" / "demo" / "pages").rglob("*.html"))
    page = installed / "topkapi" / "analysis" / "report" / "page"
    assert (page / "body.html").is_file()
    assert (page / "tokens.css").read_bytes() == (ROOT / "static/css/tokens.css").read_bytes()
    assert (installed / "topkapi" / "py.typed").is_file()
    assert not (installed / "tests").exists()


@pytest.mark.server
def test_the_wheel_loads_the_demo_and_serves_it(
    environment: dict[str, str], installed: Path, tmp_path: Path
) -> None:
    make_namesakes(tmp_path)
    done = subprocess.run(
        topkapi("demo"), cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    with _serving(environment, tmp_path) as url:
        assert "Sign in" in get(f"{url}/sign-in").text
    where = subprocess.run(
        [sys.executable, "-c", "import topkapi.app as app; print(app.__file__)"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert where.stdout.startswith(str(installed)), "the checkout was used, not the wheel"


def test_the_package_works_in_a_project_with_folders_of_the_same_names(
    environment: dict[str, str], tmp_path: Path
) -> None:
    make_namesakes(tmp_path)
    code = (
        "from topkapi.analysis.data import read_topk\n"
        "from topkapi.analysis.models import MODELS\n"
        "assert read_topk and MODELS\n"
    )
    commands = ([sys.executable, "-c", code], topkapi("--version"), topkapi("demo", "--help"))
    for command in commands:
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


@contextmanager
def _serving(environment: dict[str, str], folder: Path) -> Iterator[str]:
    port = str(free_port())
    url, log, command = f"http://localhost:{port}", folder / "log", topkapi("serve", "--port", port)
    with (
        log.open("wb") as stream,
        running(command, cwd=folder, env=environment, stdout=stream, stderr=stream) as process,
    ):
        wait_until_ready(url, process, log)
        yield url


@pytest.mark.parametrize("runner", [["uvx", "--from"], ["pipx", "run", "--spec"]])
def test_the_wheel_is_tried_without_an_installation(
    wheel: Path, environment: dict[str, str], tmp_path: Path, runner: list[str]
) -> None:
    if shutil.which(runner[0]) is None:
        pytest.skip(f"{runner[0]} is not installed")
    environment.pop("PYTHONPATH")
    command = [*runner, str(wheel), "topkapi", "demo", "--if-empty"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode and OFFLINE.search(done.stderr):
        pytest.skip(f"{runner[0]} reaches no package index")
    assert done.returncode == 0, done.stderr
    assert "sign in on this machine" in done.stdout
