"""The notebooks run from top to bottom; their cells are executed here without Jupyter."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Command
from tests.documentation import DOCS

NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


def execute(notebook: Path) -> dict[str, Any]:
    """Run the code cells in order; evaluate the last expression of each, as a notebook shows it."""
    names: dict[str, Any] = {}
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    for number, cell in enumerate(cells):
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]), f"{notebook.name}, cell {number}")
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, notebook.name, "exec"), names)
        if isinstance(last, ast.Expr):
            shown = eval(compile(ast.Expression(last.value), notebook.name, "eval"), names)
            assert repr(shown), (notebook.name, number)
    return names


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, topkapi: Command) -> None:
    """Change to a folder with the files that the first cell of a notebook asks for."""
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    for arguments in (
        ["demo", "--if-empty"],
        ["export", "everyday-questions", "pairs.tsv", "--out", "pairs.tsv"],
        ["export", "everyday-questions", "qrels", "--out", "qrels"],
    ):
        topkapi.done(*arguments)


def test_the_notebooks_run_from_top_to_bottom() -> None:
    assert [notebook.stem for notebook in NOTEBOOKS] == ["agreement", "models"]
    agreement, models = (execute(notebook) for notebook in NOTEBOOKS)
    assert set(agreement["lists"]) == {"tulips", "bread", "ficus", "wool", "swim", "knife"}
    assert agreement["figures"]["value"]["overall"] > 0.5
    table = models["table"]
    assert (table.loc[10] > 0.7).all()
    assert (abs(table.loc[10] - table.loc[30]) < 0.02).all()
