"""Commands, options, settings and imports that the documentation names exist."""

import ast
import importlib
import re
import shlex
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path

import pytest

from tests.documentation import FENCE, ROOT, every_page, prose
from topkapi.app.cli import COMMANDS, main

README = (ROOT / "README.md").read_text(encoding="utf-8")
INLINE = re.compile(r"`([^`]+)`")
COMMAND = re.compile(r"^ *(?:\$ |docker compose exec app )?(?:\.venv/bin/)?topkapi (.+)$", re.M)
STUDY = re.compile(r"^(?P<path>tulips/\S+)? +(?P<line>\S.*)$")


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


@every_page
def test_commands_and_their_options_exist(page: Path) -> None:
    for arguments in commands(page):
        assert arguments[0] in COMMANDS or arguments[0].startswith("--"), arguments
        if arguments[0] in COMMANDS:
            assert options_of(" ".join(arguments)) <= options_of(help_for(arguments)), arguments


@every_page
def test_benchmarks_exist(page: Path) -> None:
    for name in re.findall(r"python -m bench\.(\w+)", page.read_text(encoding="utf-8")):
        module = ROOT / "bench" / name
        assert module.with_suffix(".py").exists() or (module / "__main__.py").exists(), name


@every_page
def test_python_examples_import_what_exists(page: Path) -> None:
    for language, code in FENCE.findall(page.read_text(encoding="utf-8")):
        if language != "python":
            continue
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and node.module:
                module = importlib.import_module(node.module)
                assert all(hasattr(module, name.name) for name in node.names), ast.unparse(node)


def study_of_the_readme() -> dict[str, str]:
    """Return the text of each file of the README's first study."""
    section = README.split("\n## Your first study\n")[1].split("\n## ")[0]
    files: dict[str, str] = {}
    path = ""
    for line in FENCE.findall(section)[0][1].splitlines():
        found = STUDY.match(line)
        assert found, line
        path = found["path"] or path
        files[path] = files.get(path, "") + found["line"] + "\n"
    return files


def test_the_first_study_of_the_readme_is_imported_and_assigned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOPKAPI_NEW_PASSWORD", "tulips-and-tiles-too")
    (tmp_path / "tulips").mkdir()
    for path, text in study_of_the_readme().items():
        (tmp_path / path).write_text(text)
    section = README.split("\n## Your first study\n")[1].split("\n## ")[0]
    lines = [shlex.split(line, comments=True) for line in COMMAND.findall(section)]
    assert lines[-1] == ["serve"]
    for arguments in [*lines[:-1], ["study", "progress", "tulips"]]:
        with pytest.raises(SystemExit) as end:
            main(arguments)
        assert end.value.code == 0, (arguments, capsys.readouterr().err)
    assert "0 of 1 finished" in capsys.readouterr().out
