"""From an exception to a message and an exit code: 2 for wrong usage, else 1."""

import json
import os
import traceback
from collections.abc import Sequence
from dataclasses import dataclass

import typer


class Refused(Exception):
    """A command cannot do what was asked; the message says how to fix it.

    ``problems`` are the single causes, one line each, for a file with several.
    """

    def __init__(self, message: str, problems: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed command: a stable code for programs, a message for people, and the exit code."""

    code: str
    message: str
    exit_code: int = 1
    problems: tuple[str, ...] = ()

    def lines(self, *, as_json: bool) -> list[str]:
        """Return the lines for standard error; with ``as_json`` one line with an object."""
        if as_json:
            about = {"code": self.code, "message": self.message, "problems": self.problems}
            return [json.dumps({"error": about}, ensure_ascii=False)]
        return [f"topkapi: {line}" for line in (*self.problems, self.message)]


def explain(error: Exception) -> Failure:
    """Return why a command failed.

    The classes of heavy libraries are imported here, because only failures need them.
    """
    from pydantic import ValidationError
    from sqlalchemy.exc import SQLAlchemyError

    from topkapi.analysis.errors import AnalysisError
    from topkapi.app.domain.errors import AppError
    from topkapi.app.installation.secret import UnsafeSecret
    from topkapi.extras import MissingPackage

    if isinstance(error, typer.TyperException):
        say = getattr(error, "format_message", error.__str__)
        return Failure("usage", _one_line(say()), getattr(error, "exit_code", 2))
    if isinstance(error, ValidationError):
        problems = "; ".join(_setting(problem) for problem in error.errors())
        return Failure("settings", _one_line(problems))
    if isinstance(error, SQLAlchemyError):
        origin = getattr(error, "orig", None) or error
        return Failure("database", _one_line(f"the database refused: {origin}"))
    if isinstance(error, AppError):
        return Failure(error.code, _one_line(str(error)))
    if isinstance(error, AnalysisError | MissingPackage | Refused | UnsafeSecret | OSError):
        problems_of = tuple(map(_one_line, getattr(error, "problems", ())))
        return Failure("refused", _one_line(str(error)), problems=problems_of)
    if os.environ.get("TOPKAPI_LOG_LEVEL") == "debug":
        traceback.print_exception(error)
    what = f"{type(error).__name__}: {error}"
    message = _one_line(f"unexpected {what} (TOPKAPI_LOG_LEVEL=debug shows where)")
    return Failure("unexpected", message)


def _setting(problem: object) -> str:
    assert isinstance(problem, dict)
    name = "_".join(str(part) for part in problem["loc"]).upper()
    return f"TOPKAPI_{name}: {problem['msg'].removeprefix('Value error, ')}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
