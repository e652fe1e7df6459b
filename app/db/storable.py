"""Safety net for every statement: values that one database cannot store are refused on both.

PostgreSQL refuses NUL in a text while SQLite stores it; neither takes half of a surrogate pair or
an integer beyond 64 bits. Routes and commands check what they receive and name the field; anything
that gets past them is refused here, before it reaches the driver, with one error class.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine.interfaces import ExceptionContext, ExecutionContext

from topkapi.app.domain.errors import Unstorable
from topkapi.app.domain.text.storable import fits_integer, problem_with, unfit_character


def dump_json(value: Any) -> str:
    """Serialize the value of a JSON column; refuse what PostgreSQL would refuse."""
    text = json.dumps(value)
    if "\\u0000" in text or "\\ud" in text or "NaN" in text or "Infinity" in text:
        problem = problem_with(value)
        if problem:
            raise Unstorable(f"A stored value {problem}.")
    return text


def refuse_unstorable(engine: Engine) -> None:
    """Check the parameters of every statement that ``engine`` sends."""
    event.listen(engine, "before_cursor_execute", _check)
    event.listen(engine, "handle_error", _unwrap)


def _unwrap(error: ExceptionContext) -> BaseException | None:
    """Re-raise what `dump_json` refused unchanged, not wrapped as an error of the statement."""
    original = error.original_exception
    return original if isinstance(original, Unstorable) else None


def _check(
    _connection: Connection,
    _cursor: Any,
    _statement: str,
    parameters: Any,
    context: ExecutionContext | None,
    _executemany: bool,
) -> None:
    for row in parameters if isinstance(parameters, list) else (parameters,):
        for value in row.values() if isinstance(row, Mapping) else row or ():
            kind = type(value)
            if (kind is str and unfit_character(value) is not None) or (
                kind is int and not fits_integer(value)
            ):
                raise Unstorable(f"{_name(row, value, context)} {problem_with(value)}.")


def _name(row: Mapping[str, Any] | Iterable[Any], value: Any, context: Any) -> str:
    """Return the name of the column or parameter that holds ``value``, as far as it is known."""
    if isinstance(row, Mapping):
        names: Iterable[str] = row.keys()
        row = row.values()
    else:
        names = getattr(getattr(context, "compiled", None), "positiontup", None) or ()
    found = next((name for name, each in zip(names, row, strict=False) if each is value), "A value")
    stem, _, number = found.rpartition("_")
    return stem if stem and number.isdigit() else found
