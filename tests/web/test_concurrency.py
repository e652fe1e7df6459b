from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import httpx
import pytest
from fastapi import APIRouter, FastAPI

from tests.clients import open_client
from tests.factories import make_study, make_user, sign_in
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Study
from topkapi.app.web.access.deps import CurrentUser, SessionDep

pytestmark = pytest.mark.both


@pytest.mark.thorough
def test_many_writes_at_once_all_count_and_none_fails(app: FastAPI, sessions: Sessions) -> None:
    router = APIRouter()

    @router.post("/count/{study_id}")
    def post_count(session: SessionDep, _user: CurrentUser, study_id: int) -> int:
        study = session.get_one(Study, study_id, with_for_update=True)
        study.settings = replace(study.settings, k=study.settings.k + 1)
        return study.settings.k

    app.include_router(router)
    with sessions.write.begin() as session:
        user, study = make_user(session), make_study(session)
    with open_client(app) as client:
        sign_in(app, client, user)

        def go(number: int) -> httpx.Response:
            # every third request reads
            return client.get("/") if number % 3 == 0 else client.post(f"/count/{study.id}")

        with ThreadPoolExecutor(50) as pool:  # no person may have more requests waiting
            answers = list(pool.map(go, range(120)))
    assert {answer.status_code for answer in answers} == {200}
    counts = sorted(answer.json() for answer in answers if answer.request.method == "POST")
    assert counts == list(range(study.settings.k + 1, study.settings.k + 81))


def test_a_commit_is_done_before_the_answer_leaves(app: FastAPI, sessions: Sessions) -> None:
    router = APIRouter()

    @router.post("/rename/{study_id}/{name}")
    def post_rename(session: SessionDep, _user: CurrentUser, study_id: int, name: str) -> None:
        session.get_one(Study, study_id).name = name

    app.include_router(router)
    with sessions.write.begin() as session:
        user, study = make_user(session), make_study(session)
    with open_client(app) as client:
        sign_in(app, client, user)
        for number in range(10):
            assert client.post(f"/rename/{study.id}/name-{number}").status_code == 200
            with sessions.read() as session:
                assert session.get_one(Study, study.id).name == f"name-{number}"
