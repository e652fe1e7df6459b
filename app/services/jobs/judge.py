"""The job `judge`: a machine judges a study."""

from topkapi.app.db.base import Json
from topkapi.app.services.jobs.running import RunningJob
from topkapi.app.services.machines import judging
from topkapi.app.services.machines.terms import Terms


def run(job: RunningJob, key: str) -> Json:
    """Judge by the terms that the job stores, with the key that it does not."""
    terms = Terms.read(job.parameters)
    run = judging.MachineRun(job.id, job.study, terms, job.sessions, job.progress)
    return judging.judge(run, key)
