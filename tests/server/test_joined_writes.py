"""Writes of one step of the event loop reach the transport as one."""

import asyncio
from typing import cast

from tests.threads import in_thread
from topkapi.app.web.server.protocol import JoinedWrites


class Recorded(asyncio.Transport):
    """Records what a real transport would be told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[bytes] = []
        self.closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.closed
        self.told.append(bytes(data))

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = True


def run(*steps: str) -> Recorded:
    """Write, wait for the next step, close or abort, in this order."""
    inner = Recorded()

    async def act() -> None:
        transport = cast(asyncio.Transport, JoinedWrites(inner, asyncio.get_running_loop()))
        for step in steps:
            if step == "wait":
                await asyncio.sleep(0)
            elif step in ("close", "abort"):
                getattr(transport, step)()
            else:
                transport.write(step.encode())
        await asyncio.sleep(0)

    in_thread(asyncio.run, act())
    return inner


def test_head_and_body_are_written_at_once() -> None:
    assert run("head", "body").told == [b"headbody"]


def test_later_parts_of_a_stream_follow_in_order() -> None:
    assert run("head", "one", "wait", "two", "wait", "three").told == [b"headone", b"two", b"three"]


def test_closing_sends_what_was_written() -> None:
    closed = run("head", "body", "close")
    assert closed.told == [b"headbody"]
    assert closed.closed


def test_after_an_abort_nothing_is_written() -> None:
    assert run("head", "body", "abort").told == []
