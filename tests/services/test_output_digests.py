"""Every export and the report of the demo, loaded at a fixed time, have the recorded bytes.

Numbers of the report are compared to nine decimal places: processors add in different orders.

After an intended change of format, record the digests again:

    RECORD_DIGESTS=1 .venv/bin/pytest tests/services/test_output_digests.py
"""

import hashlib
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from topkapi.app.db.engine import Sessions
from topkapi.app.services.demo import load_demo
from topkapi.app.services.results.exports import EXPORTS, StudySource, export_session, open_export
from topkapi.app.services.results.reports.forms import as_json
from topkapi.app.services.results.reports.service import make_report

pytestmark = pytest.mark.both

AT = datetime(2026, 11, 20, 12, tzinfo=UTC)
RECORDED = Path(__file__).parent / "output_digests.json"
LEFT_OUT = {"letor"}  # the demo has no features to join labels with
LEFT_OUT |= {"topk.parquet", "judgments.parquet", "pairs.parquet"}  # they name pyarrow's version
LEFT_OUT |= {"dataset"}  # compressed by zlib, whose versions differ


def test_exports_and_report_of_the_demo_have_the_recorded_bytes(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        slug = load_demo(session, at=AT).slug
    found = dict(_digests(sessions, slug))
    if os.environ.get("RECORD_DIGESTS"):
        RECORDED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    assert found == json.loads(RECORDED.read_text(encoding="utf-8"))


def _digests(sessions: Sessions, slug: str) -> Iterator[tuple[str, str]]:
    for name in EXPORTS:
        if name not in LEFT_OUT:
            with export_session(sessions) as session:
                yield name, _digest(b"".join(open_export(session, slug, name).chunks))
    with export_session(sessions) as session:
        report = json.loads(as_json(make_report(StudySource(session, slug))), parse_float=_nine)
        yield "report.json", _digest(json.dumps(report, ensure_ascii=False).encode())


def _nine(number: str) -> float:
    return round(float(number), 9)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
