"""A machine judges the demo study through an endpoint that fails, and is killed five times.

Prints one line per database: what was asked and answered, which requests were sent again, and
whether a search of database, output and exports found the key.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any

from sqlalchemy import select

from bench.faults.__main__ import database
from tests.chat_endpoint import ChatEndpoint, Fault, completion, serving_chat, sides_of, values_of
from topkapi.app.db.base import Base
from topkapi.app.db.engine import Sessions, make_engine, make_sessions
from topkapi.app.db.models import Assignment, MachineCall, User
from topkapi.app.domain.errors import AppError
from topkapi.app.services.demo.loading import load_demo
from topkapi.app.services.results.exports import EXPORTS, ExportOptions, open_export

KILLS = 5
CONCURRENCY = 4
TIMEOUT = 2.0
COMMAND = (sys.executable, "-c", "from topkapi.app.cli import main; main()", "judge")
FAULTS = (
    Fault(429, "slow down", {"Retry-After": "0.2"}),
    Fault(500, "oops"),
    Fault(delay=TIMEOUT + 1.0, body=completion("late")),
    Fault(body="{not json"),
    Fault(body=json.dumps({"choices": []})),
    Fault(body=completion("I would rather not say")),
    Fault(body=completion(None, message={"refusal": "No."})),
    Fault(body=completion('{"answer": "A"', finish_reason="length")),
    Fault(body=completion('{"answer": "best", "confidence": 9}')),
    Fault(503, ""),
)


class Counted:
    """Every fourth request fails, in another way each time; what happened is counted."""

    def __init__(self) -> None:
        self.given: Counter[int] = Counter()

    def __call__(self, number: int) -> Fault | None:
        if number % 4 or number < 5:  # the probes may pass
            return None
        at = number // 4 % len(FAULTS)
        self.given[at] += 1
        return FAULTS[at]


def worth(text: str) -> int:
    """Return a number by which texts are compared, the same for the same text."""
    return int.from_bytes(blake2b(text[:200].encode(), digest_size=4).digest())


def model(prompt: str) -> str:
    """Prefer a page consistently; grade by the text."""
    values = values_of(prompt)
    if "alphabet" in prompt:
        return "A"
    if "Page A:" in prompt or "List A:" in prompt:
        left, right = map(worth, sides_of(prompt))
        return "A" if left >= right else "B"
    return values[worth(prompt.split("The page:")[-1]) % len(values)]


def run(name: str, seed: int) -> dict[str, Any]:
    """Judge the demo study on a fresh database; return what was found."""
    chance, faults = Random(seed), Counted()
    endpoint = ChatEndpoint(
        model=model, faults=faults, refuses=("max_completion_tokens", "json_schema")
    )
    with tempfile.TemporaryDirectory() as folder, database(name, Path(folder)) as (url, _):
        sessions = make_sessions(make_engine(url))
        with sessions.write.begin() as session:
            slug = load_demo(session).slug
        began = time.monotonic()
        with serving_chat(endpoint):
            judging = _Judging(url, endpoint, slug, sessions)
            again = [judging.killed(chance.randrange(40, 110)) for _ in range(KILLS)]
            result = json.loads(judging.ended().stdout)
            wrong = judging.with_wrong_key()
        return {
            "database": name,
            "seconds": round(time.monotonic() - began),
            "queries_finished": _finished(sessions),
            "without_answer": result["without_answer"],
            "requests": endpoint.requests,
            "faults": sum(faults.given.values()),
            "calls": judging.calls(),
            "kills": KILLS,
            "finished_calls_asked_again": judging.asked_again(again),
            "in_transit_at_a_kill_and_sent_again": judging.sent_twice(),
            "key_found_in": _search(sessions, slug, endpoint.key, [*judging.outputs, *wrong]),
        }


class _Judging:
    """Runs of the command against one endpoint and database."""

    def __init__(self, url: str, endpoint: ChatEndpoint, slug: str, sessions: Sessions) -> None:
        self._endpoint, self._sessions = endpoint, sessions
        self._environment = {
            **os.environ,
            "TOPKAPI_DATABASE_URL": url,
            "TOPKAPI_MODEL_KEY": endpoint.key,
        }
        tools = [word for tool in ("pairs", "grades", "lists") for word in ("--tool", tool)]
        self._command = [
            *(*COMMAND, slug, "--model", "fake", "--endpoint", endpoint.address, *tools),
            *("--concurrency", str(CONCURRENCY), "--timeout", str(TIMEOUT), "--json"),
        ]
        self.outputs: list[str] = []

    def killed(self, requests: int) -> Counter[str]:
        """Kill a run after so many requests; return how often each finished call was asked."""
        until = self._endpoint.requests + requests
        with tempfile.TemporaryFile("w+") as output:
            running = subprocess.Popen(
                self._command, env=self._environment, stdout=output, stderr=output, text=True
            )
            while self._endpoint.requests < until and running.poll() is None:
                time.sleep(0.01)
            running.send_signal(signal.SIGKILL)
            running.wait()
            output.seek(0)
            self.outputs.append(output.read())
        time.sleep(TIMEOUT + 1.5)  # replies in transit are paid for now
        with self._sessions.read() as session:
            done = select(MachineCall.key).where(MachineCall.finished_at.is_not(None))
            keys = set(session.scalars(done))
        return Counter({key: n for key, n in self._endpoint.paid.items() if key[:64] in keys})

    def ended(self) -> "subprocess.CompletedProcess[str]":
        """Run to the end."""
        ended = subprocess.run(
            self._command, env=self._environment, capture_output=True, text=True, check=True
        )
        self.outputs += [ended.stdout, ended.stderr]
        return ended

    def with_wrong_key(self) -> list[str]:
        """Return the output of a run that the endpoint refuses, with the key in its message."""
        self._endpoint.key, right = "sk-another-key", self._endpoint.key
        refused = subprocess.run(
            [*self._command, "--name", "other"],
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        self._endpoint.key = right
        assert refused.returncode
        return [refused.stdout, refused.stderr]

    def calls(self) -> int:
        with self._sessions.read() as session:
            return len(session.scalars(select(MachineCall.id)).all())

    def asked_again(self, before: list[Counter[str]]) -> int:
        """Return how many calls were paid for again after their reply was stored."""
        return sum(self._endpoint.paid[key] - n for counts in before for key, n in counts.items())

    def sent_twice(self) -> int:
        return sum(n - 1 for key, n in self._endpoint.paid.items() if not key.startswith("probe"))


def _finished(sessions: Sessions) -> str:
    with sessions.read() as session:
        mine = select(Assignment.finished_at).join(User).where(User.name == "fake")
        found = session.scalars(mine).all()
    return f"{sum(each is not None for each in found)} of {len(found)}"


def _search(sessions: Sessions, slug: str, key: str, outputs: list[str]) -> list[str]:
    """Return where the key is: in the database, the output, or an export."""
    found = ["output"] if any(key in each for each in outputs) else []
    with sessions.read() as session:
        for table in Base.metadata.sorted_tables:
            if any(key in str(tuple(row)) for row in session.execute(select(table))):
                found.append(table.name)
        for name in EXPORTS:
            options = ExportOptions(assessor="fake@machine.invalid")
            try:
                content = b"".join(open_export(session, slug, name, options).chunks)
            except AppError:
                continue
            if key.encode() in content:
                found.append(name)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), action="append")
    chosen = parser.parse_args()
    for name in chosen.database or ("sqlite", "postgresql"):
        print(json.dumps(run(name, chosen.seed)), flush=True)


if __name__ == "__main__":
    main()
