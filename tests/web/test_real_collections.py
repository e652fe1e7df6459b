"""Public collections are imported as studies and judged completely through the API."""

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select

from tests import collections_to_studies as convert
from tests.clients import open_client
from tests.collections_to_studies import Judged
from tests.factories import make_user
from tests.judging import Job, judge_to_the_end
from topkapi.app.config import Settings
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.db.models import Study
from topkapi.app.main import create_app
from topkapi.app.services.accounts import tokens
from topkapi.app.services.assignments.rotation import assign_rotation
from topkapi.app.services.importing import ImportReport, import_study, open_source

DATA = Path(__file__).parents[3] / "shared" / "data"

Convert = Callable[[Path], Judged]
COLLECTIONS: dict[str, tuple[str, Convert, int]] = {
    "dl19": (
        "TREC-DL19-text",
        lambda folder: convert.dl19(DATA / "TREC-DL19-text", folder, topics=10, passages=50),
        10,
    ),
    "cranfield": ("cran", lambda folder: convert.cranfield(DATA / "cran", folder, queries=10), 10),
    "cacm": ("cacm-html", lambda folder: convert.cacm(DATA / "cacm-html", folder, topics=5), 5),
}


@pytest.mark.parametrize("name", COLLECTIONS)
def test_a_collection_is_imported_and_judged_to_its_end(
    name: str, sqlite_url: str, tmp_path: Path
) -> None:
    needed, make, queries = COLLECTIONS[name]
    if not (DATA / needed).is_dir():
        pytest.skip(f"the collection is not here: {DATA / needed}")
    judged = make(tmp_path / name)
    report, jobs = imported(sqlite_url, tmp_path / name)
    assert (report.queries, report.candidates) == (queries, sum(map(len, judged.values())))
    settings = Settings(
        database_url=sqlite_url, secret_file=tmp_path / "topkapi.secret", _env_file=None
    )
    with open_client(create_app(settings)) as client:
        for job in jobs:
            judge_and_check(client, job, judged)


def imported(url: str, folder: Path) -> tuple[ImportReport, list[Job]]:
    """Import the study, and assign all its queries to one assessor with a token."""
    engine = make_engine(url)
    with make_sessions(engine).write.begin() as session:
        with open_source(folder) as source:
            report = import_study(session, source)
        study = session.scalars(select(Study)).one()
        user = make_user(session)
        work = assign_rotation(session, study, [user.id], rounds=1)
        _, token = tokens.issue_token(session, user, "test")
        jobs = [Job(row.id, token) for row in work]
    engine.dispose()
    return report, jobs


def judge_and_check(client: httpx.Client, job: Job, judged: Judged) -> None:
    """Judge by the known grades, and check that the list contains the best of them."""
    opened = client.get(job.url, headers=job.headers).json()
    grades = judged[opened["query"]["id"]]
    assert opened["question"]["left"]["text"].strip()

    def says(left: str, right: str) -> str:
        if grades[left] == grades[right]:
            return "tie"
        return "left" if grades[left] > grades[right] else "right"

    ended = judge_to_the_end(client, job, says)
    ranked = [grades[one] for one in ended["result"]["ranking"]]
    assert ranked == sorted(grades.values(), reverse=True)[: len(ranked)]
    assert len(ranked) == min(5, len(grades))
