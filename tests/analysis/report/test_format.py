"""The keys of ``report.json`` and their order, which other programs rely on."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.simulated_study import simulated_study
from topkapi.analysis.report import Options, build_report
from topkapi.analysis.report.serialise import to_json

KEYS = Path(__file__).parent / "report_keys.txt"


def paths(value: Any, prefix: str = "") -> Iterator[str]:
    """Yield the path of every key once, in order; lists are written as ``[]``."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield f"{prefix}.{key}"
            yield from paths(each, f"{prefix}.{key}")
    elif isinstance(value, list):
        for each in value:
            yield from paths(each, f"{prefix}[]")


def test_keys_and_their_order_are_kept() -> None:
    study = simulated_study([0.02, 0.1, 0.2, 0.1, 0.05], queries=40, documents=15)
    report = build_report(study, Options(draws=100, exchanges=199))
    found = dict.fromkeys(paths(json.loads(to_json(report))))
    assert list(found) == KEYS.read_text(encoding="utf-8").splitlines()
