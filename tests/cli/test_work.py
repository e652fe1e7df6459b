import os
from pathlib import Path

from tests.factories import make_study
from tests.live import FORKER
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.db.models import Job
from topkapi.app.domain.enums import JobState
from topkapi.app.services.jobs import store


def test_once_runs_what_waits_and_exits(sqlite_url: str, tmp_path: Path) -> None:
    engine = make_engine(sqlite_url)
    sessions = make_sessions(engine)
    with sessions.write.begin() as session:
        job_id = store.queue_job(session, make_study(session), "confidence", {}).id
    environment = {**os.environ, "TOPKAPI_DATABASE_URL": sqlite_url}
    assert FORKER.start(["work", "--once"], environment, tmp_path / "log").wait() == 0
    with sessions.read() as session:
        assert session.get_one(Job, job_id).state is JobState.DONE
    engine.dispose()
