"""The server's processes: one, or several that share a listening socket."""

import sys
from asyncio import sleep
from contextlib import suppress
from socket import socket

from uvicorn import Config, Server
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

_ACCEPT_SECONDS = 0.01
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
        """Let the event loop accept what waits, then stop."""
        await sleep(_ACCEPT_SECONDS)
        await super().shutdown(sockets)


class _Processes(Multiprocess):
    """Processes whose socket accepts nothing more once they are asked to end.

    uvicorn's parent process would keep it open, and reset clients that connect meanwhile.
    """

    def terminate_all(self) -> None:
        """Close the socket of this process, then ask the others to end, which close theirs."""
        for each in self.sockets:
            each.close()
        super().terminate_all()
