"""Relative links and anchors of the documentation have targets."""

import re
from pathlib import Path

from tests.documentation import DOCS, PAGES, ROOT, prose

LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


def linked(page: Path) -> list[tuple[Path, str]]:
    """Return the file and the anchor of each relative link of a page."""
    text = re.sub(r"`[^`\n]*`", "", prose(page))
    targets = [link for link in LINK.findall(text) if "://" not in link]
    split = [target.partition("#") for target in targets]
    return [((page.parent / path) if path else page, anchor) for path, _, anchor in split]


def test_relative_links_lead_to_files_and_headings() -> None:
    links = [(page, path, anchor) for page in PAGES for path, anchor in linked(page)]
    lost = [
        f"{page.name}: {path}#{anchor}"
        for page, path, anchor in links
        if not path.exists() or (anchor and anchor not in anchors(path))
    ]
    assert len(links) > 100
    assert lost == []


def test_the_index_leads_to_every_page() -> None:
    indexes = (DOCS / "README.md", DOCS / "decisions" / "README.md")
    found = {path.resolve() for index in indexes for path, _ in linked(index)}
    assert {page for page in PAGES if page not in indexes} - found <= {ROOT / "README.md"}
