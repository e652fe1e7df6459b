import os
import subprocess
import sys

from tests.factories import make_study
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.db.models import Job
from topkapi.app.domain.enums import JobState
from topkapi.app.services.jobs import store

COMMAND = (sys.executable, "-c", "from topkapi.app.cli import main; main()", "work")


def test_once_runs_what_waits_and_exits(sqlite_url: str) -> None:
    sessions = make_sessions(make_engine(sqlite_url))
    with sessions.write.begin() as session:
        job_id = store.queue_job(session, make_study(session), "confidence", {}).id
    environment = {**os.environ, "TOPKAPI_DATABASE_URL": sqlite_url}
    subprocess.run([*COMMAND, "--once"], env=environment, check=True, timeout=60)
    with sessions.read() as session:
        assert session.get_one(Job, job_id).state is JobState.DONE
