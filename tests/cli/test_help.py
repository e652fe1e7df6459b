"""Help and completion are quick because they import no heavy module; refusals can be JSON."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from tests.commands import Command
from topkapi.app.cli import COMMANDS, build

HEAVY = ("numpy", "scipy", "sqlalchemy", "alembic", "numba", "fastapi", "topkapi.app.db")
_RUN = """
import json, sys
from topkapi.app.cli import main
for arguments in json.loads(sys.argv[2]):
    try:
        main(arguments)
    except SystemExit as end:
        code = end.code
    loaded = [name for name in sys.argv[1].split(",") if name in sys.modules]
    print("LOADED", code, *loaded, file=sys.stderr)
"""


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a new process that reports the heavy modules it has imported."""
    return run_all([list(arguments)], **environment)


def run_all(calls: Iterable[list[str]], **environment: str) -> subprocess.CompletedProcess[str]:
    """Run commands one after the other in a new process; see `run`."""
    calls = list(calls)
    words = [word for call in calls for word in call]  # as the program would see them
    command = [sys.executable, "-c", _RUN, ",".join(HEAVY), json.dumps(calls), *words]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )


def commands_of(name: str) -> dict[str, str]:
    """Return the summaries of a group's commands; a command that is no group has none."""
    command = get_command(build([name]))
    assert isinstance(command, typer.core.TyperGroup)
    group = command.commands[name]
    inner = group.commands if isinstance(group, typer.core.TyperGroup) else {}
    return {word: each.get_short_help_str(1000) for word, each in inner.items()}


GROUPS = {name: found for name in COMMANDS if (found := commands_of(name))}


@pytest.mark.thorough
@pytest.mark.parametrize("group", ["", *COMMANDS])
def test_help_imports_no_heavy_module(group: str) -> None:
    words = [group] if group else []
    commands = [words, *([group, name] for name in GROUPS.get(group, ()))]
    shown = run_all([*command, "--help"] for command in commands)
    assert shown.stdout.count("Usage: ") == len(commands)
    assert shown.stderr.splitlines() == ["LOADED 0"] * len(commands)


@pytest.mark.parametrize("arguments", [(), *((group,) for group in GROUPS)])
def test_no_summary_is_cut_off(
    topkapi: Command, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = topkapi.done(*arguments, "--help")
    shown = " ".join(out.split())
    summaries = GROUPS[arguments[0]] if arguments else COMMANDS
    for name, summary in summaries.items():
        assert f"{name} {summary}" in shown
    assert max(map(len, out.splitlines())) <= 80


def test_help_among_other_arguments_runs_nothing(topkapi: Command) -> None:
    for arguments in (["study", "import", "x", "--name", "--help"], ["serve", "--port", "--help"]):
        assert f"Usage: topkapi {arguments[0]}" in topkapi.done(*arguments)


@pytest.mark.thorough
def test_a_shell_completes_commands_and_options() -> None:
    asked = {"_TOPKAPI_COMPLETE": "complete_bash", "COMP_CWORD": "2"}
    shown = run(COMP_WORDS="topkapi users ", **asked)
    assert shown.stdout.split() == list(GROUPS["users"])
    assert shown.stderr == "LOADED 0\n"
    options = run(COMP_WORDS="topkapi users add --", **{**asked, "COMP_CWORD": "3"})
    assert "--json" in options.stdout.split()
    assert options.stderr == "LOADED 0\n"


@pytest.mark.thorough
def test_refusals_are_json_for_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, topkapi: Command
) -> None:
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", f"sqlite:///{tmp_path / 'empty.db'}")
    (tmp_path / "empty.db").touch()
    (tmp_path / "study").mkdir()
    for code, *arguments in (
        ("usage", "users", "nothing"),
        ("usage", "users", "list", "--what"),
        ("not_found", "users", "disable", "nobody@example.org"),
        ("not_found", "study", "progress", "tulips"),
        ("not_found", "export", "tulips", "topk", "--out", str(tmp_path / "x")),
        ("refused", "study", "import", str(tmp_path / "study")),
    ):
        exit_code, out, err = topkapi(*arguments, "--json")
        assert (exit_code in (1, 2), out) == (True, ""), arguments
        (line,) = err.splitlines()
        assert json.loads(line)["error"]["code"] == code, line
    assert json.loads(line)["error"]["problems"]
