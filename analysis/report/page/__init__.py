"""The report as one HTML page that needs nothing else: styles inside, plots as SVG, no script."""

from importlib import resources

from analysis.report.figures import Json
from analysis.report.page.agreement import headline, matrices, notes, numbers_first
from analysis.report.page.effort import effort
from analysis.report.page.markup import counted, text
from analysis.report.page.measures import tests
from analysis.report.page.people import assessors, conduct
from analysis.report.page.queries import consensus, queries
from analysis.report.page.sureness import sureness

TABS = (
    ("agreement", "Agreement"),
    ("effort", "Effort"),
    ("sides", "Sides and checks"),
    ("people", "By assessor"),
    ("queries", "By query"),
    ("consensus", "Consensus"),
)
SURE = ("confidence", "How sure")
MARK = (
    '<svg viewBox="0 0 22 22" aria-hidden="true"><path d="M11 1.5c2 2.4 5 3.3 5 6.5H6c0-3.2 3-4.1 '
    '5-6.5z"/><rect x="4" y="10" width="14" height="3" rx="1"/><rect x="4" y="14.5" width="10" '
    'height="2.5" rx="1" opacity=".6"/><rect x="4" y="18.5" width="6" height="2" rx="1" '
    'opacity=".35"/></svg>'
)


def render_page(report: Json) -> str:
    """The whole page; it can be opened from a disk, printed, or mailed."""
    style = resources.files("analysis.report.page").joinpath("report.css").read_text("utf-8")
    name = text(report["study"]["name"])
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Agreement and effort: {name}</title><style>{style}</style></head><body>"
        f'<header class="bar"><span class="brand">{MARK} Topkapi</span></header>'
        f'<main class="shell" id="main">{render_body(report)}</main></body></html>\n'
    )


def render_body(report: Json, *, framed: bool = False) -> str:
    """What stands inside ``main``; ``framed`` for pages that bring a title and tabs of their own.

    A study in which nobody has done anything gets its notes alone.
    """
    opening = _about(report) if framed else _head(report)
    if not any(tool["people"] for tool in report["tools"]):
        return opening + (notes(report) or headline(report))
    named = (*TABS, SURE) if "confidence" in report else TABS
    tabs = "".join(f'<a href="#{name}">{title}</a>' for name, title in named)
    kind = "toc" if framed else "tabs"
    return "".join(
        [
            opening,
            notes(report),
            f'<nav class="{kind}" aria-label="Report">{tabs}</nav>',
            headline(report),
            numbers_first(report),
            matrices(report),
            tests(report),
            effort(report),
            conduct(report),
            assessors(report),
            queries(report),
            consensus(report),
            sureness(report),
        ]
    )


def _head(report: Json) -> str:
    return f'<div class="head"><div><h1>Agreement and effort</h1>{_about(report)}</div></div>'


def _about(report: Json) -> str:
    study = report["study"]
    lists = f", lists of {study['k']}" if study["k"] else ""
    words = (
        f"{study['name']}: {counted(study['assessors'], 'assessor')}, "
        f"{counted(study['queries'], 'query', 'queries')}, "
        f"{counted(study['documents'], 'candidate page')}{lists}. Every pair of pages that "
        "two assessors judged counts once; two pages outside a list are a tie."
    )
    return f'<p class="about">{text(words)}</p>'


__all__ = ["render_body", "render_page"]
