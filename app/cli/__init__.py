"""The `topkapi` command.

Each command or group of commands is a module in this package with its ``commands``, and a line in
``COMMANDS``. Only the module of the requested command is imported, and for help and shell
completion only its options (see `running`).
"""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from threading import active_count, current_thread, main_thread
from typing import Annotated, Any, NoReturn

try:
    import typer
    from typer.core import TyperGroup
    from typer.main import get_command
except KeyboardInterrupt:
    sys.exit(130)

import topkapi
from topkapi.app.cli.running import COMPLETE, HELP

COMMANDS = {
    "serve": "Serve the pages and the API.",
    "work": "Run background jobs; the server starts one worker itself.",
    "doctor": "Check this installation, and show how to fix problems.",
    "db": "Migrate the database, or check it.",
    "backup": "Write the whole database to one file.",
    "restore": "Fill an empty database from a backup.",
    "users": "Add, list and disable people; create API tokens.",
    "study": "Import studies, assign them, and show their progress.",
    "demo": "Load the demo study, with accounts and partly finished work.",
    "judge": "Have a model judge a study as a machine assessor.",
    "machine": "Certify a machine assessor, or import its judgments from elsewhere.",
    "export": "Export the results of a study.",
    "systems": "Score systems' TREC runs on the labels of a study.",
    "plan": "Plan a study: questions, hours and expected quality of its lists.",
    "simulate": "Simulate sessions: questions and quality of each sorter.",
    "rank": "Train and score ranking models, and reproduce the papers' experiments.",
    "report": "Report the assessors' agreement and effort.",
    "dcg": "Learn gains and discounts of DCG from preferences between lists.",
}


class WholeSummaries(TyperGroup):
    """A group whose help wraps the summaries of its commands instead of cutting them off."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 (of Typer)
        """Write the commands with their whole summaries."""
        commands = self.commands.items()
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.get_short_help_str(1000)) for name, each in commands])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; print errors as one line on standard error; exit with 0 only on success."""
    # Before NumPy is imported: its products here are small, and threads that wait for each other
    # make them several times slower where other processes or requests compute.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    chosen = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with _ended_by_interrupt():
            command = get_command(build(_completed() or chosen))
        chosen = _or_help(chosen, command)
        code = command(chosen, prog_name="topkapi", standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        _exit_at_once()
    except Exception as error:
        from topkapi.app.cli.failures import explain

        failure = explain(error)
        for line in failure.lines(as_json="--json" in chosen):
            print(line, file=sys.stderr)  # noqa: T201 (the last resort, without Typer)
        code = failure.exit_code
    sys.exit(code or 0)


def _or_help(arguments: list[str], command: Any) -> list[str]:
    """Return the arguments; where help is among them, only the command that it is about.

    Its other arguments may be wrong or missing, and the command must not run (see `running`).
    """
    if arguments and HELP not in arguments:
        return arguments
    words = [word for word in arguments if not word.startswith("-")]
    is_group = words and isinstance(command.commands.get(words[0]), TyperGroup)
    return [*words[: 2 if is_group else 1], HELP]


def _exit_at_once() -> NoReturn:
    """Exit after Ctrl-C; do not wait for threads, which may wait for processes that were ended."""
    if active_count() == 1:
        sys.exit(130)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(130)


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


def _completed() -> list[str]:
    """Return the words typed so far while a shell asks for completions, else nothing."""
    if COMPLETE not in os.environ:
        return []
    typed = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")
    return typed.split()[1:]


def build(arguments: Sequence[str]) -> typer.Typer:
    """Build the command line, importing only the command that ``arguments`` name."""
    cli = typer.Typer(
        cls=WholeSummaries,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        help="Top-k preference labeling: run the server, import studies, export results.",
        epilog="Example: topkapi serve --port 8000",
    )
    cli.callback()(_options)
    wanted = next((word for word in arguments if not word.startswith("-")), "")
    for name, summary in COMMANDS.items():
        if name != wanted:
            cli.command(name, help=summary)(_unused)
        else:
            found = import_module(f"topkapi.app.cli.{name}").commands
            alone = len(found.registered_commands) == 1
            group = None if alone else name
            cli.add_typer(found, name=group, cls=WholeSummaries, help=summary)
    return cli


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(topkapi.__version__)
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
