"""Thirty defects of one line, over all layers: does a test fail for each of them?

    .venv/bin/python -m bench.breaks [--only words] [--with "make test"]

Run it after tests were merged, shortened or removed. Each defect is made in a copy of the checkout,
in which the tests named beside it run, or the command of --with ("{tests}" in it stands for them).
Prints a line per defect and exits with 1 if one passed unseen, or if the line to break is no longer
there.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
_LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "*_cache", "__pycache__", "node_modules")


class Break(NamedTuple):
    """A line that stands once in a file, what it becomes, and the tests that should fail."""

    file: str
    line: str
    broken: str
    tests: str


BREAKS = (
    # domain
    Break(
        "app/domain/pairs/sorters/insertion.py",
        "return middle + 1",
        "return middle",
        "tests/domain/test_sorting.py",
    ),
    Break(
        "app/domain/pairs/sorters/insertion.py",
        "while low < high:",
        "while low < high - 1:",
        "tests/domain/test_sorting.py",
    ),
    Break("app/domain/log.py", "self.undone.clear()", "pass", "tests/domain/test_session.py"),
    Break(
        "app/domain/log.py",
        "list(self.done), list(self.undone)",
        "self.done, self.undone",
        "tests/domain/test_forks.py tests/services/test_peek.py",
    ),
    Break(
        "app/domain/grades/session.py",
        "if UNJUDGEABLE in self.grades:",
        "if False:",
        "tests/domain/test_sessions.py",
    ),
    Break(
        "app/domain/assignment/rotation.py",
        "return assessors // tools if tools else 0",
        "return assessors // tools + 1 if tools else 0",
        "tests/domain/test_rotation.py",
    ),
    Break(
        "app/domain/text/highlighting.py",
        "(?:{'|'.join(ends)})\", re.IGNORECASE)",
        "(?:{'|'.join(ends)})\")",
        "tests/domain/test_marking.py",
    ),
    # database
    Break(
        "app/db/engine.py",
        "'ON' if foreign_keys else 'OFF'",
        "'OFF'",
        "tests/db/test_engine.py",
    ),
    Break(
        "app/services/accounts/tokens.py",
        ", ApiToken.revoked_at.is_(None))",
        ")",
        "tests/services/test_accounts.py tests/web/test_api_account.py tests/web/test_people.py",
    ),
    # services
    Break(
        "app/services/accounts/tokens.py",
        "and token.expires_at <= now():",
        "and False:",
        "tests/services/test_accounts.py tests/web/test_api_account.py",
    ),
    Break(
        "app/services/accounts/throttling.py",
        "recent = {a for a in stored | own if",
        "recent = {a for a in own if",
        "tests/services/test_sign_in.py tests/web/test_sign_in.py",
    ),
    Break(
        "app/services/assignments/bulk.py",
        "if row.finished_at is None or row.withdrawn_at is not None:",
        "if row.withdrawn_at is not None:",
        "tests/services/test_voiding.py",
    ),
    Break(
        "app/services/judging/labeling.py",
        "if submission.position == current.session.length:",
        "if submission.position >= current.session.length:",
        "tests/services/test_labeling.py tests/web/test_api_judging.py",
    ),
    Break(
        "app/services/backups/reading.py",
        'if manifest["revision"] != revision:',
        "if False:",
        "tests/services/test_backups.py tests/services/test_backup_damage.py",
    ),
    Break(
        "app/services/results/exports/dataset.py",
        "assessor=None, pseudonyms=True,",
        "assessor=None, pseudonyms=False,",
        "tests/services/test_formats_by_their_tools.py tests/services/test_exports.py",
    ),
    # web
    Break(
        "app/web/access/deps.py",
        "not cookies_of(request).csrf_is_valid(nonce, sent):",
        "False:",
        "tests/web/test_sign_in.py tests/web/test_labeling.py",
    ),
    Break(
        "app/web/common/cookies.py",
        "if not -CLOCK_AHEAD <= at - issued <= self._lifetime or at - began > self._longest:",
        "if at - began > self._longest:",
        "tests/web/test_sign_in.py tests/web/test_clock_skew.py",
    ),
    Break(
        "app/web/server/headers.py",
        '"X-Content-Type-Options": "nosniff",',
        "",
        "tests/web/test_pages.py tests/web/test_errors.py tests/web/test_health.py",
    ),
    Break(
        "app/web/pages/page_links.py",
        "if left <= -CLOCK_SKEW:",
        "if False:",
        "tests/web/test_page_links.py",
    ),
    # command line
    Break(
        "app/cli/failures.py",
        'getattr(error, "exit_code", 2)',
        "1",
        "tests/cli/test_commands.py tests/cli/test_help.py",
    ),
    Break("app/cli/failures.py", "if as_json:", "if False:", "tests/cli/test_help.py"),
    # analysis
    Break(
        "analysis/metrics/dcg.py",
        "np.arange(2, depth + 2)",
        "np.arange(3, depth + 3)",
        "tests/analysis/test_measures.py",
    ),
    Break(
        "analysis/metrics/dcg.py",
        "np.exp2(labels - top[:, None]) - np.exp2(-top)[:, None]",
        "np.exp2(labels - top[:, None])",
        "tests/analysis/test_measures.py",
    ),
    Break(
        "analysis/agreement/coefficients.py",
        "chance = (shares.sum(axis=-1) * shares.sum(axis=-2)).sum(axis=-1)",
        "chance = (shares.sum(axis=-1) ** 2).sum(axis=-1)",
        "tests/analysis/agreement/test_coefficients.py",
    ),
    Break(
        "analysis/voting.py",
        "votes += weight * (row[:, None] > row[None, :])",
        "votes += row[:, None] > row[None, :]",
        "tests/analysis/aggregation src/topkapi/analysis/voting.py",
    ),
    Break(
        "analysis/models/listmle.py",
        "counted &= labels[block.rows] > 0",
        "pass",
        "tests/analysis/test_losses.py tests/analysis/test_ranker_contract.py -k listmle",
    ),
    Break(
        "analysis/agreement/reliability/rates.py",
        "1 / np.sqrt(precision)",
        "0.2 / np.sqrt(precision)",
        "tests/analysis/agreement/test_reliability.py",
    ),
    Break(
        "analysis/agreement/reliability/answers.py",
        "return max(1.0, float(seen / expected)) * float(wider) ** 2",
        "return 0.25",
        "tests/analysis/agreement/test_reliability.py",
    ),
    Break(
        "analysis/data/exports/umbrela.py",
        '"judgment": each.label}',
        '"judgment": each.label + 1}',
        "tests/analysis/test_exports.py",
    ),
    # pages
    Break(
        "static/js/screen/divider.js",
        "ArrowLeft: -STEP, ArrowRight: STEP",
        "ArrowLeft: STEP, ArrowRight: -STEP",
        "tests/browser/test_reading.py -k divider",
    ),
)


def is_caught(defect: Break, command: str) -> bool:
    """Make the defect in a copy of the checkout; return whether the command or a test fails."""
    with TemporaryDirectory() as folder:
        copy = Path(folder, "checkout")
        shutil.copytree(ROOT, copy, symlinks=True, ignore=_LEFT_OUT)
        (copy / ".venv").symlink_to(ROOT / ".venv")
        path = copy / defect.file
        path.write_text(path.read_text().replace(defect.line, defect.broken))
        if command:
            code = _ended(copy, shlex.split(command.format(tests=defect.tests)))
            return code not in (0, 4, 5)  # pytest: passed, or no such tests
        tests = [sys.executable, "-m", "pytest", *defect.tests.split()]
        return _ended(copy, tests) == 1  # not 4 or 5: no such tests


def _ended(copy: Path, command: Sequence[str]) -> int:
    """Run a command in the copy, up to the first failure; return its exit code."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}",
        "PYTEST_ADDOPTS": "-x",
        "MYPY_CACHE_DIR": str(ROOT / ".mypy_cache"),
    }
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, check=False)
    return done.returncode


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="part of the name of the files to break")
    parser.add_argument("--with", dest="command", default="", help="command that should fail")
    options = parser.parse_args()
    unseen = 0
    for number, defect in enumerate(BREAKS, 1):
        if options.only not in defect.file:
            continue
        once = (ROOT / defect.file).read_text().count(defect.line) == 1
        caught = once and is_caught(defect, options.command)
        verdict = "caught" if caught else "UNSEEN" if once else "no longer there"
        unseen += verdict != "caught"
        print(f"{number:2} {verdict:8} {defect.file}: {defect.broken.strip()}", flush=True)
    sys.exit(unseen > 0)


if __name__ == "__main__":
    main()
