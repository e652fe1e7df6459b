"""The command line, run within a test."""

import json
from typing import Any

import pytest

from topkapi.app.cli import main


class Command:
    """Runs `topkapi`, or one of its commands when ``first`` names it."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *first: str) -> None:
        self._capsys, self._first = capsys, first

    def of(self, *first: str) -> "Command":
        """Return the same for one command."""
        return Command(self._capsys, *first)

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        """Run with ``arguments``; return exit code, standard output and standard error."""
        with pytest.raises(SystemExit) as ended:
            main([*self._first, *arguments])
        out, err = self._capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out, err

    def done(self, *arguments: str) -> str:
        """Return what is printed by a command that must succeed."""
        code, out, err = self(*arguments)
        assert code == 0, err
        return out

    def told(self, *arguments: str) -> Any:
        """Return what a command that must succeed tells programs."""
        return json.loads(self.done(*arguments, "--json"))

    def refused(self, *arguments: str, code: int = 1) -> str:
        """Return the one line in which a command must be refused."""
        ended, out, err = self(*arguments)
        assert (ended, out) == (code, ""), err
        assert err.startswith("topkapi: ")
        assert err.count("\n") == 1
        return err
