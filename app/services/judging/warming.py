"""Start-up work off the request path."""

from functools import cache
from importlib import import_module

from topkapi.extras import is_installed

_REPORTS = {"analysis": "scipy.stats", "parquet": "pyarrow.parquet"}  # modules by their extras


@cache
def warm() -> None:
    """Compile the sorter `robust`, and load what reports and exports need, where it is installed.

    Compiling takes seconds on the first start; then it is loaded from a cache. The first report
    waits for nothing, and a worker's memory is from the start what it needs. A process does it
    once, however many applications it creates.
    """
    if is_installed("robust"):
        from topkapi.app.domain.pairs.robust.sorter import compile_all  # loads NumPy and numba

        compile_all()
    for extra, module in _REPORTS.items():
        if is_installed(extra):
            import_module(module)
