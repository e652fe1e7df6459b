"""The documentation site: `make docs` builds it from the Markdown pages of the repository.

The source folder is the checkout, so that links work there and on the site alike. The tables of
links in `docs/README.md` and `docs/decisions/README.md` are the navigation.
"""

import re
from pathlib import Path
from typing import Any

import topkapi

project = "Topkapi"
author = "The Topkapi maintainers"
release = topkapi.__version__
root_doc = "docs/README"
include_patterns = ["*.md", "docs/**.md", "analysis/REFERENCES.md", "paper/README.md"]
exclude_patterns = [".*", "node_modules", "dist"]
extensions = ["myst_parser"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"Topkapi {release}"
html_favicon = "../static/img/mark.svg"
html_copy_source = False
html_use_index = False
html_show_sphinx = False
html_show_copyright = False
# Fonts of the system: the site works, and looks the same, without a connection.
_FONTS = {"font-stack": "system-ui, sans-serif"}
html_theme_options = {"light_css_variables": _FONTS, "dark_css_variables": _FONTS}


def _navigate(_app: Any, page: str, source: list[str]) -> None:
    """Append a table of contents per section of an index: the pages that its tables link to."""
    if page not in (root_doc, "docs/decisions/README"):
        return
    for title, section in re.findall(r"^#+ (.+)\n((?:(?!#).*\n)*)", source[0], re.MULTILINE):
        pages = re.findall(r"^\| \[[^\]]+\]\(([^)#]+\.md)\)", section, re.MULTILINE)
        if pages:
            head = f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n:maxdepth: 1\n\n"
            source[0] += head + "\n".join(pages) + "\n```\n"


def _add_entrance(app: Any, _error: Exception | None) -> None:
    """Lead from the top of the site to its first page."""
    text = f'<meta http-equiv="refresh" content="0; url={root_doc}.html">\n'
    Path(app.outdir, "index.html").write_text(text, encoding="utf-8")


def setup(app: Any) -> None:
    """Register the hooks."""
    app.connect("source-read", _navigate)
    app.connect("build-finished", _add_entrance)
