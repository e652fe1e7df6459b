"""Databases of every released schema continue open sessions at the same question."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from tests.clients import open_client
from tests.databases import transaction_on
from tests.judging import Job
from tests.upgrades.dumps import STORED, fill, read_dump
from tests.upgrades.store import body_for, open_question
from topkapi.app.config import Settings
from topkapi.app.db import migrations
from topkapi.app.db.engine import make_engine
from topkapi.app.db.models import Assignment
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.lists.plan import hidden_name
from topkapi.app.domain.plan_digest import plan_digest
from topkapi.app.main import create_app

RELEASED = sorted(STORED.glob("*.json.gz"))
Expected = list[dict[str, Any]]


def stored(url: str, path: Path) -> tuple[str, Expected]:
    """Fill the database with the dump; return its revision and the open questions."""
    dump = read_dump(path)
    revision: str = dump["revision"]
    migrations.upgrade(url, revision)
    engine = make_engine(url)
    fill(engine, dump["tables"])
    engine.dispose()
    return revision, dump["expected"]


def look(url: str, folder: Path, expected: Expected, *, answer: bool = False) -> Expected:
    """Return the state of every session in a fresh app, optionally after one more answer."""
    settings = Settings(
        database_url=url, secret_file=folder / "secret", upload_dir=folder, _env_file=None
    )
    found: Expected = []
    with open_client(create_app(settings)) as client:
        for each in expected:
            job = Job(each["assignment"], each["token"])
            state = client.get(job.url, headers=job.headers).json()
            if answer and state["state"] == "asking":
                reply = client.post(
                    f"{job.url}/judgments", headers=job.headers, json=body_for(state)
                )
                assert reply.status_code == 200, reply.text
                state = reply.json()
            ids = {"assignment": job.assignment_id, "token": job.token}
            found.append({**ids, **open_question(state)})
    return revealed(url, found)


def revealed(url: str, found: Expected) -> Expected:
    """Return the states with systems instead of the names that hide them from assessors."""
    text = json.dumps(found)
    with transaction_on(url) as session:
        plans = session.scalars(select(Assignment.plan).where(Assignment.tool == Tool.LISTS)).all()
    for plan in plans:
        for each in plan["lists"]:
            text = text.replace(hidden_name(plan["seed"], each["system"]), each["system"])
    states: Expected = json.loads(text)
    return states


def digests_agree(url: str) -> bool:
    """Return whether every stored digest matches its plan."""
    with transaction_on(url) as session:
        rows = session.execute(select(Assignment.plan, Assignment.plan_digest)).all()
    return all(plan_digest(plan) == digest for plan, digest in rows)


def test_a_schema_is_stored() -> None:
    assert RELEASED


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: path.name.split(".")[0])
def test_sessions_go_on_through_upgrade_and_downgrade(
    empty_database_url: str, tmp_path: Path, path: Path
) -> None:
    url = empty_database_url
    revision, expected = stored(url, path)
    migrations.upgrade(url)
    expected = revealed(url, expected)  # a later release stores the hidden names
    assert look(url, tmp_path, expected) == expected
    migrations.downgrade(url, revision)
    migrations.upgrade(url)
    assert look(url, tmp_path, expected) == expected
    assert digests_agree(url)

    answered = look(url, tmp_path, expected, answer=True)
    moved = [
        after["position"] - before["position"]
        for after, before in zip(answered, expected, strict=True)
    ]
    assert moved == [0 if each["result"] else 1 for each in expected]
    migrations.downgrade(url, revision)
    migrations.upgrade(url)
    assert look(url, tmp_path, expected) == answered
