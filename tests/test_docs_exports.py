"""The examples of docs/exports.md can be read by the readers of exports."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cases import each_case
from tests.exporting import writable_exports
from topkapi.analysis.data import (
    read_confidence,
    read_consensus,
    read_judgments,
    read_letor_export,
    read_list_answers,
    read_pairs,
    read_preferences,
    read_qrels,
    read_reliability,
    read_timers,
    read_topk,
)
from topkapi.analysis.data.exports import read_umbrela

TEXT = (Path(__file__).parent.parent / "docs" / "exports.md").read_text()
READERS: dict[str, Callable[[Path], Any]] = {
    "topk.jsonl": read_topk,
    "consensus.jsonl": read_consensus,
    "confidence.jsonl": read_confidence,
    "reliability.jsonl": read_reliability,
    "grades.qrels": read_qrels,
    "judgments.jsonl": read_judgments,
    "pairs.tsv": read_pairs,
    "umbrela.jsonl": read_umbrela,
    "lists.jsonl": read_list_answers,
    "timers.csv": read_timers,
    "preferences.jsonl": read_preferences,
}


def blocks(heading: str) -> list[str]:
    """Return the example files under a heading."""
    section = TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"```(?:json)?\n(.*?)```", section, re.DOTALL)


def test_every_format_is_described() -> None:
    for name in writable_exports():
        assert f"| `{name}` |" in TEXT


@each_case("name", READERS)
def test_the_example_of_a_format_is_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(blocks(name)[0])
    assert len(READERS[name](path)) == 1


def test_the_examples_of_labels_are_read(tmp_path: Path) -> None:
    qrels, letor = blocks("qrels and letor")[:2]
    path = tmp_path / "labels"
    path.write_text(qrels)
    assert [each.label for each in read_qrels(path)] == [5, 4]
    path.write_text(letor)
    assert read_letor_export(path, topk=5).query_ids == ("bread",)
