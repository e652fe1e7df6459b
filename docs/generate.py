"""Write docs/reference and the names in help texts from the program; a test compares them with it.

Usage: python -m docs.generate
"""

import inspect
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import redirect_stdout, suppress
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any, get_type_hints
from unittest.mock import patch

from fastapi import FastAPI
from fastapi.routing import APIRoute, iter_route_contexts
from numpydoc.docscrape import NumpyDocString
from typer.core import TyperGroup
from typer.main import get_command

import topkapi
from topkapi.analysis.data import RankingData
from topkapi.analysis.data.exports import PairAnswer
from topkapi.analysis.dcglearn.replication.figures import FIGURES
from topkapi.analysis.dcglearn.replication.letor_figures import LETOR_FIGURES
from topkapi.analysis.experiments.tables import FORMATS
from topkapi.analysis.metrics.registry import usual_names
from topkapi.analysis.models import MODELS
from topkapi.analysis.papers.sweeps import KS
from topkapi.analysis.report import sources
from topkapi.analysis.report.figures import Figure
from topkapi.analysis.report.subjects.agreement import Agreement
from topkapi.app import main as program
from topkapi.app.cli import COMMANDS, build, main
from topkapi.app.config import Settings
from topkapi.app.domain.errors import AppError
from topkapi.app.domain.settings import Setting
from topkapi.app.domain.study import SETTINGS, Grade
from topkapi.app.services.results.exports import EXPORTS
from topkapi.app.web.access.deps import ApiAdmin, ApiResearcher
from topkapi.app.web.access.early_auth import EarlyApiAdmin, EarlyApiResearcher
from topkapi.app.web.common import errors
from topkapi.app.web.server.openapi import describe

FOLDER = Path(__file__).parent / "reference"
CHOICES_MODULE = FOLDER.parents[1] / "app/cli/choices.py"
CHOICES: Mapping[str, Iterable[object]] = {
    "MODELS": MODELS,
    "TABLE_FORMATS": FORMATS,
    "PREFERENCE_FORMATS": sources.FORMATS,
    "FIGURES": FIGURES,
    "LETOR_FIGURES": LETOR_FIGURES,
    "KS": KS,
    "EXPORTS": EXPORTS,
}
PREFIX = "/api/v1"
ROLES = {
    **dict.fromkeys((ApiAdmin, EarlyApiAdmin), "admin"),
    **dict.fromkeys((ApiResearcher, EarlyApiResearcher), "researcher"),
}
PACKAGES = (
    *("data", "metrics", "models", "agreement", "aggregation", "experiments", "efficiency"),
    *("machines", "dcglearn", "report"),
)
MADE = "<!-- written by python -m docs.generate: change the program, not this page -->"

COMMAND_PAGE = """# Commands
Every command has `--help`. Most take `--json` for programs; errors are then one line of JSON on
standard error, with a [code](errors.md). `topkapi --install-completion` sets up completion in your
shell. In a checkout, the program is `.venv/bin/topkapi`.
"""
SERVER_PAGE = """# Settings of the server
Set these as environment variables, or in a file `.env` in the folder where you start `topkapi`.
Secrets can also be files of that name in `/run/secrets` (containers) or in systemd's credentials
directory. Unknown `TOPKAPI_` names are refused. `topkapi doctor` checks all settings;
[operate a server](../operate.md) explains when to set them.
"""
STUDY_PAGE = """# Settings of a study
Set these in `study.toml`, on the *Settings* page of a study, with `topkapi study settings` or
through the API. Settings marked *frozen* cannot be changed once work has been assigned.
"""
API_PAGE = """# Addresses of the API
All addresses start with `/api/v1`. [The API](../api.md) describes tokens, paging and errors;
`/api/v1/openapi.json` has the types of all fields. Researchers can also use what is open to all
roles; administrators can use everything.
"""
ERROR_PAGE = """# Error codes
Errors of the API have `code` and `status` ([errors](../api.md#errors)); errors of a command with
`--json` have `code`. Codes are stable; messages are for people.
"""
LIBRARY_PAGE = """# The library
`import topkapi` gives the names of the first section; the packages below take and return arrays.
The library works without a server. [Use it in a notebook](../notebook.md) has complete examples.
"""


def pages() -> dict[str, str]:
    """Return the text of each page by its file name."""
    return {
        "commands.md": _page(COMMAND_PAGE, _commands()),
        "server-settings.md": _page(SERVER_PAGE, _server_settings()),
        "study-settings.md": _page(STUDY_PAGE, _study_settings()),
        "api.md": _page(API_PAGE, _api()),
        "errors.md": _page(ERROR_PAGE, _errors()),
        "library.md": _page(LIBRARY_PAGE, _library()),
    }


def _page(introduction: str, blocks: Iterable[str]) -> str:
    title, _, text = introduction.partition("\n")
    return "\n\n".join([title, MADE, text.strip(), *blocks]) + "\n"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    cells = ([" ".join(cell.split()).replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |".replace("|  |", "| |") for line in cells)


def _commands() -> Iterator[str]:
    rows = ((f"[`topkapi {name}`](#topkapi-{name})", about) for name, about in COMMANDS.items())
    yield _table(("command", "what it does"), rows)
    for name in COMMANDS:
        yield f"## topkapi {name}"
        command = get_command(build([name]))
        assert isinstance(command, TyperGroup)
        shown = command.commands[name]
        if not isinstance(shown, TyperGroup):
            yield _help(name)
            continue
        for each in shown.commands:
            yield f"### topkapi {name} {each}"
            yield _help(name, each)


def _help(*command: str) -> str:
    printed = StringIO()
    width = patch.dict(os.environ, {"COLUMNS": "100"})
    with width, redirect_stdout(printed), suppress(SystemExit):
        main([*command, "--help"])
    lines = (line.rstrip() for line in printed.getvalue().strip().splitlines())
    return "\n".join(["```text", *lines, "```"])


def _server_settings() -> Iterator[str]:
    rows = []
    for name, field in Settings.model_fields.items():
        is_flag = isinstance(field.default, bool)
        shown = json.dumps(field.default) if is_flag else str(field.default)
        rows.append((f"`TOPKAPI_{name.upper()}`", shown and f"`{shown}`", field.description or ""))
    yield _table(("variable", "default", "meaning"), rows)


def _study_settings() -> Iterator[str]:
    own = (
        ("`name`", "name of the folder", "Name of the study.", ""),
        ("`slug`", "from the name", "Short name for addresses and commands.", "frozen"),
    )
    rows = ((f"`{each.name}`", *_declared(each)) for each in SETTINGS.values())
    yield _table(("setting", "default", "meaning", ""), (*own, *rows))
    yield (
        "`grades` are names, or `[[grades]]` tables with `name` and `description`. More about\n"
        "[sorters](../sorters.md), [gold pairs](../studies.md#known-answers), "
        "[training](../studies.md#train-the-assessors) and\n"
        "[pairs of lists](../lists.md#set-up-the-lists)."
    )


def _declared(setting: Setting) -> tuple[str, str, str]:
    choices = ", ".join(f"`{name}`" for name in setting.choices)
    parts = (setting.help, f"{setting.range.capitalize()}." if setting.range else "")
    one_of = f"One of {choices}." if choices else ""
    meaning = " ".join(part for part in (*parts, one_of) if part)
    return _default(setting.default), meaning, "frozen" if setting.frozen else ""


def _default(value: object) -> str:
    if value is None or value == "":
        return "none"
    if isinstance(value, tuple):
        return ", ".join(f"`{each.name if isinstance(each, Grade) else each}`" for each in value)
    return f"`{json.dumps(value)}`"


def api_app() -> FastAPI:
    """Return an application with every route, without a database."""
    app = FastAPI(title="Topkapi")
    app.router.routes.extend(program._routes())
    describe(app)
    return app


def _api() -> Iterator[str]:
    app = api_app()
    roles = {
        (method, route.path): _role(route)
        for route in (found.route for found in iter_route_contexts(app.routes))
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    }
    description = app.openapi()
    by_tag: dict[str, list[tuple[str, ...]]] = {}
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            if path.startswith(PREFIX):
                about = operation["description"].partition("\n\n")[0]
                address = f"`{method.upper()} {path.removeprefix(PREFIX)}`"
                takes = ", ".join(f"`{name}`" for name in _taken(operation, description))
                row = (address, about, takes, roles[method.upper(), path])
                by_tag.setdefault(operation["tags"][0], []).append(row)
    for tag, rows in by_tag.items():
        yield f"## {tag.capitalize()}"
        yield _table(("address", "what it does", "takes", "role"), rows)


def _role(route: APIRoute) -> str:
    hints = get_type_hints(route.endpoint, include_extras=True).values()
    return next((ROLES[hint] for hint in hints if hint in ROLES), "all")


def _taken(operation: dict[str, Any], description: dict[str, Any]) -> Iterator[str]:
    """Yield the query parameters of an operation, and the fields or the media type of its body."""
    for each in operation.get("parameters", ()):
        if each["in"] == "query":
            yield each["name"]
    content = operation.get("requestBody", {}).get("content", {})
    for media_type, body in content.items():
        if media_type != "application/json":
            yield media_type
            continue
        schemas = (body["schema"], *body["schema"].get("anyOf", ()))
        names = (schema["$ref"].rsplit("/", 1)[-1] for schema in schemas if "$ref" in schema)
        for name in names:
            schema = description["components"]["schemas"][name]
            yield from schema.get("properties", ())


def _errors() -> Iterator[str]:
    refusals = sorted((_status(each), each.code, _sentence(each)) for each in _below(AppError))
    rows = [(f"`{code}`", str(status), about) for status, code, about in refusals]
    yield "## Refusals"
    yield _table(("code", "status", "meaning"), rows)
    yield "## Other errors"
    yield _table(("code", "status", "meaning"), SERVER_CODES)
    yield "## Commands"
    yield "A command that fails exits with 1, or with 2 for wrong usage."
    yield _table(("code", "meaning"), COMMAND_CODES)


SERVER_CODES = (
    ("`invalid`", "422", "The body or a parameter is malformed; `detail` names the field."),
    ("`incomplete`", "400", "The request ended before its body was complete."),
    ("`busy`", "503", "Nothing was written; try again after `Retry-After` seconds."),
    ("`unexpected`", "500", "An internal error; find it in the server's log by request id."),
    (
        "`missing_package`",
        "501",
        "An optional package is not installed on the server; `detail` names it.",
    ),
    ("`method_not_allowed`", "405", "The address does not accept this kind of request."),
    ("`request_timeout`", "408", "The body took too long to arrive."),
    (f"`{errors.CODES[413]}`", "413", "The body is too large."),
)
COMMAND_CODES = (
    ("`usage`", "An option or an argument is wrong."),
    ("`settings`", "A setting of the server is wrong; the message names the variable."),
    ("`database`", "The database cannot be reached, or refused the connection."),
    ("`refused`", "A file or request cannot be used; `problems` lists each cause."),
    ("`unexpected`", "An internal error; `TOPKAPI_LOG_LEVEL=debug` shows where."),
)


def _below(kind: type[AppError]) -> Iterator[type[AppError]]:
    for each in kind.__subclasses__():
        if "code" in vars(each):
            yield each
        yield from _below(each)


def _status(kind: type[AppError]) -> int:
    return next(errors.STATUS[base] for base in kind.__mro__ if base in errors.STATUS)


def _library() -> Iterator[str]:
    yield "## topkapi"
    for name in topkapi.__all__:
        value = getattr(topkapi, name)
        if inspect.isfunction(value):
            yield from _documented(f"topkapi.{name}", value)
    yield "### topkapi.MODELS"
    yield "Ranking models by name; `MODELS[name](...)` has `fit(data)` and `predict(data)`."
    rows = ((f"`{name}`", _sentence(model)) for name, model in topkapi.MODELS.items())
    yield _table(("model", "what it is"), rows)
    yield f"Measures: {', '.join(f'`{name}`' for name in usual_names())}."
    yield "## Types"
    for kind in (RankingData, PairAnswer, Agreement, Figure):
        yield from _documented(f"{kind.__module__}.{kind.__name__}", kind)
    for package in PACKAGES:
        module = import_module(f"topkapi.analysis.{package}")
        if names := getattr(module, "__all__", ()):
            yield f"## {module.__name__}"
            yield _code((module.__doc__ or "").strip().partition("\n\n")[0])
            rows = ((f"`{name}`", _about(getattr(module, name))) for name in names)
            yield _table(("name", "what it is"), rows)


def _documented(name: str, value: Any) -> Iterator[str]:
    """Yield a function or class with its numpydoc sections."""
    found = NumpyDocString(inspect.getdoc(value) or "")
    yield f"### {name}"
    yield f"```text\n{value.__name__}{_signature(value)}\n```"
    yield _code("\n".join([*found["Summary"], "", *found["Extended Summary"]]).strip())
    for section in ("Parameters", "Attributes", "Returns", "Raises"):
        if found[section]:
            rows = ((f"`{each.name or each.type}`", " ".join(each.desc)) for each in found[section])
            yield _code(_table((section.lower(), ""), rows))
    if found["Examples"]:
        yield "\n".join(["```pycon", *found["Examples"], "```"])


def _signature(value: Any) -> str:
    """Return the signature without the paths of modules."""
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", str(inspect.signature(value)))


def _about(value: object) -> str:
    documented = inspect.isclass(value) or inspect.isfunction(value)
    return _sentence(value) if documented else f"a {type(value).__name__}"


def _sentence(value: object) -> str:
    """Return the first paragraph of a docstring."""
    return _code(" ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split()))


def _code(text: str) -> str:
    """Return reStructuredText of docstrings as Markdown: code in single ticks, no citations."""
    return re.sub(r"\[(\w+)\]_", r"[\1](../../analysis/REFERENCES.md)", text.replace("``", "`"))


def choices_module() -> str:
    """Return the module of the names that help texts list, which imports nothing."""
    about = "Names in help texts, written by `python -m docs.generate`: help imports nothing heavy."
    blocks = [f'"""{about}"""\n']
    for name, values in CHOICES.items():
        lines = (f"    {json.dumps(value)},\n" for value in values)
        blocks.append(f"{name} = (\n{''.join(lines)})")
    return "\n".join(blocks) + "\n"


def write() -> None:
    """Write every page, and the module of names."""
    CHOICES_MODULE.write_text(choices_module(), encoding="utf-8")
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
