"""Start-up work off the request path."""

from functools import cache
from importlib import import_module

from topkapi.extras import is_installed

_REPORTS = {"analysis": "scipy.stats", "parquet": "pyarrow.parquet"}  # modules by their extras


@cache
def warm() -> None:
    """Load the sorter `robust`, and what reports and exports need, where it is installed.

    The first report waits for nothing, and a worker's memory is from the start what it needs. A
    process does it once, however many applications it creates.
    """
    import_module("topkapi.app.domain.pairs.robust.strategy")
    for extra, module in _REPORTS.items():
        if is_installed(extra):
            import_module(module)
