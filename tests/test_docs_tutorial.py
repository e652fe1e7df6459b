"""The commands of docs/tutorial.md print what the tutorial shows."""

import re
import shlex
from itertools import zip_longest
from pathlib import Path

import pytest

from topkapi.analysis.data.text_features import NAMES
from topkapi.app.cli import main

TEXT = (Path(__file__).parent.parent / "docs" / "tutorial.md").read_text(encoding="utf-8")
CLOSE = 0.02  # other linear algebra may settle a near tie another way


def sessions() -> list[tuple[str, str]]:
    """Return every command of the tutorial with its printed output."""
    blocks = "\n".join(re.findall(r"```console\n(.*?)\n```", TEXT, re.DOTALL))
    parts = re.split(r"^\$ (.+)$", blocks, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def differs(expected: str, found: str) -> bool:
    """Return whether two words are neither equal nor nearly equal decimal numbers."""
    if expected == found:
        return False
    numbers = [re.fullmatch(r"[*(]*(\d*\.\d+)\)?", word) for word in (expected, found)]
    if numbers[0] is None or numbers[1] is None:
        return True
    return abs(float(numbers[0][1]) - float(numbers[1][1])) > CLOSE


def compared(text: str) -> list[str]:
    """Return the words of an output, without its table of seconds."""
    return text.partition("Seconds per fold")[0].split()


def test_the_commands_of_the_tutorial_print_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(sessions()) >= 8
    for command, expected in sessions():
        program, *arguments = shlex.split(command)
        assert program == "topkapi"
        with pytest.raises(SystemExit):
            main(arguments)
        captured = capsys.readouterr()
        found = captured.err + captured.out
        pairs = zip_longest(compared(expected), compared(found), fillvalue="(nothing)")
        wrong = [f"{old} is now {new}" for old, new in pairs if differs(old, new)]
        assert not wrong, f"{command}: {wrong[:5]}\n{found}"
    for name in ("qrels.txt", "consensus.jsonl", "run.txt", "model.json", "report/report.html"):
        assert (tmp_path / name).stat().st_size > 0
    for ending in ("txt", "csv", "md", "tex", "html", "jsonl"):
        assert (tmp_path / "results" / f"compare-everyday-questions.{ending}").exists()


def test_the_features_from_words_are_named() -> None:
    assert [line[2:] for line in TEXT.splitlines() if line.startswith("- ")] == list(NAMES)
