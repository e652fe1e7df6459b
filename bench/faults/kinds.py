"""The faults by name: what each does to the server or to an assessor."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from random import Random

from bench.faults.assessors import Assessor
from bench.faults.clock import HAS_CLOCK
from bench.faults.world import World

Fault = Callable[
    [World, Sequence[Assessor], Random], Awaitable[float | None]
]  # when recovery begins, or now


async def kill(world: World, _people: Sequence[Assessor], _random: Random) -> float:
    """Kill every process of the server (SIGKILL), then start it again."""
    await world.kill()
    killed = time.monotonic()
    await world.start()
    return killed


async def end(world: World, _people: Sequence[Assessor], _random: Random) -> float:
    """Ask the server to end (SIGTERM), then start it again, as a deployment does."""
    await world.end()
    ended = time.monotonic()
    await world.start()
    return ended


async def kill_worker(world: World, _people: Sequence[Assessor], random: Random) -> None:
    """Kill one worker of several (SIGKILL); the server starts another."""
    random.choice(world.worker_processes()).kill()


async def stop(world: World, _people: Sequence[Assessor], random: Random) -> None:
    """Stop the server (SIGSTOP), and continue it (SIGCONT) after a while."""
    await world.stop(random.uniform(0.1, 1.0))


async def lock(world: World, _people: Sequence[Assessor], random: Random) -> None:
    """Lock what every writer needs."""
    await world.lock(random.uniform(0.1, 1.5))


async def restart_database(world: World, _people: Sequence[Assessor], random: Random) -> None:
    """Crash or restart PostgreSQL."""
    assert world.cluster is not None
    await asyncio.to_thread(world.cluster.restart, random.choice(("fast", "immediate")))


async def terminate(world: World, _people: Sequence[Assessor], _random: Random) -> None:
    """Call `pg_terminate_backend` for every connection of the server."""
    await world.terminate_backends()


async def disk_full(world: World, _people: Sequence[Assessor], random: Random) -> None:
    """Prevent files from growing, so that writes to the database's log fail."""
    await world.fill_disk(random.uniform(0.2, 1.0))


async def clock(world: World, _people: Sequence[Assessor], random: Random) -> None:
    """Shift the server's clock, and shift it back."""
    await world.jump(random.choice((-7200, -60, 30, 3600, 86_400)), random.uniform(0.3, 1.0))


async def gone(_world: World, people: Sequence[Assessor], random: Random) -> None:
    """Disconnect a client in the middle of its request."""
    random.choice(people).mischief.append("gone")
    await asyncio.sleep(0.1)


async def unread(_world: World, people: Sequence[Assessor], random: Random) -> None:
    """Disconnect a client before it has read the reply, and resend the entry."""
    random.choice(people).mischief.append("unread")
    await asyncio.sleep(0.1)


async def replay(_world: World, people: Sequence[Assessor], random: Random) -> None:
    """Resend an old entry."""
    random.choice(people).mischief.append("replay")
    await asyncio.sleep(0.1)


async def duplicate(_world: World, people: Sequence[Assessor], random: Random) -> None:
    """Send one entry four times at once, on four connections."""
    await _at_once(random.choice(people), random, differ=False)


async def race(_world: World, people: Sequence[Assessor], random: Random) -> None:
    """Send four different answers to one question at once."""
    await _at_once(random.choice(people), random, differ=True)


async def _at_once(person: Assessor, random: Random, *, differ: bool) -> None:
    question = person.question
    if question is None or question.finished:
        return
    entry = person.choose(question)
    entries = [entry] * 4
    if differ and entry.kind == "answer":
        answers = random.sample(("left", "right", "tie", "left_unjudgeable"), 4)
        entries = [
            replace(entry, answer=answer, note=f"{entry.note}, {answer}") for answer in answers
        ]
    await asyncio.gather(*(person.submit_aside(each) for each in entries))


def kinds_for(world: World) -> dict[str, Fault]:
    """Return the faults that are possible in this world."""
    found: dict[str, Fault] = {
        **{"end": end, "kill": kill, "stop": stop, "lock": lock, "gone": gone, "unread": unread},
        **{"replay": replay, "duplicate": duplicate, "race": race},
    }
    if world.workers > 1:
        found["kill worker"] = kill_worker
    if (world.is_sqlite or world.cluster is not None) and world.can_fill_disk():
        found["disk full"] = disk_full
    if not world.is_sqlite:
        found["terminate backends"] = terminate
    if world.cluster is not None:
        found["restart database"] = restart_database
    if HAS_CLOCK:
        found["clock"] = clock
    return found
