"""The `topkapi` command.

Each command or group of commands is a module in this package with a function ``register(cli)``, and
a line in ``COMMANDS``. Only the module of the requested command is imported.
"""

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from threading import current_thread, main_thread
from typing import Annotated

try:
    import typer
except KeyboardInterrupt:
    sys.exit(130)

COMMANDS = {
    "serve": "Serve the pages and the API.",
    "db": "Migrate the database, or check it.",
    "backup": "Write the whole database to one file.",
    "restore": "Fill an empty database from a backup.",
    "users": "Add, list and disable people; create API tokens.",
    "study": "Import studies, assign them, and show their progress.",
    "demo": "Load the demo study, with accounts and partly finished work.",
    "export": "Write the results of a study in one of the formats.",
    "simulate": "Simulate sessions: questions and quality of each sorter.",
    "rank": "Train and score ranking models, and repeat the papers' experiments.",
    "report": "Report agreement between assessors, and their effort.",
    "dcg": "Learn the gains and discounts of DCG from preferences between lists.",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; print errors as one line on standard error; exit with 0 only on success."""
    chosen = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        with _ended_by_interrupt():
            command = _build(chosen)
        code = command(chosen, prog_name="topkapi", standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(130)
    except Exception as error:
        from topkapi.app.cli.failures import explain

        message, code = explain(error)
        print(f"topkapi: {message}", file=sys.stderr)  # noqa: T201
    sys.exit(code or 0)


@contextmanager
def _ended_by_interrupt() -> Iterator[None]:
    """Let Ctrl-C end the process at once while modules load, without a traceback."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _build(arguments: Sequence[str]) -> typer.Typer:
    """Build the command line, importing only the command that ``arguments`` name."""
    cli = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        help="Top-k preference labeling: run the server, import studies, export results.",
        epilog="Example: topkapi serve --port 8000",
    )
    cli.callback()(_options)
    wanted = next((word for word in arguments if not word.startswith("-")), None)
    for name, summary in COMMANDS.items():
        if name == wanted:
            import_module(f"topkapi.app.cli.{name}").register(cli)
        else:
            cli.command(name, help=summary)(_unused)
    return cli


def _print_version(wanted: bool) -> None:
    if wanted:
        try:
            typer.echo(version("topkapi"))
        except PackageNotFoundError:
            typer.echo("checkout")
        raise typer.Exit


def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Accept options before a command."""


def _unused() -> None:
    """Stand in for a command that was not requested."""
