"""A record is declared once: classes with the same fields, and shared names, can only get fewer."""

import ast
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

ROOT = Path(__file__).parent.parent
MOST_PAIRS = 5  # of classes with identical fields; lower it with each one that goes
MOST_SHARED_NAMES = 3  # names of more than one class; lower it likewise


def classes() -> Iterator[tuple[str, str, frozenset[str]]]:
    """Yield the file, the name and the fields of every class of the program."""
    for path in sorted(
        path for root in ("app", "analysis") for path in (ROOT / root).rglob("*.py")
    ):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                fields = {
                    each.target.id
                    for each in node.body
                    if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
                }
                yield str(path.relative_to(ROOT)), node.name, frozenset(fields)


def test_few_classes_have_the_fields_of_another() -> None:
    found = [each for each in classes() if len(each[2]) > 1]
    same = [(one[:2], two[:2]) for one, two in combinations(found, 2) if one[2] == two[2]]
    assert len(found) > 500
    assert len(same) == MOST_PAIRS, same


def test_few_names_stand_for_two_classes() -> None:
    names = Counter(name for _, name, _ in classes())
    shared = sorted(name for name, count in names.items() if count > 1)
    assert len(shared) == MOST_SHARED_NAMES, shared
