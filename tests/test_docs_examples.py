"""Commands, options, settings and imports that the documentation names exist."""

import ast
import importlib
import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from shutil import which

import pytest

from tests.databases import transaction_on
from tests.documentation import FENCE, PAGES, ROOT, prose
from tests.factories import make_user
from tests.live import FORKER, serving
from topkapi.app.cli import COMMANDS, main
from topkapi.app.domain.enums import Role

INLINE = re.compile(r"`([^`]+)`")
START = "from topkapi.app.cli import main; main()"
COMMAND = re.compile(r"^ *(?:\$ |docker compose exec app )?(?:\.venv/bin/)?topkapi (.+)$", re.M)


def commands(page: Path) -> list[list[str]]:
    """Return the arguments after `topkapi` of each command that a page shows."""
    spans = [" ".join(span.split()) for span in INLINE.findall(prose(page))]
    shown = COMMAND.findall(page.read_text(encoding="utf-8"))
    shown += [span.removeprefix("topkapi ") for span in spans if span.startswith("topkapi ")]
    return [shlex.split(line, comments=True) for line in shown]


@cache
def help_of(*path: str) -> str:
    """Return the help that a command prints."""
    printed = StringIO()
    with redirect_stdout(printed), pytest.raises(SystemExit) as end:
        main([*path, "--help"])
    assert end.value.code == 0, path
    return printed.getvalue()


def help_for(arguments: list[str]) -> str:
    """Return the help of the command, possibly of a group, that ``arguments`` begin with."""
    is_group = "COMMAND [ARGS]" in help_of(arguments[0])
    return help_of(*arguments[: 2 if is_group else 1])


def options_of(text: str) -> set[str]:
    """Return the options that a help, or a command, names."""
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


def is_known(arguments: list[str]) -> bool:
    """Return whether a command exists with the options that it is shown with."""
    if arguments[0] not in COMMANDS:
        return arguments[0].startswith("--")
    return options_of(" ".join(arguments)) <= options_of(help_for(arguments))


def test_commands_and_their_options_exist() -> None:
    shown = [(page.name, arguments) for page in PAGES for arguments in commands(page)]
    assert len(shown) > 100
    assert [each for each in shown if not is_known(each[1])] == []


def test_python_examples_import_what_exists() -> None:
    examples = [
        code for page in PAGES for kind, code in FENCE.findall(page.read_text()) if kind == "python"
    ]
    imports = [
        node
        for code in examples
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("topkapi")
    ]
    missing = [
        ast.unparse(node)
        for node in imports
        for name in node.names
        if not hasattr(importlib.import_module(node.module or ""), name.name)
    ]
    assert imports
    assert missing == []


@pytest.mark.server
@pytest.mark.skipif(not (which("curl") and which("zip")), reason="needs curl and zip")
def test_the_walk_through_the_api_works_as_it_is_shown(sqlite_url: str, tmp_path: Path) -> None:
    with transaction_on(sqlite_url) as session:
        make_user(session, email="you@example.org", role=Role.ADMIN)
    section = (ROOT / "docs/api.md").read_text().split("## Run a study from beginning to end")[1]
    program = f'#!/bin/sh\nexec "{sys.executable}" -c "{START}" "$@"\n'
    (tmp_path / "topkapi").write_text(program)
    (tmp_path / "topkapi").chmod(0o755)
    environment = {
        **os.environ,
        "TOPKAPI_DATABASE_URL": sqlite_url,
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
    }
    with serving(sqlite_url, tmp_path, start=FORKER.start) as server:
        script = FENCE.findall(section)[0][1].replace("http://localhost:8000", server.url)
        script = script.replace("curl -H", "curl --silent --fail-with-body -w '\\n' -H")
        done = subprocess.run(
            ["bash", "-eu", "-c", script],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(("{", "["))]
    assert len(answers) == 6
    assert answers[-1]["assigned"] == 2
