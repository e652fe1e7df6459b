"""Errors of the library.

AnalysisError
├── BadData          an input that cannot be used; the message names file and line, or the query
├── NotFittedError   predict or save before fit
├── DidNotConverge   an optimiser ran out of steps or left the finite numbers
└── UnknownName      a model or measure that does not exist; the message lists those that do
"""


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
