"""Start-up work off the request path."""

from functools import cache

from topkapi.extras import is_installed


@cache
def warm() -> None:
    """Compile the sorter `robust`: seconds on the first start, then it is loaded from a cache.

    A process does it once, however many applications it creates.
    """
    if is_installed("robust"):
        from topkapi.app.domain.pairs.robust.warm import compile_all  # loads NumPy and numba

        compile_all()
