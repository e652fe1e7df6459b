"""Retired names and words do not come back into the library."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import topkapi.analysis

LIBRARY = Path(topkapi.analysis.__file__).parent
NAMES = r"Conduct|SureList|Trials|load_trials|Circles|told_apart|ListStudy|SAID"
WORDS = r"anew|mend|mended|whoever|heard|stands|stood"
FILES = sorted(LIBRARY.rglob("*.py"))


def prose(source: str) -> Iterator[str]:
    """Yield docstrings and comments."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield ast.get_docstring(node) or ""
    yield from re.findall(r"#\s(.*)$", source, flags=re.MULTILINE)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(LIBRARY)))
def test_retired_names_and_words_are_gone(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert not re.findall(rf"\b({NAMES})\b", source)
    assert not re.findall(rf"\b({WORDS})\b", "\n".join(prose(source)), flags=re.IGNORECASE)
