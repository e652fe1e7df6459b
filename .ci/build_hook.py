"""Fetch the browser assets before a build: they are not committed, and no page works without them.

`pip install .` and `python -m build` run it in a bare clone; an sdist contains the assets.
"""

import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ASSET = "static/vendor/htmx.min.js"


class BrowserAssets(BuildHookInterface[Any]):
    """Fills ``static/vendor``, or ends the build."""

    def dependencies(self) -> list[str]:
        """Return the package that brings npm, if it is needed and not on this machine."""
        if self._is_complete() or shutil.which("npm"):
            return []
        pinned = Path(self.root, ".ci/requirements-node.lock").read_text().split()
        return [word for word in pinned if "==" in word]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 (of the backend)
        """Fetch the assets if they are missing; say what to do if that is impossible."""
        if self._is_complete():
            return
        command = ["bash", ".ci/fetch-assets"]
        done = subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False)
        if done.returncode or not self._is_complete():
            reason = " ".join(done.stderr.split()) or f"npm ended with {done.returncode}"
            raise SystemExit(
                f"topkapi: {ASSET} is missing and could not be fetched with npm ({reason}). "
                "Nothing was built, because no page works without it: check the connection to the "
                "npm registry, or copy the file there from another checkout."
            )

    def _is_complete(self) -> bool:
        return Path(self.root, ASSET).is_file()
