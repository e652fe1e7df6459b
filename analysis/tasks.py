"""Results as JSON Lines: one row per finished task, found by its key.

A run that is killed loses only the piece in hand; started again, it skips what the file has.
"""

import hashlib
import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from topkapi.analysis.data.folds import Fold
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.errors import BadData
from topkapi.analysis.lazy import joblib
from topkapi.extras import library_version, optional_module

RETRIES = 3  # of a task on a cluster
LARGE = (Fold, RankingData)  # arguments that a cluster is sent once
Row = dict[str, Any]
Progress = Callable[[int, int], None]
"""Called with pieces done and pieces in all."""


@dataclass(frozen=True)
class Task:
    """A task: its identity, and the function that runs it."""

    identity: Row
    function: Callable[..., Row]
    arguments: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Sixteen hex digits of the identity and the library's version."""
        text = json.dumps([self.identity, library_version()], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


class Store:
    """Rows by key, kept in a file when a path is given."""

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.rows: dict[str, Row] = {}
        if self.path is not None and self.path.exists():
            self._read(self.path)

    def _read(self, path: Path) -> None:
        lines = path.read_text(encoding="utf-8").split("\n")
        for number, line in enumerate(lines, start=1):
            if not line:
                continue
            try:
                row = json.loads(line)
                self.rows[row["key"]] = row
            except (json.JSONDecodeError, KeyError, TypeError):
                if number == len(lines):  # the write that was cut off when the run was killed
                    path.write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
                    return
                raise BadData(f"{path}, line {number}: not a result row") from None

    def add(self, row: Row) -> None:
        """Keep a row, on disk at once."""
        self.rows[row["key"]] = row
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(row) + "\n")


def run_tasks(
    tasks: Iterable[Task],
    store: Store,
    *,
    jobs: int = 1,
    dask: str | None = None,
    progress: Progress | None = None,
) -> list[Row]:
    """Run the tasks that the store lacks, and return all rows in order.

    joblib runs ``jobs`` at a time in processes of their own, or the scheduler at the address
    ``dask`` runs them on its workers.
    """
    wanted = list(tasks)
    missing = [task for task in wanted if task.key not in store.rows]
    done = len(wanted) - len(missing)
    found = _results(missing, jobs) if dask is None else _on_cluster(missing, dask)
    for row in found:
        store.add(row)
        done += 1
        if progress is not None:
            progress(done, len(wanted))
    return [store.rows[task.key] for task in wanted]


def _results(tasks: list[Task], jobs: int) -> Iterator[Row]:
    if jobs == 1:
        for task in tasks:
            yield _run(task)
        return
    yield from joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")(
        joblib.delayed(_run)(task) for task in tasks
    )


def _on_cluster(tasks: list[Task], address: str) -> Iterator[Row]:
    """Run tasks on a Dask cluster; those of a worker that is lost run again on another.

    Data that tasks share are sent once, as the result of a task: workers pass them on to each
    other, and the scheduler can make them again if every worker that had them is lost.
    """
    distributed = optional_module("distributed", "dask", "Dask")
    with distributed.Client(address) as client:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # as intended
            sent = {id(each): client.submit(_itself, each, pure=False) for each in _large(tasks)}
        futures = [
            client.submit(
                _run,
                replace(task, arguments=_plain(task)),
                pure=False,
                retries=RETRIES,
                **{name: sent[id(task.arguments[name])] for name in _names_of_large(task)},
            )
            for task in tasks
        ]
        for future in distributed.as_completed(futures):
            yield future.result()
            future.release()


def _itself(data: Any) -> Any:
    return data


def _names_of_large(task: Task) -> list[str]:
    return [name for name, value in task.arguments.items() if isinstance(value, LARGE)]


def _plain(task: Task) -> dict[str, Any]:
    large = _names_of_large(task)
    return {name: value for name, value in task.arguments.items() if name not in large}


def _large(tasks: list[Task]) -> list[Any]:
    """Return the distinct folds and data among the arguments."""
    found = {
        id(task.arguments[name]): task.arguments[name]
        for task in tasks
        for name in _names_of_large(task)
    }
    return list(found.values())


def _run(task: Task, **large: Any) -> Row:
    row = task.function(**task.arguments, **large)
    return {"key": task.key, "version": library_version(), **task.identity, **row}
