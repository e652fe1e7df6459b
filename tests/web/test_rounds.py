"""Wherever a program reads rounds, `round` counts from 0 and `round_number` from 1."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from zipfile import ZipFile

import pytest
from fastapi import FastAPI
from sqlalchemy import select

from tests.exporting import judge, make_judged_study
from tests.factories import make_assignment, make_user, queries_of
from tests.ranked import compare_lists
from topkapi.analysis.data.exports import ConfidenceList
from topkapi.analysis.report.serialise import record_of
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import User
from topkapi.app.services.accounts.own_data import own_data
from topkapi.app.services.results.exports import EXPORTS, export_session, open_export
from topkapi.app.services.results.reports.confidence import list_confidence

PERSON = "eve@tulips.example"
WITH_ROUNDS = {
    *("topk.jsonl", "topk.parquet", "confidence.jsonl", "judgments.jsonl", "judgments.parquet"),
    *("lists.jsonl", "timers.csv", "dataset"),
}


@pytest.fixture
def judged(sessions: Sessions) -> Sessions:
    """Return a database with a study in which Eve judges a query in rounds 0 and 1."""
    with sessions.write.begin() as session:
        study = make_judged_study(session)
        user = make_user(session, email=PERSON)
        for number in (0, 1):
            query = queries_of(session, study)[number]
            judge(session, make_assignment(session, user=user, query=query, round=number))
        compare_lists(session, "tulips", PERSON)
    return sessions


@pytest.mark.thorough
def test_every_export_with_rounds_has_both_counts(judged: Sessions) -> None:
    found = {}
    with export_session(judged) as session:
        for name in EXPORTS:
            content = b"".join(open_export(session, "tulips", name).chunks)
            found[name] = [pair for row in rows_of(name, content) for pair in rounds_in(row)]
    assert {name for name, pairs in found.items() if pairs} == WITH_ROUNDS
    assert {pair for pairs in found.values() for pair in pairs} == {(0, 1), (1, 2)}


def rows_of(name: str, content: bytes) -> list[Any]:
    """Return the rows of an export as dictionaries; nothing for formats that have no columns."""
    if name.endswith(".parquet"):
        from pyarrow import parquet

        return list(parquet.read_table(io.BytesIO(content)).to_pylist())
    if name == "dataset":
        archive = ZipFile(io.BytesIO(content))
        return [row for each in archive.namelist() for row in rows_of(each, archive.read(each))]
    if name.endswith((".csv", ".tsv")):
        separator = "," if name.endswith(".csv") else "\t"
        return list(csv.DictReader(io.StringIO(content.decode()), delimiter=separator))
    return [json.loads(line) for line in content.splitlines()] if name.endswith(".jsonl") else []


def rounds_in(row: dict[str, Any]) -> Iterator[tuple[int, int]]:
    if "round" in row:
        yield int(row["round"]), int(row["round_number"])


@pytest.mark.thorough
def test_every_answer_of_the_api_with_rounds_has_both_counts(app: FastAPI) -> None:
    schemas = app.openapi()["components"]["schemas"]
    bodies = {name for name in schemas if name.endswith("In")}
    with_rounds = {
        name
        for name, schema in schemas.items()
        if "round" in schema.get("properties", {}) and name not in bodies
    }
    assert with_rounds == {"StudyAssignment", "NamedWork", "ShiftOut", "AssignmentSummary"}
    for name in with_rounds:
        assert "round_number" in schemas[name]["properties"], name


def test_own_data_and_the_report_have_both_counts(judged: Sessions) -> None:
    with judged.read() as session:
        user = session.scalars(select(User).where(User.email == PERSON)).one()
        data = json.loads("".join(own_data(session, user)))
    pairs = [pair for work in data["assignments"] for pair in rounds_in(work)]
    assert sorted(pairs) == [(0, 1), (0, 1), (1, 2)]
    with export_session(judged) as session:
        lines = b"".join(open_export(session, "tulips", "confidence.jsonl").chunks).splitlines()
    found = json.loads(lines[0])
    del found["round_number"]
    row = list_confidence(replace(ConfidenceList(**found), round=3), PERSON)
    assert list(rounds_in(record_of(row))) == [(3, 4)]
