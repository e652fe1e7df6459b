"""Checks of the whole project: README, lock files, file sizes."""

import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from topkapi.analysis.report.page.environment import stylesheet
from topkapi.extras import EXTRAS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
TOP_LEVEL = {
    *("pyproject.toml", "README.md", "app", "templates", "static", "migrations", "analysis"),
    *("tests", "docker-compose.yml", "Makefile", "Dockerfile", ".dockerignore", "package.json"),
    *("package-lock.json", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "bench", "docs", ".ci"),
    *("requirements.lock", "requirements-dev.lock", ".gitignore", "src", "CITATION.cff"),
    *("SECURITY.md", "CODE_OF_CONDUCT.md", ".github", "paper"),
}


def tracked() -> list[str]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_the_readme_is_one_page_with_its_picture() -> None:
    assert len(README.splitlines()) <= 60
    assert "](docs/images/t1.png)" in README


def test_the_readme_leads_to_files_that_are_there() -> None:
    prose = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose)
    assert links
    for link in links:
        assert (ROOT / link).exists(), link


def test_the_version_is_the_same_everywhere() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_tables_of_the_paper_are_those_of_the_documentation() -> None:
    paper = (ROOT / "paper/README.md").read_text()
    docs = "".join((ROOT / "docs" / name).read_text() for name in ("results.md", "sorters.md"))
    rows = re.findall(r"^\| (?!sorter|-| )(.+) \|$", paper, re.MULTILINE)
    assert len(rows) > 20
    for row in rows:
        name, *cells = row.split(" | ")
        found = [line.split(" | ") for line in docs.splitlines() if line.startswith(f"| {name} |")]
        assert any(set(cells) <= {cell.strip(" |") for cell in line} for line in found), row


def test_the_top_level_is_as_agreed() -> None:
    assert {name.split("/")[0] for name in tracked()} <= TOP_LEVEL


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_locks_are_hashed_and_name_no_index(name: str) -> None:
    text = (ROOT / name).read_text()
    assert "://" not in text
    pinned = re.findall(r"^([A-Za-z0-9_.\[\]-]+)==\S+.*\\$", text, re.MULTILINE)
    assert len(pinned) > 20
    assert text.count("--hash=sha256:") >= len(pinned)


def test_the_locks_hold_every_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    locks = {
        "requirements.lock": [*project["dependencies"], *_extra(project, "all")],
        "requirements-dev.lock": [*project["dependencies"], *_extra(project, "dev")],
    }
    for lock, needed in locks.items():
        text = (ROOT / lock).read_text().lower()
        for requirement in needed:
            name = re.split(r"[<>=\[ ]", requirement)[0].lower()
            assert re.search(rf"^{re.escape(name)}(\[\w+\])?==", text, re.MULTILINE), (lock, name)


def _extra(project: dict[str, Any], name: str) -> Iterator[str]:
    """Yield the requirements of an extra and of the extras that it names."""
    for requirement in project["optional-dependencies"][name]:
        if requirement.startswith("topkapi["):
            for other in requirement.removeprefix("topkapi[").removesuffix("]").split(","):
                yield from _extra(project, other)
        else:
            yield requirement


def test_the_install_hints_name_the_packages_of_the_extras() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for extra, packages in EXTRAS.items():
        assert project["optional-dependencies"][extra] == list(packages)


def test_browser_assets_are_pinned_and_not_committed() -> None:
    package = json.loads((ROOT / "package.json").read_text())
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", each) for each in package["dependencies"].values())
    assert not [name for name in tracked() if name.startswith("static/vendor/")]


def test_no_unfinished_marks() -> None:
    marks = re.compile(r"\b(TODO|FIXME|XXX)\b")
    for name in tracked():
        path = ROOT / name
        if name != "tests/test_project.py" and path.suffix in {".py", ".js", ".html", ".css"}:
            assert not marks.search(path.read_text()), name


def test_the_style_of_a_report_is_built_from_the_tokens() -> None:
    """Check that report.css contains the tokens, because a report works without the server."""
    tokens = ROOT / "static/css/tokens.css"
    linked = ROOT / "analysis/report/page/tokens.css"
    assert linked.resolve() == tokens.resolve()
    assert stylesheet().startswith(tokens.read_text().rstrip())


def test_no_line_of_a_template_is_long() -> None:
    templates = [ROOT / name for name in tracked() if "templates/" in name]
    lines = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in templates
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > 160
    ]
    assert len(templates) > 50
    assert lines == []
