"""Templates read views: no field of a view is, or leads to, a row of the database."""

import dataclasses
import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_type_hints

from topkapi.analysis import machines
from topkapi.analysis.report.subjects import leaderboard, systems
from topkapi.app import web
from topkapi.app.db.base import Base


def view_classes() -> list[type[Any]]:
    """Return the dataclasses of every module of views, and all that are called views."""
    modules = pkgutil.walk_packages(web.__path__, f"{web.__name__}.")
    return [
        value
        for name in (module.name for module in modules)
        for value in vars(importlib.import_module(name)).values()
        if isinstance(value, type) and dataclasses.is_dataclass(value) and value.__module__ == name
        if value.__name__.endswith("View") or name.endswith(("views", "view"))
    ]


def rows_in(kind: Any, path: str, seen: set[Any]) -> Iterator[str]:
    """Yield the paths from ``kind`` to classes of rows, and to fields of unknown type."""
    if kind == Mapping[str, Any]:  # stored JSON
        return
    if kind is Any or (isinstance(kind, type) and issubclass(kind, Base)):
        yield f"{path}: {kind}"
    for part in get_args(kind):
        yield from rows_in(part, path, seen)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind) and kind not in seen:
        seen.add(kind)
        names = (
            vars(systems) | vars(leaderboard) | vars(machines)
        )  # views import them for types only
        hints = get_type_hints(kind, localns=names)
        for field in dataclasses.fields(kind):
            yield from rows_in(hints[field.name], f"{path}.{field.name}", seen)


def test_views_hold_no_rows_of_the_database() -> None:
    views = view_classes()
    assert len(views) > 50
    assert [row for view in views for row in rows_in(view, view.__name__, set())] == []
