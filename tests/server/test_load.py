"""A small run of the load benchmark; its measurements are not tested."""

from pathlib import Path

import pytest

from bench.load import Setting, measure


@pytest.mark.server
@pytest.mark.parametrize("way", ["browser", "api"])
def test_virtual_assessors_judge(sqlite_url: str, tmp_path: Path, way: str) -> None:
    setting = Setting("sqlite", 1, 3, 0.01, way, seconds=1.0, page_bytes=500, clients=1)
    line = measure(setting, sqlite_url, tmp_path)
    assert set(line["statuses"]) == {"200"}
    assert line["errors"] == 0
    assert line["answers_per_second"] > 0
    assert bool(line["pages"]) is (way == "browser")
