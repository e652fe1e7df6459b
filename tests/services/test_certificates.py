"""Certificates of a study's machines, bound to model, prompt, data and program."""

from pathlib import Path

import pytest
from fastapi import FastAPI
from httpx import Client
from sqlalchemy import select

from tests.chat_endpoint import ChatEndpoint, serving_chat
from tests.commands import Command
from tests.exporting import by_worth, judge
from tests.factories import make_assignment, make_user, queries_of, sign_in
from tests.ranked import make_ranked_study
from tests.services.test_machine_reports import by_number
from tests.services.test_machines import result_of, run
from topkapi import __version__
from topkapi.analysis.machines import Certificate
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Study
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.domain.errors import Conflict, Invalid
from topkapi.app.domain.machines.prompts import BUILT_IN
from topkapi.app.services.machines.certificates import Certificates
from topkapi.app.services.machines.prompts import save_prompt
from topkapi.app.services.results.exports import export_session

SLUG = "certified"


def judged_by_people(sessions: Sessions, queries: int = 6) -> None:
    with sessions.write.begin() as session:
        study = make_ranked_study(session, slug=SLUG, queries=queries, documents=5, k=2)
        people = [make_user(session) for _ in range(3)]
        for query in queries_of(session, study):
            for number, user in enumerate(people):
                work = make_assignment(session, user=user, query=query, k=2)
                judge(session, work, person=by_number if number else by_worth)


def judged_by_machine(sessions: Sessions, name: str) -> None:
    with serving_chat(ChatEndpoint()) as endpoint:
        result_of(run(sessions, SLUG, endpoint, tools=["pairs"], model="fake", name=name))


def issued(sessions: Sessions, machine: str, **options: float) -> Certificate:
    with export_session(sessions) as session:
        return Certificates(session, SLUG).issue(machine, Tool.PAIRS, **options)


@pytest.mark.thorough
def test_a_certificate_is_bound_to_what_was_tested(
    sessions: Sessions,
    app: FastAPI,
    client: Client,
    tmp_path: Path,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
    topkapi: Command,
) -> None:
    judged_by_people(sessions)
    judged_by_machine(sessions, "first")
    found = issued(sessions, "first")
    assert (found.people, found.queries, found.question) == (3, 6, "pairs")
    assert found.model == "fake (fake-2026-11-01)"
    assert found.prompt.startswith("pairs built in, sha256:")
    assert found.program == f"topkapi {__version__}"
    assert issued(sessions, "first") == found
    assert issued(sessions, "first", epsilon=0.2).test.epsilon == 0.2

    with sessions.write.begin() as session:
        admin = make_user(session, role=Role.ADMIN)
    sign_in(app, client, admin)
    for address in ("/people", f"/studies/{SLUG}/work?state=finished"):
        assert 'badge--accent">machine<' in client.get(address).text
    page = client.get(f"/studies/{SLUG}/certificate").text
    for shown in (found.verdict, found.model, found.data, *found.limits):
        assert shown in page
    options = {"machine": "first", "tool": "pairs"}
    served = client.get(f"/studies/{SLUG}/certificate.json", params=options)
    assert served.headers["content-disposition"].endswith('certified-pairs-certificate.json"')
    assert served.text == found.to_json()
    assert "Certificate of a machine" in client.get(f"/studies/{SLUG}/report").text
    file = tmp_path / "certificate.json"
    with monkeypatch.context() as environment:
        environment.setenv("TOPKAPI_DATABASE_URL", database_url)
        command = ["machine", "certificate", SLUG, "first", "--out", str(file)]
        assert topkapi(*command)[0] == 0
    assert file.read_text() == found.to_json()

    with sessions.write.begin() as session:
        study = session.scalars(select(Study)).one()
        save_prompt(session, study, Tool.PAIRS, BUILT_IN[Tool.PAIRS] + "Think.\n")
    judged_by_machine(sessions, "second")
    second = issued(sessions, "second")
    assert second.prompt.startswith("pairs version 1, sha256:")
    assert second.data == found.data, "the same labels of people and machine"
    assert issued(sessions, "first") == found, "other machines are no part of it"


@pytest.mark.thorough
def test_what_cannot_be_compared_gets_no_certificate(sessions: Sessions) -> None:
    judged_by_people(sessions, queries=2)
    with pytest.raises(Invalid, match="there is: none yet"):
        issued(sessions, "fake")
    judged_by_machine(sessions, "fake")
    with pytest.raises(Invalid, match=r"there is: fake \(pairs\)"):
        issued(sessions, "other")
    with pytest.raises(Conflict, match="at least 5 queries"):
        issued(sessions, "fake")
