"""Lists of quick cases: one test runs all of them and reports every one that fails."""

import functools
import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

Test = Callable[..., None]


def each_case(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test with every case, as `pytest.mark.parametrize` does, but as one test.

    ``cases`` are values, or tuples of them where there are several names. Every case has its own
    folder, if the test takes ``tmp_path``; other fixtures are made once for all.
    """
    known = list(cases)
    several = isinstance(names, tuple)
    taken = names if isinstance(names, tuple) else (names,)

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        kept = [each for each in signature.parameters.values() if each.name not in taken]
        own = inspect.Parameter(
            "subtests", inspect.Parameter.KEYWORD_ONLY, annotation=pytest.Subtests
        )

        @functools.wraps(test)
        def run(*, subtests: pytest.Subtests, **fixtures: Any) -> None:
            for number, case in enumerate(known):
                values = dict(zip(taken, case if several else (case,), strict=True))
                with subtests.test(f"case {number}", **values):
                    test(**_with_folder(fixtures, number), **values)

        run.__signature__ = signature.replace(  # type: ignore[attr-defined]  # pytest reads it
            parameters=[*(each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in kept), own]
        )
        return run

    return decorate


def _with_folder(fixtures: dict[str, Any], number: int) -> dict[str, Any]:
    if "tmp_path" not in fixtures:
        return fixtures
    folder: Path = fixtures["tmp_path"] / f"case-{number}"
    folder.mkdir()
    return fixtures | {"tmp_path": folder}
