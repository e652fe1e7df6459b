"""The server's processes: one, or several that share a listening socket."""

import os
import sys
from asyncio import sleep
from contextlib import suppress
from socket import socket
from tempfile import TemporaryDirectory

from uvicorn import Config, Server
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import multiprocess

from topkapi.app.web.server.protocol import is_readable

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
        timeout_worker_healthcheck=30,
        http="topkapi.app.web.server.protocol:BoundedProtocol",
        ws="none",
    )
    with suppress(KeyboardInterrupt):
        if workers > 1:
            with TemporaryDirectory(prefix="topkapi-metrics-") as shared:
                os.environ[MULTIPROCESS] = shared
                _Processes(config, sockets=[listener]).run()
            return
        config.load_app()
        server = _Server(config)
        server.run(sockets=[listener])
        if not server.started:
            sys.exit(STARTUP_FAILURE)


class _Server(Server):
    """A server that accepts who has connected before it closes its socket."""

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """Let the event loop accept who waits, then stop."""
        for _ in range(_ACCEPT_ROUNDS):
            if not any(is_readable(each) for each in sockets or ()):
                break
            await sleep(0.001)
        await super().shutdown(sockets)


class _Process(multiprocess.Process):
    """A process with a server of ours, which uvicorn cannot be given."""

    @property
    def server(self) -> Server:
        """The server of this process, created where it runs."""
        self._server = self._server or _Server(self.config)
        return self._server


setattr(multiprocess, "Process", _Process)  # noqa: B010 (a class cannot be assigned to otherwise)


class _Processes(multiprocess.Multiprocess):
    """Processes whose socket accepts nothing more once they are asked to end.

    uvicorn's parent process would keep it open, and reset clients that connect meanwhile.
    """

    def terminate_all(self) -> None:
        """Close the socket of this process, then ask the others to end, which close theirs."""
        for each in self.sockets:
            each.close()
        super().terminate_all()
