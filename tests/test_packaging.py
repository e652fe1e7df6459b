"""The wheel is complete, and runs outside the checkout."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen
from zipfile import ZipFile

import pytest

from tests.live import free_port, wait_until_ready

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel of this checkout and unpack it like an installation."""
    if not (ROOT / "static" / "vendor" / "htmx.min.js").exists():
        pytest.skip("the browser assets are not there: run make setup")
    out, site = tmp_path_factory.mktemp("dist"), tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = out.glob("topkapi-*.whl")
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
    ):
        assert (assets / name).is_file(), name
    assert list((assets / "migrations" / "versions").glob("*.py"))
    assert (installed / "topkapi" / "app" / "demo" / "study.toml").is_file()
    assert list((installed / "topkapi" / "app" / "demo" / "pages").rglob("*.html"))
    page = installed / "topkapi" / "analysis" / "report" / "page"
    assert (page / "templates" / "body.html").is_file()
    assert (page / "tokens.css").read_bytes() == (ROOT / "static/css/tokens.css").read_bytes()
    assert not (installed / "tests").exists()


@pytest.mark.server
def test_the_wheel_loads_the_demo_and_serves_it(
    environment: dict[str, str], installed: Path, tmp_path: Path
) -> None:
    make_namesakes(tmp_path)
    done = subprocess.run(
        topkapi("demo"),
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with _serving(environment, tmp_path) as url, urlopen(f"{url}/sign-in", timeout=30) as page:
        html = page.read().decode()
    assert "Sign in" in html
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
    port = free_port()
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            topkapi("serve", "--port", str(port)),
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=log,
        )
    try:
        url = f"http://localhost:{port}"
        wait_until_ready(url, process, folder / "server.log")
        yield url
    finally:
        process.terminate()
        process.wait(timeout=10)
