"""`topkapi serve`: run the server."""

from __future__ import annotations

import socket
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from topkapi.app.cli.common import ensure_migrated, open_sessions
from topkapi.app.cli.failures import Refused
from topkapi.app.cli.running import RUNNING
from topkapi.app.cli.work import working_beside
from topkapi.app.demo_accounts import DEMO_PASSWORD

if TYPE_CHECKING or RUNNING:
    from topkapi.app.assets import require_assets
    from topkapi.app.config import Settings
    from topkapi.app.db.queries.accounts.accounts import any_users, demo_users
    from topkapi.app.secret import load_secret
    from topkapi.app.services.importing.portions import finish_interrupted


def register(cli: typer.Typer) -> None:
    """Add the command to the command line."""
    epilog = (
        "Example: TOPKAPI_DATABASE_URL=postgresql://localhost/topkapi topkapi serve --workers 4"
    )
    cli.command("serve", epilog=epilog)(serve)


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port to listen on.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, max=256, help="Server processes.")] = None,
    work: Annotated[
        bool, typer.Option(help="Also run background jobs, as topkapi work does.")
    ] = True,
) -> None:
    """Serve the pages and the API. SQLite is migrated automatically; migrate PostgreSQL first."""
    import uvicorn

    settings = Settings()
    require_assets()
    host, port = host or settings.host, port or settings.port
    load_secret(settings.secret_file)
    ensure_migrated(settings)
    _refuse_taken_port(host, port)
    with open_sessions(settings) as sessions:
        finish_interrupted(sessions)
    _greet(settings, host, port)
    with working_beside() if work else nullcontext():
        uvicorn.run(
            "topkapi.app.main:app_from_environment",
            factory=True,
            host=host,
            port=port,
            workers=workers or settings.workers,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=True,
            forwarded_allow_ips=settings.trusted_proxies,
            timeout_graceful_shutdown=5,
            timeout_worker_healthcheck=30,
            http="topkapi.app.web.server.protocol:BoundedProtocol",
            ws="none",
        )


def _refuse_taken_port(host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise Refused(f"cannot listen on {host}, port {port}: {error.strerror}") from None


def _greet(settings: Settings, host: str, port: int) -> None:
    shown = "localhost" if host in ("127.0.0.1", "0.0.0.0", "::", "::1") else host
    typer.echo(f"Topkapi is at http://{shown}:{port} (Ctrl-C stops it)")
    with open_sessions(settings) as sessions, sessions.read() as session:
        people, empty = demo_users(session), not any_users(session)
    if empty:
        typer.echo("There is no account yet. Create an administrator:")
        typer.echo("  topkapi users add you@example.org --name 'Your Name' --role admin")
    if people:
        typer.echo(f"Demo sign-ins, on this machine only, password {DEMO_PASSWORD}:")
    for person in people:
        typer.echo(f"  {person.email:<32} {person.role:<11} {person.name}")
