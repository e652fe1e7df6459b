"""Help and completion are quick because they import no heavy module; refusals can be JSON."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from tests.commands import run_command
from topkapi.app.cli import COMMANDS, _build
from topkapi.app.cli.groups import GROUPS

HEAVY = (
    "numpy",
    "scipy",
    "sqlalchemy",
    "alembic",
    "numba",
    "fastapi",
    "topkapi.app.db",
)
_RUN = """
import sys
from topkapi.app.cli import main
try:
    main(sys.argv[2:])
except SystemExit as end:
    code = end.code
loaded = [name for name in sys.argv[1].split(",") if name in sys.modules]
print("LOADED", code, *loaded, file=sys.stderr)
"""


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a new process that reports the heavy modules it has imported."""
    command = [sys.executable, "-c", _RUN, ",".join(HEAVY), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )


def commands_of(group: str, first: str) -> dict[str, str]:
    """Return the short help of the real commands of a group."""
    command = get_command(_build([group, first]))
    assert isinstance(command, typer.core.TyperGroup)
    found = command.commands[group]
    assert isinstance(found, typer.core.TyperGroup)
    return {name: each.get_short_help_str(1000) for name, each in found.commands.items()}


@pytest.mark.parametrize("group", GROUPS)
def test_the_outline_of_a_group_equals_the_group(group: str) -> None:
    assert group in COMMANDS
    real = commands_of(group, next(iter(GROUPS[group])))
    assert commands_of(group, "") == real
    assert list(real) == list(GROUPS[group])


@pytest.mark.parametrize("arguments", [("--help",), *((group, "--help") for group in GROUPS)])
def test_help_imports_no_heavy_module(arguments: tuple[str, ...]) -> None:
    shown = run(*arguments)
    assert "Usage: " in shown.stdout
    assert shown.stderr == "LOADED 0\n"


def test_a_shell_completes_commands_and_options() -> None:
    asked = {"_TOPKAPI_COMPLETE": "complete_bash", "COMP_CWORD": "2"}
    shown = run(COMP_WORDS="topkapi users ", **asked)
    assert shown.stdout.split() == list(GROUPS["users"])
    assert shown.stderr == "LOADED 0\n"
    options = run(COMP_WORDS="topkapi users add --", **{**asked, "COMP_CWORD": "3"})
    assert "--json" in options.stdout.split()


def test_refusals_are_json_for_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", f"sqlite:///{tmp_path / 'empty.db'}")
    (tmp_path / "study").mkdir()
    for code, *arguments in (
        ("usage", "users", "nothing"),
        ("usage", "users", "list", "--what"),
        ("not_found", "users", "disable", "nobody@example.org"),
        ("not_found", "study", "progress", "tulips"),
        ("not_found", "export", "tulips", "topk", "--out", str(tmp_path / "x")),
        ("refused", "study", "import", str(tmp_path / "study")),
    ):
        exit_code, out, err = run_command(capsys, [*arguments, "--json"])
        assert (exit_code in (1, 2), out) == (True, ""), arguments
        (line,) = err.splitlines()
        assert json.loads(line)["error"]["code"] == code, line
    assert json.loads(line)["error"]["problems"]
