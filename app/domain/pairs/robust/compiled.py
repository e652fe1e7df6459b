"""Compilation of inner loops by numba, cached on disk and warmed off the request path."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Return ``function`` compiled at its first call, released from the GIL.

    The machine code is cached beside the module, or in the user's cache folder; where neither can
    be written, every process compiles for itself.
    """
    try:
        fast = numba.njit(nogil=True, error_model="numpy", cache=True)(function)
    except RuntimeError:
        fast = numba.njit(nogil=True, error_model="numpy")(function)
    return cast(Function, fast)
