"""The site is built without a warning, works without a connection, and has every page."""

import re
import subprocess
import sys
from pathlib import Path

from tests.documentation import PAGES, ROOT

LOADED = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*?(?:src|href)="(\w+:)?//""")


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs"]
    command += ["-d", str(tmp_path / "trees"), ".", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    site = tmp_path / "site"
    pages = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    expected = {page.relative_to(ROOT).with_suffix(".html") for page in PAGES}
    assert expected <= {path.relative_to(site) for path in pages}
    assert [path for path, text in pages.items() if LOADED.search(text)] == []
    assert "docs/pilot" in (site / "searchindex.js").read_text(encoding="utf-8")
    first = pages[site / "docs/README.html"]
    captions = re.findall(r'class="caption-text">([^<]+)<', first)
    assert captions == ["Tutorials", "How-to guides", "Reference", "Explanation", "Development"]
