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
from topkapi.app.installation.demo_accounts import DEMO_PASSWORD

if TYPE_CHECKING or RUNNING:
    from topkapi.app.config import Settings
    from topkapi.app.db.queries.accounts.accounts import any_users, demo_users
    from topkapi.app.installation.assets import require_assets
    from topkapi.app.installation.secret import load_secret
    from topkapi.app.services.accounts.invitations import first_code
    from topkapi.app.services.importing.portions import finish_interrupted
    from topkapi.app.web.server import processes
    from topkapi.app.web.server.logs import configure_logs

commands = typer.Typer()


@commands.command(
    epilog="Example: TOPKAPI_DATABASE_URL=postgresql://localhost/topkapi topkapi serve --workers 4"
)
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port to listen on.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, max=256, help="Server processes.")] = None,
    work: Annotated[
        bool, typer.Option(help="Also run background jobs, as topkapi work does.")
    ] = True,
) -> None:
    """Serve the pages and the API. SQLite is migrated automatically; migrate PostgreSQL first."""
    settings = Settings()
    require_assets()
    host, port = host or settings.host, port or settings.port
    load_secret(settings.secret_file)
    with _listening(host, port) as listener:
        ensure_migrated(settings, create=True)
        with open_sessions(settings) as sessions:
            finish_interrupted(sessions)
        _greet(settings, host, listener.getsockname()[1])
        configure_logs(settings.log_level)  # of this process, which watches the others
        with working_beside() if work else nullcontext():
            processes.run(
                listener,
                workers=workers or settings.workers,
                trusted_proxies=settings.trusted_proxies,
            )


def _listening(host: str, port: int) -> socket.socket:
    """Return a listening socket; who connects before the server has started waits for it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise Refused(f"cannot listen on {host}, port {port}: {error.strerror}") from None


def _greet(settings: Settings, host: str, port: int) -> None:
    shown = "localhost" if host in ("127.0.0.1", "0.0.0.0", "::", "::1") else host
    public = f", for others at {settings.public_url}" if settings.public_url else ""
    typer.echo(
        f"Topkapi listens at http://{shown}:{port}{settings.prefix}{public} (Ctrl-C stops it)"
    )
    with open_sessions(settings) as sessions, sessions.read() as session:
        people, empty = demo_users(session), not any_users(session)
    if empty:
        base = settings.public_url or f"http://{shown}:{port}"
        typer.echo("There is no account yet. Create the first administrator in the browser:")
        typer.echo(f"  {base}/first/{first_code(load_secret(settings.secret_file))}")
        typer.echo("or here: topkapi users add you@example.org --name 'Your Name' --role admin")
    if people:
        typer.echo(f"Demo sign-ins, on this machine only, password {DEMO_PASSWORD}:")
    for person in people:
        typer.echo(f"  {person.email:<32} {person.role:<11} {person.name}")
