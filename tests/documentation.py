"""The pages of the documentation, their text, and a reader who follows them."""

import ast
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from topkapi.app.cli import main

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
OTHERS = (ROOT / "analysis" / "REFERENCES.md", ROOT / "paper" / "README.md")
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *OTHERS])
REFERENCE = DOCS / "reference"
FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
_CLOSE = 0.02  # other linear algebra may settle a near tie another way


def prose(page: Path) -> str:
    """Return the text of a page without its code blocks."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


@dataclass
class Reader:
    """Follows a page: runs its commands and programs in order, and compares what they print.

    ``instead`` replaces words of commands, such as an address that exists nowhere; `topkapi serve`
    is what ``served`` does. Programs that import a tool that is not installed are left out, and the
    tool is noted in ``missing``.
    """

    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch
    instead: Mapping[str, str] = field(default_factory=dict)
    served: Callable[[], None] = lambda: None
    commands: int = 0
    names: dict[str, Any] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)

    def follow(self, page: str) -> int:
        """Follow a page of `docs`; return how many commands and programs it has."""
        for kind, block in FENCE.findall((DOCS / page).read_text(encoding="utf-8")):
            if kind == "python" and (missing := missing_tools(block)):
                self.missing |= missing
            elif kind == "python":
                exec(compile(block, page, "exec"), self.names)
                self.commands += 1
            if kind in ("sh", "console"):
                for command, printed in _typed(kind, block):
                    self.run(command, printed)
        return self.commands

    def run(self, command: str, printed: str | None = None) -> None:
        """Run a command of a page; compare what it prints with ``printed``."""
        words = shlex.split(command, comments=True)
        words = [self.instead.get(word, word) for word in words]
        words = words[: words.index(">")] if ">" in words else words
        if words[:1] == ["export"]:
            self.monkeypatch.setenv(*words[1].split("=", 1))
            return
        if words[:1] != ["topkapi"]:
            return
        self.commands += 1
        if words[1] == "serve":
            self.served()
            return
        words = [found for word in words for found in _matching(word)]
        with pytest.raises(SystemExit) as end:
            main(words[1:])
        captured = self.capsys.readouterr()
        found = captured.err + captured.out
        assert end.value.code == 0, f"{command}\n{found}"
        if printed is not None:
            _compare(command, printed, found)


def missing_tools(program: str) -> set[str]:
    """Return the packages that a program imports and that are not installed."""
    nodes = list(ast.walk(ast.parse(program)))
    imported = [each.name for node in nodes if isinstance(node, ast.Import) for each in node.names]
    imported += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {top for name in imported if find_spec(top := name.partition(".")[0]) is None}


def _typed(kind: str, block: str) -> Iterator[tuple[str, str | None]]:
    """Yield each command of a block, with its output where the block shows it."""
    if kind == "sh":
        lines = block.replace("\\\n", " ").splitlines()
        yield from ((line, None) for line in lines if not line.startswith("#"))
        return
    parts = re.split(r"^\$ (.+)\n", block, flags=re.MULTILINE)[1:]
    yield from zip(parts[::2], parts[1::2], strict=True)


def _matching(word: str) -> list[str]:
    """Return the files that a word with a star matches, as a shell does."""
    return [str(path) for path in sorted(Path().glob(word))] if "*" in word else [word]


def _compare(command: str, printed: str, found: str) -> None:
    pairs = zip_longest(_words(printed), _words(found), fillvalue="(nothing)")
    wrong = [f"{old} is now {new}" for old, new in pairs if _differs(old, new)]
    assert not wrong, f"{command}: {wrong[:5]}\n{found}"


def _words(text: str) -> list[str]:
    """Return the words of an output, without its table of seconds."""
    return text.partition("Seconds per fold")[0].split()


def _differs(expected: str, found: str) -> bool:
    """Return whether two words are neither equal nor nearly equal decimal numbers."""
    if expected == found or (expected.endswith("...") and found.startswith(expected[:-3])):
        return False
    numbers = [re.fullmatch(r"[*(]*(\d*\.\d+)\)?", word) for word in (expected, found)]
    if numbers[0] is None or numbers[1] is None:
        return True
    return abs(float(numbers[0][1]) - float(numbers[1][1])) > _CLOSE
