"""The template environment of the report."""

import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from topkapi.analysis.report.numbers import (
    counted,
    decimals,
    formatted,
    p_value,
    percent,
    whole,
)
from topkapi.analysis.report.subjects import (
    agreement,
    comparison,
    confidence,
    consensus,
    effort,
    lists,
    people,
    sides,
)

FOLDER = Path(__file__).parent
SUBJECTS = (agreement, comparison, confidence, consensus, effort, lists, people, sides)


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
    made.globals["explanations"] = {
        key: each for subject in SUBJECTS for key, each in subject.EXPLANATIONS.items()
    }
    return made


def stylesheet() -> str:
    """Return the style of a self-contained page: design tokens, then rules."""
    return "".join((FOLDER / name).read_text("utf-8") for name in ("tokens.css", "report.css"))


def plot_style() -> str:
    """Return the rules of plots with light colours as values: few programs know variables."""
    tokens = (FOLDER / "tokens.css").read_text("utf-8")
    pattern = r"--([\w-]+): (?:light-dark\(([^,]+),[^;]*|([^;]+));"
    values = {  # of names that are declared again for more contrast, the first
        name: light or value for name, light, value in reversed(re.findall(pattern, tokens))
    }
    lines = (FOLDER / "report.css").read_text("utf-8").splitlines()
    rules = "".join(line for line in lines if line.startswith(".plot "))
    return re.sub(r"var\(--([\w-]+)\)", lambda found: values[found[1]], rules)
