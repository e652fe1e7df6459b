"""The models page and the pages of jobs."""

import io
import json
import re
import zipfile

import httpx
import pytest
from pydantic import TypeAdapter
from sqlalchemy import select

from tests.exporting import judge, make_judged_study
from tests.factories import Enter, make_assignment, make_study, queries_of, token_headers
from tests.services.test_adjudication import split_study
from tests.services.test_job_kinds import labelled_study
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Job, User
from topkapi.app.domain.enums import JobState, Role
from topkapi.app.services.assignments import adjudication
from topkapi.app.services.jobs import store
from topkapi.app.services.jobs.worker import Worker
from topkapi.app.services.results.reports import cache
from topkapi.app.services.simulation.plan_records import Planned, PlannedEffort, PlannedWork
from topkapi.app.web.jobs.views import planned_view

HTMX = {"HX-Request": "true"}


@pytest.fixture
def rana(enter: Enter) -> User:
    return enter(role=Role.RESEARCHER, name="Rana")


@pytest.fixture
def researcher(client: httpx.Client, rana: User) -> httpx.Client:
    """Provide a client in which Rana is signed in."""
    assert rana
    return client


@pytest.fixture
def bearer(rana: User, sessions: Sessions) -> dict[str, str]:
    """Return the headers of the same person's API requests."""
    with sessions.write.begin() as session:
        return token_headers(session, rana)


@pytest.mark.parametrize("budgets", [2, 3])
def test_the_plot_of_a_plan_has_the_interval_of_each_budget(budgets: int) -> None:
    efforts = [
        PlannedEffort(
            20 * n, 80 * n, n, n, n / 5, (n / 5 - 0.05, n / 5 + 0.05), n / 5, (0, 1), None
        )
        for n in range(1, budgets + 1)
    ]
    found = Planned(PlannedWork(4, 1, 2, 12), 20, 5, 0.1, tuple(efforts), None, None)
    result = TypeAdapter(Planned).dump_json(found)
    view = planned_view(Job(kind="plan", parameters={"goal": 0.9}, result=result))
    assert view is not None
    area = re.search(r'<polygon class="band-a" points="([^"]+)"', view.plot or "")
    assert area is not None
    ends = [tuple(map(float, point.split(","))) for point in area[1].split()]
    highs, lows = ends[:budgets], ends[: budgets - 1 : -1]
    assert [x for x, _ in highs] == [x for x, _ in lows]
    step = highs[0][1] - highs[1][1]  # between means that are .2 apart
    for (_, high), (_, low) in zip(highs, lows, strict=True):
        assert low - high == pytest.approx(step / 2, abs=0.2)


@pytest.mark.thorough
def test_a_comparison_is_started_watched_and_read(
    researcher: httpx.Client, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        labelled_study(session)
    form = researcher.get("/studies/tulips/models").text
    assert "Lists from pairs, 4 queries" in form
    assert "bm25" in form
    assert "no features of its own" not in form
    choice = {"truth": "topk", "models": ["regression", "ranksvm"], "features": ["bm25", "clicks"]}
    started = researcher.post("/studies/tulips/models", data=choice)
    assert started.status_code == 303
    address = started.headers["location"]
    assert researcher.post("/studies/tulips/models", data=choice).headers["location"] == address
    waiting = researcher.get(address).text
    assert "Waiting for a worker" in waiting
    assert f'hx-get="{address}"' in waiting
    Worker(sessions).run(until_empty=True)
    fragment = researcher.get(address, headers=HTMX).text
    assert "hx-get" not in fragment, "the polling ends"
    assert "<html" not in fragment
    for words in ("Means over 4 folds", "RankSVM", "By query, largest difference", "clicks"):
        assert words in fragment
    model = researcher.get(f"{address}/models/ranksvm.json")
    assert json.loads(model.text)["model"] == "ranksvm"
    lines = researcher.get(f"{address}/runs/ranksvm.txt").text.splitlines()
    assert len(lines) == 4 * 8
    assert lines[0].split()[1::2] == ["Q0", "1", "ranksvm"]
    assert researcher.get(f"{address}/runs/listnet.txt").status_code == 404
    curves = researcher.get(f"{address}/tables/curves.csv").text.splitlines()
    assert curves[0] == "over,position,measure,model,mean"
    assert len(curves) == 1 + 2 * 3  # up to the k of the study
    by_query = researcher.get(f"{address}/tables/queries.csv").text.splitlines()
    assert len(by_query) == 1 + 2 * 4
    means = researcher.get(f"{address}/tables/means.csv").text.splitlines()
    assert len(means) == 1 + 2 * 4
    assert researcher.get(f"{address}/tables/moons.csv").status_code == 404
    against = {name: researcher.get(f"{address}?baseline={name}").text for name in choice["models"]}
    assert all(text.count('class="plot plot--panel"') == 2 for text in against.values())
    assert '<option value="ranksvm" selected>' in against["ranksvm"]
    assert researcher.get(f"{address}?baseline=listnet").status_code == 422
    listed = researcher.get("/studies/tulips/models").text
    assert "2 models on lists" in listed
    assert "Rana" in listed


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"truth": "graded", "models": "ranksvm", "features": "bm25"}, "a comparison needs 3"),
        ({"truth": "topk", "features": "bm25"}, "Choose at least one model"),
        ({"truth": "topk", "models": "ranksvm"}, "Choose at least one feature"),
        ({"truth": "moon", "models": "ranksvm", "features": "bm25"}, "Choose lists or grades"),
    ],
)
def test_a_choice_that_cannot_be_computed_is_refused(
    researcher: httpx.Client, sessions: Sessions, choice: dict[str, str], words: str
) -> None:
    with sessions.write.begin() as session:
        labelled_study(session, queries=3)
    refused = researcher.post("/studies/tulips/models", data=choice)
    assert refused.status_code == 422
    assert words in refused.text


def test_what_is_missing_is_said(researcher: httpx.Client, sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        make_study(session, slug="tulips")
    assert "Too few queries are finished" in researcher.get("/studies/tulips/models").text
    assert researcher.get("/studies/tulips/jobs/1").status_code == 404


def test_a_job_can_be_stopped(researcher: httpx.Client, sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        make_judged_study(session)
        make_study(session, slug="other")
    address = researcher.post("/studies/tulips/confidence").headers["location"]
    other = address.replace("tulips", "other")
    assert researcher.post(f"{other}/stop").status_code == 404
    assert researcher.post(f"{address}/stop").status_code == 303
    assert "The job was stopped" in researcher.get(address).text
    with sessions.read() as session:
        assert session.scalars(select(Job.state)).one() is JobState.STOPPED


@pytest.mark.thorough
def test_the_report_of_a_large_study_is_computed_in_the_background(
    researcher: httpx.Client,
    bearer: dict[str, str],
    sessions: Sessions,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with sessions.write.begin() as session:
        study = make_judged_study(session)
        query = queries_of(session, study)[2]
    page, files, api = (
        "/studies/tulips/report",
        "/studies/tulips/report.zip",
        "/api/v1/studies/tulips/report?pseudonyms=true",
    )
    small, small_json = researcher.get(page).text, researcher.get(api, headers=bearer).text
    assert "Compute the report" not in small
    assert researcher.post(page).headers["location"] == page, "a small one needs no job"
    monkeypatch.setattr(cache, "MOST_ANSWERS", 10)
    waiting = researcher.get(page).text
    assert "Compute the report" in waiting
    assert f'hx-post="{page}?auto=true"' in waiting, "the page starts it by itself"
    assert "leaves.js" in waiting, "and asks no more when it is led on"
    assert "Hide names" not in waiting
    assert researcher.get(files).status_code == 409
    address = researcher.post(page).headers["location"]
    assert f'hx-get="{address}"' in researcher.get(page).text, "the page shows the progress"
    Worker(sessions).run(until_empty=True)
    assert researcher.get(address, headers=HTMX).headers["hx-redirect"] == page
    shown = researcher.get(page).text
    assert "Ansa" in shown
    assert "assessor-01" not in shown
    assert "assessor-01" in researcher.get(f"{page}?pseudonyms=true").text
    with zipfile.ZipFile(io.BytesIO(researcher.get(f"{files}?pseudonyms=true").content)) as archive:
        assert archive.read("report.json").decode() == small_json
    assert researcher.get(api, headers=bearer).text == small_json
    assert researcher.post(page).headers["location"] == page, "it is current"

    with sessions.write.begin() as session:
        judge(session, make_assignment(session, query=query))
    outdated = researcher.get(page).text
    assert "the study has changed since" in outdated
    assert "Ansa" in outdated, "the last report stays"
    assert "auto=true" not in outdated, "the worker rests"
    assert researcher.post(f"{page}?auto=true", headers=HTMX).status_code == 204
    assert researcher.get(api, headers=bearer).text != small_json, (
        "the API never returns an outdated report"
    )
    later = researcher.post(page).headers["location"]
    shown = researcher.get(page).text
    assert f'hx-get="{later}?stay=true"' in shown
    Worker(sessions).run(until_empty=True)
    ended = researcher.get(f"{later}?stay=true", headers=HTMX)
    assert "hx-redirect" not in ended.headers, "nobody is interrupted who reads"
    assert "A newer result was computed" in ended.text


def test_a_large_study_is_adjudicated_from_what_a_job_found(
    client: httpx.Client, sessions: Sessions, monkeypatch: pytest.MonkeyPatch, enter: Enter
) -> None:
    enter(role=Role.ADMIN)
    with sessions.write.begin() as session:
        split_study(session)
    page = "/studies/tulips/adjudication"
    small = client.get(page).text
    assert "Adjudicator of q0" in small
    monkeypatch.setattr(cache, "MOST_ANSWERS", 1)
    waiting = client.get(page).text
    assert "The list is not computed yet" in waiting
    assert "No disagreement" not in waiting
    started = client.post("/studies/tulips/report?auto=true", headers=HTMX)
    Worker(sessions).run(until_empty=True)
    here = {**HTMX, "HX-Current-URL": f"http://localhost{page}"}
    assert client.get(started.headers["location"], headers=here).headers["hx-redirect"] == page

    def computed(*_: object, **__: object) -> None:
        raise AssertionError("computed in a request")

    with monkeypatch.context() as patched:
        patched.setattr(adjudication, "contention", computed)
        shown = client.get(page).text
    table = re.compile(r"<table.*</table>", re.DOTALL)
    assert table.findall(shown) == table.findall(small)
    assert "Computed <time" in shown
    assert "as proposed" not in shown, "one query needs no list"
    assert client.post(f"{page}/all").headers["location"] == f"{page}?done=1"
    assert "Chidi, not finished" in client.get(page).text


def test_all_adjudications_are_assigned_after_a_look_at_who_gets_them(
    client: httpx.Client, sessions: Sessions, enter: Enter
) -> None:
    enter(role=Role.ADMIN)
    with sessions.write.begin() as session:
        split_study(session, queries=2)
    page = client.get("/studies/tulips/adjudication").text
    shown = page[page.index("<summary") : page.index("</details>")]
    assert "Assign all 2 as proposed</summary>" in shown
    assert "Chidi gets 2 queries." in shown
    assert shown.index("Chidi gets") < shown.index("Assign 2 adjudications")
    assert client.post("/studies/tulips/adjudication/all").headers["location"].endswith("?done=2")


@pytest.mark.thorough
def test_jobs_are_started_read_and_stopped_by_the_api(
    client: httpx.Client, bearer: dict[str, str], sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        labelled_study(session, queries=3)
        make_study(session, slug="other")
    client.headers.update(bearer)
    api = "/api/v1/studies/tulips/jobs"
    asked = {"kind": "models", "models": ["regression"], "features": ["bm25"]}
    started = client.post(api, json=asked)
    assert started.status_code == 201
    job = started.json()
    assert (job["state"], job["progress"], job["stopping"]) == ("queued", 0.0, False)
    assert client.post(api, json=asked).json()["id"] == job["id"]
    others = [client.post(api, json={"kind": kind}).json() for kind in ("report", "confidence")]
    assert client.get(f"{api}/{job['id']}").json()["result"] is None
    stopped = client.post(f"{api}/{others[1]['id']}/stop").json()
    assert (stopped["state"], stopped["message"]) == ("stopped", "Stopped.")
    Worker(sessions).run(until_empty=True)
    listed = client.get(api).json()
    assert [each["state"] for each in listed] == ["stopped", "done", "done"]
    assert [each["id"] for each in client.get(f"{api}?limit=1").json()] == [others[1]["id"]]
    done = client.get(f"{api}/{job['id']}").json()
    assert done["result"]["features"] == ["bm25"]
    assert [curve["over"] for curve in done["result"]["curves"]] == ["k"]
    report = client.get(f"{api}/{others[0]['id']}").json()["result"]
    wanted = client.get("/api/v1/studies/tulips/report?pseudonyms=true").json()
    assert report == wanted
    everything = client.post(api, json={"kind": "models"}).json()
    assert everything["parameters"]["features"] == [], "all of them"
    assert client.post(api, json={"kind": "models", "models": ["moon"]}).status_code == 422
    assert client.post(api, json={"kind": "moon"}).status_code == 422
    assert client.get(f"/api/v1/studies/other/jobs/{job['id']}").status_code == 404


def test_a_job_whose_worker_is_gone_says_so(researcher: httpx.Client, sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        study = labelled_study(session)
        job_id = store.queue_job(session, study, "confidence", {}).id
        store.take_job(session, "worker")
    address = f"/studies/tulips/jobs/{job_id}"
    page = researcher.get(address).text
    assert "You can leave this page; the job continues." in page
    with sessions.write.begin() as session:
        store.expire_leases(session, "worker")
    page = researcher.get(address).text
    assert "No worker is running" in page
    assert "topkapi work" in page
    assert "the job continues" not in page
