"""What `make test` runs, and what it leaves to `make test-all`.

The line of the nearest folder or module decides; a test of its own cost carries the marker
`thorough`. So do the cases on PostgreSQL: `make test` needs no other database than SQLite.
"""

from pathlib import Path

import pytest

HERE = Path(__file__).parent
QUICK = "not thorough"  # the marker expression of `make test`
SQLITE, POSTGRESQL = "sqlite", pytest.param("postgresql", marks=pytest.mark.thorough)
KINDS = (SQLITE, POSTGRESQL)
IS_THOROUGH = {
    "": False,
    "browser": True,
    "browser/test_to_the_end.py": False,
    "server": True,  # starts servers, kills them, loads them
    "upgrades": True,
    "analysis/papers": True,  # replications
    "analysis/test_cluster.py": True,  # Dask
    "cli/test_serve.py": True,
    "services/test_backup_memory.py": True,
    "services/test_exports_memory.py": True,
    "services/test_fence.py": True,  # child processes
    "services/test_formats_by_their_tools.py": True,  # libraries that read exports
    "services/test_simulating.py": True,
    "test_deployment.py": True,  # reads docker-compose.yml
    "test_docs_examples.py": True,  # follow the pages of the documentation
    "test_docs_notebooks.py": True,
    "test_docs_pages.py": True,
    "test_docs_reference.py": True,
    "test_docs_site.py": True,
    "test_packaging.py": True,
    "web/test_api_description.py": True,  # schemathesis
    "web/test_malformed.py": True,
    "web/test_openid.py": True,  # starts a provider
}


def is_thorough(path: Path) -> bool:
    """Return whether a folder or module is left to `make test-all`."""
    parts = path.relative_to(HERE).parts if path.is_relative_to(HERE) else ()
    names = ("/".join(parts[:length]) for length in range(len(parts), -1, -1))
    return next(IS_THOROUGH[name] for name in names if name in IS_THOROUGH)
