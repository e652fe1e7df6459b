"""The API conforms to its OpenAPI description: no 500, nothing undocumented, valid schemas."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
import requests
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from sqlalchemy import select

from tests.clients import open_client
from tests.crowds import make_link
from tests.factories import BOTH, make_study, make_user
from tests.live import LiveServer
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, Flag
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.domain.training.practice import PracticeQuestion
from topkapi.app.services.accounts import tokens
from topkapi.app.services.assignments import rotation
from topkapi.app.services.jobs.store import queue_job
from topkapi.app.services.results.systems.runs import add_runs, read_runs
from topkapi.app.services.training import practice

EXAMPLES = 6  # per operation and kind of data
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
_CASES: dict[GenerationMode, list[Any]] = {}
GUIDE = Path(__file__).parents[2] / "docs" / "api.md"


@dataclass(frozen=True)
class Stage:
    """Tokens by role, and existing ids for the parameters of paths."""

    tokens: dict[str, str]
    there: dict[str, object]


@pytest.fixture
def stage(sessions: Sessions) -> Stage:
    """Create a study with assignments, and people of every role."""
    with sessions.write.begin() as session:
        people = {role: make_user(session, role=role) for role in Role}
        study = make_study(session, slug="tulips", queries=4, documents=5, k=2, tools=BOTH)
        others = [make_user(session) for _ in range(3)]
        judges = [people[Role.ASSESSOR], *others]
        made = rotation.assign_rotation(session, study, [user.id for user in judges], rounds=1)
        row, _ = tokens.issue_token(session, others[0], "another")
        mine = next(each.id for each in made if each.user_id == people[Role.ASSESSOR].id)
        question = PracticeQuestion(
            Tool.PAIRS, "tulips", "", ("q0-d0",), ("q0-d1",), ("left",), "It helps."
        )
        item = practice.add_question(session, study, question)
        flag = Flag(assignment_id=mine, position=0, shown=["q0-d0", "q0-d1"], reason="Broken.")
        session.add(flag)
        session.flush()
        job = queue_job(session, study, "confidence", {})
        link, _ = make_link(session, study)
        run = add_runs(session, study, read_runs([("run", b"q0 Q0 q0-d0 1 1 bm25")]))[0]
        return Stage(
            {role.value: tokens.issue_token(session, people[role], "test")[1] for role in Role},
            {
                "slug": "tulips",
                "format": "judgments.jsonl",
                "assignment_id": mine,
                "user_id": others[0].id,
                "token_id": row.id,
                "item_id": item.id,
                "flag_id": flag.id,
                "run_id": run.id,
                "job_id": job.id,
                "link_id": link.id,
            },
        )


def operations(app: FastAPI) -> Iterator[Any]:
    """Yield every operation in the description."""
    for found in schemathesis.openapi.from_dict(app.openapi()).get_all_operations():
        assert isinstance(found, Ok), found
        yield found.ok()


def cases(app: FastAPI, mode: GenerationMode) -> list[Any]:
    """Return requests for every operation, drawn once per kind of data.

    Drawing takes most of the time, and depends neither on the database nor on the role.
    """
    if mode not in _CASES:
        drawn: list[Any] = []
        for operation in operations(app):
            _draw(operation.as_strategy(generation_mode=mode, **_fixed(operation, mode)), drawn)
        _CASES[mode] = drawn
    return _CASES[mode]


def _draw(strategy: Any, drawn: list[Any]) -> None:
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def keep(case: Any) -> None:
        drawn.append(case)

    keep()


def _fixed(operation: Any, mode: GenerationMode) -> dict[str, Any]:
    """Return path parameters to be replaced by existing ids for valid data, none for invalid."""
    names = re.findall(r"{(\w+)}", operation.path)
    if mode is GenerationMode.NEGATIVE or not names:
        return {}
    return {"path_parameters": dict.fromkeys(names, "existing")}


@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize("role", [Role.ADMIN, Role.ASSESSOR])
def test_the_api_keeps_to_its_description(
    app: FastAPI, stage: Stage, role: Role, mode: GenerationMode
) -> None:
    asked = set()
    with open_client(app) as client:
        for case in cases(app, mode):
            if mode is GenerationMode.POSITIVE:
                case.path_parameters = {name: stage.there[name] for name in case.path_parameters}
            case.validate_response(send(client, case, stage.tokens[role]), checks=CHECKS)
            asked.add(case.operation.label)
    assert len(asked) > 30


def send(client: httpx.Client, case: Any, token: str) -> httpx.Response:
    """Send the request of ``case`` with our own client."""
    given = case.as_transport_kwargs(base_url="http://localhost")
    names = ("method", "url", "headers", "params", "data", "json", "files")
    made = requests.Request(**{name: given[name] for name in names if name in given}).prepare()
    headers = {str(name): str(value) for name, value in made.headers.items()}
    headers["Authorization"] = f"Bearer {token}"
    assert made.method is not None
    reply = client.request(
        made.method, made.url or "", content=cast(Any, made.body), headers=headers
    )
    reply.elapsed = timedelta(0)  # our transport measures no time, but the checks read it
    return reply


def test_a_generated_client_finds_names_and_refusals(app: FastAPI) -> None:
    description = app.openapi()
    names = [operation.definition.raw["operationId"] for operation in operations(app)]
    assert len(set(names)) == len(names)
    for operation in operations(app):
        responses = operation.definition.raw["responses"]
        assert {"401", "403", "404", "422"} <= set(responses), operation.label
        assert "application/problem+json" in responses["422"]["content"]
        assert operation.definition.raw["security"], operation.label
    assert "Problem" in description["components"]["schemas"]


def test_the_program_in_the_guide_judges_to_the_end(
    sessions: Sessions, live_server: LiveServer, stage: Stage, tmp_path: Path
) -> None:
    found = re.search(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert found
    program = found.group(1)
    assert len(program.splitlines()) <= 40
    path = tmp_path / "assessor.py"
    path.write_text(program)
    command = [sys.executable, str(path), live_server.url, stage.tokens["assessor"]]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    with sessions.read() as session:
        owner = session.get_one(Assignment, stage.there["assignment_id"]).user_id
        rows = session.scalars(select(Assignment).where(Assignment.user_id == owner)).all()
    assert len(done.stdout.splitlines()) == len(rows) == 2
    assert {row.tool for row in rows} == {Tool.PAIRS, Tool.GRADES}
    assert all(row.finished_at for row in rows)
