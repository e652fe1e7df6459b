"""The command line, run within a test."""

from collections.abc import Sequence

import pytest

from topkapi.app.cli import main


def run_command(
    capsys: pytest.CaptureFixture[str], arguments: Sequence[str]
) -> tuple[int, str, str]:
    """Run `topkapi` with ``arguments``; return exit code, standard output and standard error."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    out, err = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, out, err
