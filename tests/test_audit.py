import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOUND = {"name": "httpx", "version": "1", "vulns": []}
SKIPPED = {"name": "httpx", "skip_reason": "not found"}
WEAK = {
    "name": "jinja2",
    "version": "2",
    "vulns": [{"id": "PYSEC-1", "fix_versions": ["3"], "aliases": [], "description": ""}],
}
NPM_SOUND = {"vulnerabilities": {}, "metadata": {"dependencies": {"total": 1}}}
NPM_WEAK = {
    "vulnerabilities": {"htmx.org": {"range": "<3", "severity": "high"}},
    "metadata": {"dependencies": {"total": 1}},
}
NPM_REFUSED = {"error": {"summary": "the endpoint returned an error"}}


def tool(folder: Path, name: str, reply: object) -> str:
    """Create a fake program that prints ``reply``."""
    path = folder / name
    path.write_text(f"#!/bin/sh\ncat <<'E'\n{json.dumps(reply)}\nE\n")
    path.chmod(0o755)
    return str(path)


def audit(pip_audit: str, npm: str) -> tuple[int, list[str]]:
    command = [sys.executable, ".ci/audit", pip_audit, npm]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.returncode, done.stdout.splitlines()


def test_what_is_sound_passes(tmp_path: Path) -> None:
    python = tool(tmp_path, "pip-audit", {"dependencies": [SOUND, SKIPPED]})
    code, lines = audit(python, tool(tmp_path, "npm", NPM_SOUND))
    assert code == 0
    assert lines[0].endswith("1 packages audited (1 could not be audited), 0 known vulnerabilities")
    assert lines[2] == "package-lock.json: 1 packages audited, 0 known vulnerabilities"


@pytest.mark.parametrize("where", ["pip-audit", "npm"])
def test_a_known_vulnerability_fails_and_is_named(tmp_path: Path, where: str) -> None:
    python = tool(
        tmp_path, "pip-audit", {"dependencies": [WEAK if where == "pip-audit" else SOUND]}
    )
    code, lines = audit(python, tool(tmp_path, "npm", NPM_WEAK if where == "npm" else NPM_SOUND))
    assert code == 1
    named = "jinja2 2: PYSEC-1, fixed in 3" if where == "pip-audit" else "htmx.org <3: high"
    assert f"  {named}" in lines


def test_silence_of_the_registries_is_said_and_is_no_success(tmp_path: Path) -> None:
    python = tool(tmp_path, "pip-audit", {"dependencies": [SKIPPED, SKIPPED]})
    for programs in (
        (python, tool(tmp_path, "npm", NPM_REFUSED)),
        (str(tmp_path / "none"), str(tmp_path / "nothing")),
    ):
        code, lines = audit(*programs)
        assert code == 2
        assert len(lines) == 3
        assert all(line.endswith("NOT AUDITED, no registry answered") for line in lines)
