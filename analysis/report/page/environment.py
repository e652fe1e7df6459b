"""The template environment of the report."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from topkapi.analysis.report.page.explanations import EXPLANATIONS
from topkapi.analysis.report.page.numbers import (
    counted,
    decimals,
    formatted,
    p_value,
    percent,
    whole,
)

FOLDER = Path(__file__).parent


@cache
def environment() -> Environment:
    """Return the environment; every value in a template is escaped."""
    made = Environment(
        loader=FileSystemLoader((FOLDER, FOLDER.parent / "subjects")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.do"],
    )
    filters = (counted, decimals, formatted, p_value, percent, whole)
    made.filters |= {each.__name__: each for each in filters}
    made.globals["explanations"] = EXPLANATIONS
    return made


def stylesheet() -> str:
    """Return the style of a self-contained page: design tokens, then rules."""
    return "".join((FOLDER / name).read_text("utf-8") for name in ("tokens.css", "report.css"))
