"""Compilation of inner loops by numba, cached on disk and warmed off the request path."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from topkapi.app.domain.pairs.sorters.registry import NUMBA
from topkapi.extras import optional_module

numba = optional_module("numba", "robust", NUMBA)
Function = TypeVar("Function", bound=Callable[..., Any])
_ANY_ORDER = {"reassoc", "contract", "nsz"}  # of sums, so that they use vector instructions


def compiled(function: Function) -> Function:
    """Return ``function`` compiled at its first call, released from the GIL.

    The machine code is cached beside the module, or in the user's cache folder; where neither can
    be written, every process compiles for itself.
    """
    return _compiled(function, fastmath=False)


def compiled_sums(function: Function) -> Function:
    """Return ``function`` compiled like `compiled`, with sums in any order of their terms."""
    return _compiled(function, fastmath=_ANY_ORDER)


def _compiled(function: Function, **options: Any) -> Function:
    try:
        fast = numba.njit(nogil=True, error_model="numpy", cache=True, **options)(function)
    except RuntimeError:
        fast = numba.njit(nogil=True, error_model="numpy", **options)(function)
    return cast(Function, fast)
