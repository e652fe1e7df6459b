"""The server's processes: one, or several that share a listening socket."""

import os
import sys
from asyncio import sleep
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from socket import socket
from tempfile import TemporaryDirectory
from threading import Thread

from uvicorn import Config, Server
from uvicorn.config import STARTUP_FAILURE

from topkapi.app.web.server.protocol import is_readable
from topkapi.app.web.server.supervisor import Supervisor

_ACCEPT_ROUNDS = 1000  # of the event loop, at most, to accept who has connected when it stops
MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"  # of prometheus-client, read when it is imported
GRACE_SECONDS = 5  # for requests in progress when the server stops


def run(listener: socket, *, workers: int, trusted_proxies: str) -> None:
    """Answer requests that arrive at ``listener`` until the process is asked to end."""
    config = Config(
        "topkapi.app.main:app_from_environment",
        factory=True,
        workers=workers,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=True,
        forwarded_allow_ips=trusted_proxies,
        timeout_graceful_shutdown=GRACE_SECONDS,
        http="topkapi.app.web.server.protocol:BoundedProtocol",
        ws="none",
    )
    with suppress(KeyboardInterrupt):
        if workers > 1:
            with TemporaryDirectory(prefix="topkapi-metrics-") as shared:
                os.environ[MULTIPROCESS] = shared
                _run_several(config, listener)
            return
        config.load_app()
        server = _Server(config)
        server.run(sockets=[listener])
        if not server.started:
            sys.exit(STARTUP_FAILURE)


def _run_several(config: Config, listener: socket) -> None:
    work = partial(_run_one_of_several, config, listener)
    supervisor = Supervisor(work, config.workers, fatal=STARTUP_FAILURE)
    code = supervisor.watch()
    listener.close()  # of this process, else clients that connect meanwhile would be reset
    supervisor.end()
    if code:
        sys.exit(code)


def _run_one_of_several(config: Config, listener: socket, questions: Connection) -> None:
    server = _Server(config)
    Thread(target=_reply, args=(server, questions), daemon=True).start()
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listener])


def _reply(server: Server, questions: Connection) -> None:
    with suppress(OSError, EOFError):  # the other process has ended
        while True:
            questions.recv()
            questions.send(server.started)


class _Server(Server):
    """A server that accepts who has connected before it closes its socket."""

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """Let the event loop accept who waits, then stop."""
        for _ in range(_ACCEPT_ROUNDS):
            if not any(is_readable(each) for each in sockets or ()):
                break
            await sleep(0.001)
        await super().shutdown(sockets)
