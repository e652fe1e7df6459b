"""Errors of the library.

AnalysisError
├── BadData          an input that cannot be used; the message names file and line, or the query
├── NotFittedError   predict or save before fit
├── DidNotConverge   an optimiser ran out of steps or left the finite numbers
└── UnknownName      a model or measure that does not exist; the message lists those that do
"""

from collections.abc import Iterable
from difflib import get_close_matches


class AnalysisError(Exception):
    """Base of every error the library raises on purpose."""


class BadData(AnalysisError, ValueError):
    """Input that cannot be used; the message names file and line, or the query."""


class NotFittedError(AnalysisError):
    """The model has learned nothing yet: call ``fit`` first."""


class DidNotConverge(AnalysisError):
    """The optimiser ran out of steps, or its values left the finite numbers."""


class UnknownName(AnalysisError, ValueError):
    """No model or measure has this name; the message lists those that exist."""


def unknown_name(what: str, name: str, known: Iterable[str]) -> UnknownName:
    """Return the error for a name that does not exist, with the nearest one that does.

    >>> print(unknown_name("model", "ranksvn", ["ranknet", "ranksvm"]))
    no model 'ranksvn': did you mean 'ranksvm'? There are ranknet, ranksvm
    """
    names = list(known)
    near = get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return UnknownName(f"no {what} {name!r}: {hint}There are {', '.join(names)}")
