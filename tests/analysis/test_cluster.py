"""Experiments on a real local Dask cluster: the same numbers, and a lost worker loses nothing."""

import importlib
import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select

from tests.services.test_job_kinds import labelled_study
from tests.waiting import WATCHDOG
from topkapi.analysis.data import RankingData, make_folds
from topkapi.analysis.data.folds import Fold, fold_set_of
from topkapi.analysis.experiments.compare import ModelEntry, compare_tasks
from topkapi.analysis.tasks import Row, Store, Task, run_tasks
from topkapi.app.db.engine import Sessions, make_engine, make_sessions
from topkapi.app.db.models import Job, Study
from topkapi.app.services.jobs.store import queue_job
from topkapi.app.services.jobs.worker import Worker


@contextmanager
def local_cluster(workers: int) -> Iterator[Any]:
    make: Any = importlib.import_module("distributed").LocalCluster
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    limits = ("comm.timeouts.connect", "comm.timeouts.tcp", "deploy.lost-worker-timeout")
    timeouts = {f"distributed.{name}": WATCHDOG for name in limits}
    with (
        importlib.import_module("dask").config.set(timeouts),
        make(n_workers=workers, **options) as cluster,
    ):
        yield cluster


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Start two workers."""
    with local_cluster(2) as cluster:
        yield cluster


def tasks() -> list[Task]:
    rng = np.random.default_rng(0)
    features = rng.random((120, 3))
    labels = np.digitize(features[:, 0] + 0.2 * rng.normal(size=120), [0.4, 0.8]).astype(float)
    data = RankingData(features, labels, np.arange(0, 121, 6))
    folds = fold_set_of("small", list(make_folds(data, 3)))
    return list(compare_tasks(folds, [ModelEntry("regression"), ModelEntry("listnet")], ["graded"]))


def without_times(rows: list[Row]) -> list[Row]:
    return [{key: value for key, value in row.items() if key != "seconds"} for row in rows]


def test_a_cluster_gives_the_rows_of_one_process(cluster: Any) -> None:
    here = run_tasks(tasks(), Store())
    there = run_tasks(tasks(), Store(), dask=cluster.scheduler_address)
    assert without_times(there) == without_times(here)


def test_jobs_compute_the_same_on_a_cluster_and_in_processes(cluster: Any, sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    sessions = make_sessions(engine)
    with sessions.write.begin() as session:
        labelled_study(session, queries=3)
    here = job_results(sessions, Worker(sessions))
    there = job_results(sessions, Worker(sessions, dask=cluster.scheduler_address))
    beside = job_results(sessions, Worker(sessions, processes=2))
    engine.dispose()
    assert here["models"]["rows"]
    assert here["confidence"]["lists"]
    assert there == here
    assert beside == here


def job_results(sessions: Sessions, worker: Worker) -> dict[str, Any]:
    """Return what a worker computes of each kind."""
    chosen = {"truth": "topk", "models": ["regression", "ranksvm"], "features": []}
    with sessions.write.begin() as session:
        study = session.scalars(select(Study)).one()
        ids = {
            kind: queue_job(session, study, kind, parameters).id
            for kind, parameters in {"models": chosen, "confidence": {}}.items()
        }
    worker.run(until_empty=True)
    with sessions.read() as session:
        found = {kind: session.get_one(Job, job_id) for kind, job_id in ids.items()}
        return {kind: json.loads(job.result or job.message) for kind, job in found.items()}


class CountedFold(Fold):
    """A fold that counts how often it is sent."""

    sent = 0

    def __reduce__(self) -> tuple[type[Fold], tuple[str, RankingData, RankingData, RankingData]]:
        CountedFold.sent += 1
        return Fold, (self.name, self.train, self.validation, self.test)


def end_once(number: int, mark: str, fold: Fold) -> Row:
    """End the worker the first time that task 2 runs."""
    if number == 2 and not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"value": number**2 * fold.train.n_rows}


@pytest.mark.filterwarnings("ignore")
def test_a_lost_worker_loses_nothing(tmp_path: Path) -> None:
    """With a single worker every copy of the data is lost; another worker takes its place."""
    mark = tmp_path / "ended"
    part = RankingData(np.ones((1, 1)), np.ones(1), np.array([0, 1]))
    fold = CountedFold("Fold1", part, part, part)
    work = [
        Task({"number": number}, end_once, {"number": number, "mark": str(mark), "fold": fold})
        for number in range(8)
    ]
    store = Store(tmp_path / "rows.jsonl")
    with local_cluster(1) as cluster:
        rows = run_tasks(work, store, dask=cluster.scheduler_address)
    assert mark.exists()
    assert [row["value"] for row in rows] == [number**2 for number in range(8)]
    assert len(Store(tmp_path / "rows.jsonl").rows) == 8
    assert CountedFold.sent == 1
