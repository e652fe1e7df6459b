"""A machine judges the demo study through an endpoint that fails, and is killed five times.

Prints one line per database: what was asked and answered, which requests were sent again, and
whether a search of database, output and exports found the key. With ``--caps 200`` it judges so
many small studies with a cap on the cost instead, through an endpoint that bills every request but
those it refuses: with faults, kills, repeated commands, two at once, up to 16 requests at a time,
replies without usage and long hidden reasoning. It prints whether the bill stayed below the cap,
and whether requests and cost were counted as the endpoint did.
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
from tests.forking import Forked
from tests.live import FORKER
from tests.ranked import make_ranked_study
from topkapi.app.db.base import Base
from topkapi.app.db.engine import Sessions, make_engine, make_sessions
from topkapi.app.db.models import Assignment, Job, MachineCall, MachineSpending, User
from topkapi.app.db.queries.studies.studies import required_study
from topkapi.app.domain.errors import AppError
from topkapi.app.domain.machines.spending import Prices
from topkapi.app.services.demo.loading import load_demo
from topkapi.app.services.jobs.store import expire_leases
from topkapi.app.services.machines import judging
from topkapi.app.services.machines.terms import Terms
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


PRICE_IN, PRICE_OUT = 2.0, 8.0  # per million tokens


class _Capped:
    """One study with a cap: a few commands, each repeated, killed, or two at once."""

    def __init__(self, url: str, sessions: Sessions, folder: Path, seed: str) -> None:
        self._url, self._sessions, self._log = url, sessions, folder / "log"
        chance = self._chance = Random(seed)
        self.most_tokens = chance.choice((50, 400, 2000))
        self._rate, self._usage = chance.choice((0.0, 0.1, 0.3)), chance.choice((0.0, 0.5, 1.0))
        self._kill_at: dict[int, Forked] = {}
        self.kills = self.stopped = 0
        self.slug = f"capped-{seed}"
        self.endpoint = ChatEndpoint(
            faults=self._fault,
            tokens=lambda _n, size: (chance.randint(size // 4, size), self._made()),
            reports=lambda _n: chance.random() < self._usage,
        )
        with sessions.write.begin() as session:
            make_ranked_study(
                session, slug=self.slug, queries=chance.randint(1, 6), documents=5, k=3
            )
        self._terms: dict[str, Any] = {
            **{"model": "fake", "name": f"fake-{seed}", "endpoint": "http://127.0.0.1"},
            **{"tools": chance.sample(("pairs", "grades", "lists"), chance.randint(1, 2))},
            **{"most_tokens": self.most_tokens, "timeout": 1.0},
            **{"price_in": PRICE_IN, "price_out": PRICE_OUT},
        }
        with sessions.write() as session:
            study = required_study(session, self.slug)
            found = judging.estimate(session, study, Terms.read(self._terms))
            session.rollback()
        self.cap = round((found.cost or 0) * chance.choice((1, 4, 16, 64)) + 1e-4, 5)

    def _made(self) -> int:
        """Draw the tokens of a reply: few, or much reasoning."""
        return self._chance.choice((5, self._chance.randint(1, self.most_tokens), self.most_tokens))

    def _fault(self, number: int) -> Fault | None:
        process = self._kill_at.pop(number, None)
        if process is not None:
            process.kill()
            self.kills += 1
        failing = number > 1 and self._chance.random() < self._rate
        return self._chance.choice(BILLED_FAULTS) if failing else None

    def run(self) -> dict[str, Any]:
        """Run the commands; return what was billed, counted and allowed."""
        with serving_chat(self.endpoint):
            for _ in range(self._chance.randint(1, 4)):
                self._at_once(self._chance.choice((1, 1, 2)))
            self._settle()
        with self._sessions.read() as session:
            row = session.scalar(
                select(MachineSpending).join(User).where(User.name == self._terms["name"])
            )
            counted = judging.spent_by(row)
        bill = self.endpoint.cost(PRICE_IN, PRICE_OUT)
        return {
            **{"cap": self.cap, "bill": bill, "kills": self.kills, "stopped": self.stopped},
            "counted": Prices(PRICE_IN, PRICE_OUT).cost(counted),
            **{"requests": self.endpoint.requests, "requests_counted": counted.requests},
            "unreported": counted.unreported,
        }

    def _at_once(self, count: int) -> None:
        """Run commands at the same time, some of which are killed; then their leases expire."""
        started = []
        for number, concurrency in enumerate(self._chance.sample((1, 2, 4, 8, 16), count)):
            log = self._log.with_suffix(f".{number}")
            started.append((self._started(concurrency, log), log))
            if self._chance.random() < 0.4:
                at = self.endpoint.requests + self._chance.randint(1, 25)
                self._kill_at[at] = started[-1][0]
        for process, log in started:
            process.wait()
            self.stopped += "the cap is" in log.read_text()
            log.unlink()
        self._kill_at.clear()
        with self._sessions.write.begin() as session:
            for worker in session.scalars(select(Job.worker).where(Job.lease_until.is_not(None))):
                expire_leases(session, worker or "")

    def _started(self, concurrency: int, log: Path) -> Forked:
        terms = {**self._terms, "endpoint": self.endpoint.address, "concurrency": concurrency}
        words = ["judge", self.slug, "--most-cost", str(self.cap)]
        for name, value in terms.items():
            for each in value if name == "tools" else [value]:
                words += [f"--{name.replace('tools', 'tool').replace('_', '-')}", str(each)]
        environment = {**os.environ, "TOPKAPI_DATABASE_URL": self._url}
        return FORKER.start(words, {**environment, "TOPKAPI_MODEL_KEY": self.endpoint.key}, log)

    def _settle(self) -> None:
        """Wait until requests of killed processes that are still in a socket have been billed."""
        before = -1
        while before != self.endpoint.requests:
            before = self.endpoint.requests
            time.sleep(0.3)


BILLED_FAULTS = (
    *(Fault(status, "", {"Retry-After": "0"}) for status in (429, 500, 503)),
    Fault(drip="HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n"),
    *(fault for fault in FAULTS if fault.status == 200 and not fault.delay),
    Fault(body=completion(None, finish_reason="length")),
)


def run_capped(name: str, runs: int, seed: int) -> dict[str, Any]:
    """Judge ``runs`` studies with a cap; return the worst cases of all."""
    found = []
    with tempfile.TemporaryDirectory() as folder, database(name, Path(folder)) as (url, _):
        sessions = make_sessions(make_engine(url))
        for number in range(runs):
            capped = _Capped(url, sessions, Path(folder), f"{seed}-{number}")
            found.append({**capped.run(), "most_tokens": capped.most_tokens})
            print(json.dumps(found[-1]), file=sys.stderr, flush=True)
    more = [each["requests_counted"] - each["requests"] for each in found]
    return {
        "database": name,
        "runs": runs,
        "with_requests": sum(each["requests"] > 0 for each in found),
        "stopped_by_their_cap": sum(each["stopped"] > 0 for each in found),
        "kills": sum(each["kills"] for each in found),
        "requests": sum(each["requests"] for each in found),
        "unreported": sum(each["unreported"] for each in found),
        "bill_above_cap": sum(each["bill"] > each["cap"] for each in found),
        "largest_bill_by_cap": max(each["bill"] / each["cap"] for each in found),
        "bill_above_counted": sum(each["bill"] > each["counted"] + 1e-9 for each in found),
        "requests_equal": sum(not each for each in more),
        "requests_not_equal_without_kill": sum(
            bool(m) and not each["kills"] for m, each in zip(more, found, strict=True)
        ),
        "requests_counted_more_and_less_at_most": (max(more), -min(more)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--caps", type=int, metavar="RUNS", help="studies with a cap on the cost")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), action="append")
    chosen = parser.parse_args()
    for name in chosen.database or ("sqlite", "postgresql"):
        if chosen.caps:
            found = run_capped(name, chosen.caps, chosen.seed)
        else:
            found = run(name, chosen.seed)
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
