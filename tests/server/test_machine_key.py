"""The key of a model is in no log, table, export or page, even if the endpoint repeats it."""

import json
from base64 import b64encode
from pathlib import Path
from urllib.parse import quote

import pytest
from sqlalchemy import select

from tests.browser.assigned_work import Site
from tests.chat_endpoint import ChatEndpoint, Fault, completion, serving_chat
from tests.clients import connect
from tests.commands import Command
from tests.factories import make_user
from tests.live import FORKER, serving
from tests.ranked import make_ranked_study
from tests.services.test_machines import ALL, everything
from tests.waiting import until
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Job, MachineCall, User
from topkapi.app.db.queries.studies.studies import required_study
from topkapi.app.domain.enums import JobState, Role
from topkapi.app.domain.errors import AppError
from topkapi.app.services.jobs import store
from topkapi.app.services.machines.terms import Terms
from topkapi.app.services.results.exports import EXPORTS, ExportOptions, open_export

SLUG = "ranked"
KEY = 'sk-secret/of+the"test'
IN_BASE64 = b64encode(f"user:{KEY}".encode()).decode()
SPELT = (KEY, "secret/of", r"secret\/of", r"secret\u002fof", quote(KEY), IN_BASE64[8:-8])
PAGES = ("machines", "jobs/{job}", "certificate", "report", "systems", "exports", "history", "none")


def repeats_the_key(number: int) -> Fault | None:
    """Fail two of six requests with the key in what comes back, in the spellings of JSON."""
    spelt = json.dumps(KEY)[1:-1]
    slashes, coded = spelt.replace("/", r"\/"), spelt.replace("/", r"\u002f")
    faults = (
        Fault(500, f"failed for {KEY} at ?key={quote(KEY, safe='')}", {"Retry-After": "0"}),
        Fault(429, f'{{"error": "{slashes}"}}', {"Retry-After": "0", "X-Key": KEY}),
        Fault(body=completion(f"I got {KEY} as Basic {IN_BASE64}")),
        Fault(body=completion(None, message={"refusal": "KEY"}).replace("KEY", coded)),
        Fault(body=completion("KEY", finish_reason="length").replace("KEY", slashes)),
        Fault(503, KEY, {"Retry-After": "0"}),
    )
    return faults[number // 6 % len(faults)] if number > 5 and number % 6 < 2 else None


@pytest.mark.server
def test_a_search_of_logs_database_exports_pages_and_errors_finds_no_key(
    sessions: Sessions,
    database_url: str,
    tmp_path: Path,
    topkapi: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", database_url)
    monkeypatch.setenv("TOPKAPI_MODEL_KEY", KEY)
    with sessions.write.begin() as session:
        user = make_user(session, role=Role.ADMIN)
        make_ranked_study(session, slug=SLUG, queries=2, documents=5, systems=2, k=3)
    endpoint = ChatEndpoint(key=KEY, faults=repeats_the_key)
    wrong = ChatEndpoint(key="sk-another")
    texts: dict[str, str] = {}
    with (
        serving_chat(endpoint),
        serving_chat(wrong),
        serving(
            database_url,
            tmp_path,
            start=FORKER.start,
            work=True,
            log_level="debug",
            model_endpoint=endpoint.address,
            model_key=KEY,
        ) as server,
    ):
        jobs = [judged_by_server(sessions, at) for at in (endpoint.address, wrong.address)]
        for at in (endpoint.address, wrong.address):
            arguments = ["--model", "fake", "--endpoint", at, "--name", at[-9:]]
            texts[f"command {at}"] = str(topkapi("judge", SLUG, *arguments))
        cookie = Site(server, sessions).cookie(user)
        with connect(cookies={cookie["name"]: cookie["value"]}) as client:
            for path in (name.format(job=job) for name in PAGES for job in jobs):
                found = client.get(f"{server.url}/studies/{SLUG}/{path}", follow_redirects=True)
                texts[f"page {path}"] = found.text
    texts["log"] = server.log.read_text()
    with sessions.read() as session:
        texts["database"] = everything(session)
        states = [session.get_one(Job, job).state for job in jobs]
        machines = session.scalars(select(User.email).where(User.machine)).all()
        assert session.scalars(select(MachineCall.id).where(MachineCall.requests > 1)).all()
        for name in EXPORTS:
            for assessor in (None, *machines):
                try:
                    opened = open_export(session, SLUG, name, ExportOptions(assessor=assessor))
                    content = b"".join(opened.chunks)
                except AppError as error:
                    content = str(error).encode()
                texts[f"export {name} {assessor}"] = content.decode(errors="replace")
    assert states == [JobState.DONE, JobState.FAILED]
    assert [name for name, text in texts.items() if any(each in text for each in SPELT)] == []
    assert "[key]" in texts["database"], "the endpoint repeated it"


def judged_by_server(sessions: Sessions, address: str) -> int:
    """Let the worker of the server judge; return the job when it has ended."""
    with sessions.write.begin() as session:
        study = required_study(session, SLUG)
        terms = {"model": address[-8:], "endpoint": address, "tools": ALL, "rounds": 6}
        job = store.queue_job(session, study, "judge", Terms.read(terms).as_json()).id

    def ended() -> bool:
        with sessions.read() as session:
            return session.get_one(Job, job).state.final

    until(ended, "the end of the job")
    return job
