"""Retired names and odd words do not come back, in code, pages and documentation."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

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


def test_code_uses_conventional_names_and_plain_words() -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in PYTHON}
    found = {
        str(path.relative_to(ROOT)): words
        for path, source in sources.items()
        if (words := NAMES.findall(source) + WORDS.findall("\n".join(prose(source))))
    }
    assert len(sources) > 100
    assert found == {}


def test_pages_and_documentation_use_plain_words() -> None:
    texts = {path: WORDS.findall(path.read_text(encoding="utf-8")) for path in TEXTS}
    assert len(texts) > 100
    assert {str(path.relative_to(ROOT)): words for path, words in texts.items() if words} == {}
