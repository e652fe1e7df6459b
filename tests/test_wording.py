"""Retired names and odd words do not come back, in code, pages and documentation."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NAMES = re.compile(
    r"\b(Standing|ContestCourse|RobustCourse|contest|ToolKit|KITS|Said|UploadDesk|desk_of|Milestones"
    r"|Places|AdminAtDoor|Beliefs|Certainty|Unheard|Conduct|SureList|Trials|load_trials|Circles"
    r"|told_apart|ListStudy|ToolAdapter|TOOL_ADAPTERS|LoggedSession|progress_of|shown_in|Prospect"
    r"|Belief|said_in_study|take_turn|ResearcherAtDoor|ApiResearcherAtDoor|size_in_words|Told|Desk)\b"
)
WORDS = re.compile(
    r"\b(anew|mended|whoever|heard|thereby|(?:give|gives|given|giving) out)\b", re.IGNORECASE
)
PYTHON = sorted(path for root in ("app", "analysis") for path in (ROOT / root).rglob("*.py"))
TEXTS = sorted(
    path
    for pattern in ("templates/**/*.html", "static/js/*.js", "docs/**/*.md", "*.md")
    for path in ROOT.glob(pattern)
    if path.name != "CHANGELOG.md"
)


def prose(source: str) -> Iterator[str]:
    """Yield docstrings, other strings and comments."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
    yield from re.findall(r"#\s(.*)$", source, flags=re.MULTILINE)


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_uses_conventional_names_and_plain_words(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert NAMES.findall(source) == []
    assert WORDS.findall("\n".join(prose(source))) == []


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_and_documentation_use_plain_words(path: Path) -> None:
    assert WORDS.findall(path.read_text(encoding="utf-8")) == []
