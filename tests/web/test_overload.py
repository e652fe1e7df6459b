"""Overload: requests queue in order of arrival, and no wait is long."""

import asyncio
from collections.abc import Awaitable, Hashable
from threading import Event
from urllib.parse import urlencode

import pytest
from fastapi import FastAPI
from sqlalchemy import text

from tests.asgi import Exchange, begin, scope_of
from tests.clients import open_client
from tests.factories import make_study, make_user, sign_in
from tests.threads import GivenLoop, in_thread
from tests.waiting import WATCHDOG
from topkapi.app.db import engine as engines
from topkapi.app.db.engine import (
    POOL_SIZE,
    REQUEST_BUSY_MS,
    Sessions,
    make_engine,
    make_sessions,
    shorten_lock_wait,
)
from topkapi.app.db.models import User
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import SignInNeeded, WrongCredentials
from topkapi.app.services.accounts.sign_in import Authenticator
from topkapi.app.web.access import slots
from topkapi.app.web.access.admission import KnownTokens
from topkapi.app.web.access.slots import QUEUE_SECONDS, Lane, TransactionLimits
from topkapi.app.web.common.cookies import CSRF_FIELD, VISITOR_COOKIE
from topkapi.app.web.common.errors import Busy

pytestmark = pytest.mark.both


def test_a_queue_is_served_in_the_order_of_coming() -> None:
    order: list[int] = []

    async def work(lane: Lane, number: int) -> None:
        async with lane.hold():
            order.append(number)
            await asyncio.sleep(0)

    async def run() -> None:
        lane = Lane(1, longest_queue=100)
        await asyncio.gather(*(work(lane, number) for number in range(50)))

    in_thread(asyncio.run, run())
    assert order == list(range(50))


def test_a_queue_that_is_too_long_turns_away_at_once() -> None:
    async def run() -> list[object]:
        lane = Lane(1, longest_queue=3)

        async def work() -> None:
            async with lane.hold():
                await asyncio.sleep(0)

        return await asyncio.gather(*(work() for _ in range(6)), return_exceptions=True)

    outcomes = in_thread(asyncio.run, run())
    assert [type(each) for each in outcomes] == [type(None)] * 4 + [Busy] * 2


def test_giving_up_leaves_the_queue_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "QUEUE_SECONDS", 0.01)  # seconds: their end is awaited

    async def run() -> None:
        lane = Lane(1, longest_queue=3)
        async with lane.hold():
            with pytest.raises(Busy):
                async with lane.hold():
                    pass
        async with lane.hold() as waited:
            assert waited == 0.0
        assert lane.limiter.borrowed_tokens == 0

    in_thread(asyncio.run, run())


def test_between_the_requests_of_one_sender_the_slot_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody with very many requests at once uses a third of a slot's time."""
    monkeypatch.setattr(slots, "LONGEST_REST", slots.REST)
    monkeypatch.setattr(slots, "QUEUE_SECONDS", WATCHDOG)
    clock, ends = GivenLoop(), list[float]()

    async def work(lane: Lane, who: str) -> None:
        async with lane.hold(key=who):
            await asyncio.sleep(0)
            clock.now += 1
            ends.append(clock.now)

    async def run() -> int:
        lane = Lane(1, longest_queue=500)
        flood = asyncio.gather(*(work(lane, "flood") for _ in range(12)))
        while not flood.done():
            await asyncio.sleep(0)
            clock.now += 0.125
        return lane.limiter.borrowed_tokens

    assert in_thread(clock.run, run()) == 0
    assert ends[3] - ends[0] >= 3 * (1 + slots.REST)


def test_two_queues_share_the_longest_wait() -> None:
    async def run() -> None:
        lane = Lane(1, longest_queue=3)
        async with lane.hold(2.0) as waited:
            assert waited == 2.0
            with pytest.raises(Busy):
                async with lane.hold(slots.QUEUE_SECONDS):
                    pass

    in_thread(asyncio.run, run())


def test_one_sender_has_one_place_in_the_queue_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred requests of one person wait for each other, and everybody else for one of them."""
    monkeypatch.setattr(slots, "REFUSAL_SECONDS", 0.0)
    order: list[str] = []

    async def work(lane: Lane, who: str) -> None:
        async with lane.hold(key=who):
            order.append(who)
            await asyncio.sleep(0)

    async def run() -> None:
        lane = Lane(1, longest_queue=500)
        senders = [*["flood"] * 31, "Ansa", "Bao"]
        outcomes = await asyncio.gather(
            *(work(lane, who) for who in senders), return_exceptions=True
        )
        assert outcomes == [None] * 33
        flood = [asyncio.create_task(work(lane, "flood")) for _ in range(200)]
        await asyncio.sleep(0)
        await work(lane, "Ansa")
        refused = await asyncio.gather(*flood, return_exceptions=True)
        assert {type(each) for each in refused} == {type(None), Busy}
        assert lane.limiter.borrowed_tokens == 0

    in_thread(asyncio.run, run())
    assert set(order[:4]) == {"flood", "Ansa", "Bao"}


def test_who_sends_too_much_at_once_is_refused_late_and_others_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A refusal at once would be answered with the next request at once."""
    waits: list[tuple[str, float]] = []

    async def run() -> None:
        lane, flood = Lane(1, longest_queue=60), "flood"
        now = flood

        async def slept(seconds: float) -> None:
            waits.append((now, seconds))

        monkeypatch.setattr(slots, "sleep", slept)
        async with lane.hold():
            waiting = [asyncio.create_task(hold(lane, flood)) for _ in range(51)]
            await asyncio.sleep(0)
            with pytest.raises(Busy):
                await hold(lane, flood)
            crowd = [asyncio.create_task(hold(lane, number)) for number in range(59)]
            await asyncio.sleep(0)
            now = "crowd"
            with pytest.raises(Busy):
                await hold(lane, "Ansa")
        await asyncio.gather(*waiting, *crowd)

    async def hold(lane: Lane, key: Hashable) -> None:
        async with lane.hold(key=key):
            pass

    in_thread(asyncio.run, run())
    assert waits == [("flood", slots.REFUSAL_SECONDS), ("crowd", 0.0)]


def test_wrong_passwords_from_one_address_do_not_close_the_sign_in(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashing, go_on = Event(), Event()

    def slow(_self: Authenticator, email: str, *_given: object, **_named: object) -> User:
        if email == "stranger@x.example":
            hashing.set()
            go_on.wait(WATCHDOG)
        raise WrongCredentials("wrong")

    monkeypatch.setattr(Authenticator, "sign_in", slow)
    nonce = "a" * 32
    token = app.state.cookies.csrf_token(nonce)

    def asked(method: str, address: str, email: str) -> Awaitable[tuple[Exchange, object]]:
        form = urlencode({"email": email, "password": "x", CSRF_FIELD: token}).encode()
        headers = {
            "Cookie": f"{VISITOR_COOKIE}={nonce}",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        scope = {**scope_of(method, "/sign-in", headers), "client": (address, 5000)}
        return begin(app, scope, (form,) if method == "POST" else (b"",))

    async def run() -> list[int]:
        async with app.router.lifespan_context(app):
            flood = [
                asyncio.ensure_future(asked("POST", "203.0.113.9", "stranger@x.example"))
                for _ in range(60)
            ]
            await asyncio.to_thread(hashing.wait, WATCHDOG)
            mine = [
                (await asked(method, "198.51.100.7", "ansa@x.example"))[0].status
                for method in ("GET", "POST")
            ]
            go_on.set()
            await asyncio.gather(*flood)
            return mine

    assert in_thread(asyncio.run, run()) == [200, 401]


def test_random_tokens_do_not_delay_people(app: FastAPI, sessions: Sessions) -> None:
    """Strangers with random tokens or links have a lane of their own."""
    with sessions.write.begin() as session:
        researcher = make_user(session, role=Role.RESEARCHER)
        make_study(session, slug="tulips")
    limiter = app.state.transaction_limits.strangers.limiter
    with open_client(app) as client:
        made_up = {"Authorization": "Bearer topkapi_made_up"}
        assert client.get("/api/v1/me", headers=made_up).status_code == 401
        for number in range(int(limiter.total_tokens)):
            limiter.acquire_on_behalf_of_nowait(number)
        sign_in(app, client, researcher)
        assert client.get("/studies/tulips/exports/judgments.jsonl").status_code == 200


def test_random_tokens_do_not_close_the_sign_in_page_of_their_address(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    trying, go_on = Event(), Event()

    def slow(_self: KnownTokens, _plain: str) -> int:
        trying.set()
        go_on.wait(WATCHDOG)
        raise SignInNeeded("no such token")

    monkeypatch.setattr(KnownTokens, "_look_up", slow)

    def asked(path: str, **headers: str) -> Awaitable[tuple[Exchange, object]]:
        scope = {**scope_of("GET", path, headers), "client": ("203.0.113.9", 5000)}
        return begin(app, scope, (b"",))

    async def run() -> int:
        async with app.router.lifespan_context(app):
            flood = [
                asyncio.ensure_future(asked("/api/v1/me", Authorization=f"Bearer topkapi_{number}"))
                for number in range(80)
            ]
            await asyncio.to_thread(trying.wait, WATCHDOG)
            page = (await asked("/sign-in"))[0].status
            go_on.set()
            await asyncio.gather(*flood)
            return page

    assert in_thread(asyncio.run, run()) == 200


@pytest.fixture
def user(sessions: Sessions) -> User:
    with sessions.write.begin() as session:
        return make_user(session)


@pytest.mark.parametrize("lane", ["read", "write"])
def test_who_finds_no_slot_is_asked_to_try_again(
    app: FastAPI, user: User, monkeypatch: pytest.MonkeyPatch, lane: str
) -> None:
    limiter = getattr(app.state.transaction_limits, lane).limiter
    with open_client(app) as client:
        sign_in(app, client, user)
        assert client.get("/").status_code == 200
        assert client.post("/assignments/1/timer").status_code == 422
        for number in range(int(limiter.total_tokens)):
            limiter.acquire_on_behalf_of_nowait(number)
        monkeypatch.setattr(slots, "QUEUE_SECONDS", 0.01)  # seconds: their end is awaited
        reply = client.get("/") if lane == "read" else client.post("/sign-out")
    assert (reply.status_code, reply.headers["Retry-After"]) == (503, "2")
    assert "Nothing was written" in reply.text


def test_a_held_lock_is_not_waited_for_longer_than_a_request_may(
    app: FastAPI, user: User, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that waited in the queue has less time for the lock: 4 s in all, here 1 ms."""
    monkeypatch.setattr(engines, "REQUEST_BUSY_MS", REQUEST_BUSY_MS)
    monkeypatch.setattr("topkapi.app.web.access.deps._LONG_WAIT", -1.0)
    monkeypatch.setattr(
        "topkapi.app.web.access.deps.shorten_lock_wait",
        lambda session, _waited: shorten_lock_wait(session, REQUEST_BUSY_MS / 1000),
    )
    engine = make_engine(database_url)
    with make_sessions(engine).write() as blocker, open_client(app) as client:
        sign_in(app, client, user)
        blocker.execute(text("UPDATE users SET name = 'held'"))
        reply = client.post("/sign-out")
        assert (reply.status_code, reply.headers["Retry-After"]) == (503, "2")
        blocker.rollback()
        assert client.post("/sign-out").status_code == 303
    engine.dispose()
    assert QUEUE_SECONDS + 0.5 <= REQUEST_BUSY_MS / 1000 < 5


def test_the_wait_for_a_lock_is_as_usual_again_afterwards(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "REQUEST_BUSY_MS", REQUEST_BUSY_MS)
    engine = make_engine(database_url, for_requests=True)
    question = "PRAGMA busy_timeout" if engine.dialect.name == "sqlite" else "SHOW lock_timeout"
    sessions = make_sessions(engine)
    with sessions.write.begin() as session:
        usual = session.execute(text(question)).scalar()
    with sessions.write.begin() as session:
        shorten_lock_wait(session, 3.0)
        shorter = session.execute(text(question)).scalar()
    with sessions.write.begin() as session:
        again = session.execute(text(question)).scalar()
    engine.dispose()
    assert (usual, shorter, again) in ((4000, 1000, 4000), ("4s", "1s", "4s"))


def test_all_slots_together_leave_connections_free() -> None:
    for dialect in ("sqlite", "postgresql"):
        lanes = vars(TransactionLimits(dialect)).values()
        slots = sum(int(lane.limiter.total_tokens) for lane in lanes if isinstance(lane, Lane))
        without_connection = int(TransactionLimits(dialect).download.limiter.total_tokens)
        assert slots - without_connection < POOL_SIZE
