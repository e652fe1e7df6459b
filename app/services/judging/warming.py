"""Start-up work off the request path."""

from functools import cache


@cache
def warm() -> None:
    """Compile the sorter `robust`: seconds on the first start, then it is loaded from a cache.

    A process does it once, however many applications it creates.
    """
    from topkapi.app.domain.pairs.robust.warm import compile_all  # loads NumPy and numba

    compile_all()
