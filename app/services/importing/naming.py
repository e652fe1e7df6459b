"""Which file of a folder has which role: by its exact name, or by a word in its name."""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

ROLES: Mapping[str, frozenset[str]] = {
    "queries": frozenset({"queries", "topics"}),
    "documents": frozenset({"documents", "docs", "corpus", "collection"}),
    "candidates": frozenset({"candidates", "qrels", "run", "letor"}),
    "rankings": frozenset({"rankings"}),
    "practice": frozenset({"practice"}),
    "gold": frozenset({"gold"}),
}
QRELS = "qrels/"
_RANKINGS = "rankings/"
_WORDS: Mapping[str, frozenset[str]] = {
    "queries": frozenset({"queries", "query", "topics", "topic", "questions"}),
    "candidates": frozenset({"candidates", "qrels", "qrel", "run", "letor"}),
    "documents": frozenset({"documents", "docs", "corpus", "collection", "passages"}),
}
NOT_DATA = frozenset({".md", ".py", ".html", ".pdf", ".toml", ".ipynb", ".sh", ".lock"})
DEFAULT_SPLIT = "test"


def words_of(path: str) -> frozenset[str]:
    """Return the words of a file name in lower case."""
    return frozenset(re.findall(r"[a-z0-9]+", PurePosixPath(path).name.lower()))


def files_of_role(role: str, files: Sequence[str]) -> tuple[str, ...]:
    """Return the files of a role: those of the exact name, or else those with a word of it."""
    exact = tuple(
        path
        for path in files
        if ("/" not in path and path.split(".")[0] in ROLES[role])
        or (role == "rankings" and path.startswith(_RANKINGS))
    )
    if exact or role in ("rankings", "practice", "gold"):
        return exact
    if role == "candidates" and any(path.startswith(QRELS) for path in files):
        return tuple(path for path in files if path.startswith(QRELS))
    return tuple(path for path in files if _role_by_word(path) == role)


def _role_by_word(path: str) -> str | None:
    if "/" in path or PurePosixPath(path).suffix.lower() in NOT_DATA:
        return None
    if any(path.split(".")[0] in names for names in ROLES.values()):
        return None
    words = words_of(path)
    return next((role for role, known in _WORDS.items() if words & known), None)


def of_split(paths: tuple[str, ...], split: str | None) -> tuple[str, ...]:
    """Return the one of several files that belongs to the split, or all if that is not clear."""
    chosen = tuple(path for path in paths if (split or DEFAULT_SPLIT) in words_of(path))
    return chosen if len(paths) > 1 and len(chosen) == 1 else paths
