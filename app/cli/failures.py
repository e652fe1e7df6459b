"""From an exception to a one-line message and an exit code: 2 for wrong usage, else 1."""

import os
import traceback

import typer
from pydantic import ValidationError
from sqlalchemy.exc import SQLAlchemyError

from topkapi.analysis.errors import AnalysisError
from topkapi.app.domain.errors import AppError
from topkapi.app.secret import UnsafeSecret


class Refused(Exception):
    """A command cannot do what was asked; the message says how to fix it."""


def explain(error: Exception) -> tuple[str, int]:
    """Return the message for ``error``, and the exit code."""
    if isinstance(error, typer.TyperException):
        code = getattr(error, "exit_code", 2)
        say = getattr(error, "format_message", error.__str__)
        return _one_line(say()), code
    if isinstance(error, ValidationError):
        return _one_line("; ".join(_setting(problem) for problem in error.errors())), 1
    if isinstance(error, SQLAlchemyError):
        origin = getattr(error, "orig", None) or error
        return _one_line(f"the database refused: {origin}"), 1
    if isinstance(error, AnalysisError | AppError | Refused | UnsafeSecret | OSError):
        return _one_line(str(error)), 1
    if os.environ.get("TOPKAPI_LOG_LEVEL") == "debug":
        traceback.print_exception(error)
    what = f"{type(error).__name__}: {error}"
    return _one_line(f"unexpected {what} (TOPKAPI_LOG_LEVEL=debug shows where)"), 1


def _setting(problem: object) -> str:
    assert isinstance(problem, dict)
    name = "_".join(str(part) for part in problem["loc"]).upper()
    return f"TOPKAPI_{name}: {problem['msg'].removeprefix('Value error, ')}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
