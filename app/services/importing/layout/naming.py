"""Which file of a folder has which role: by its exact name, or by a word in its name."""

import re
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath

from topkapi.app.services.importing.kinds import ROLES, SIDE_FILES
from topkapi.app.services.importing.sources.folders import GROUPS

QRELS = "qrels/"
NOT_DATA = frozenset({".md", ".py", ".html", ".pdf", ".toml", ".ipynb", ".sh", ".lock"})
DEFAULT_SPLIT = "test"
_ASIDE = frozenset[str]().union(*(kind.names for kind in SIDE_FILES))
_BY_WORD = ("queries", "candidates", "documents")  # in this order


def words_of(path: str) -> frozenset[str]:
    """Return the words of a path in lower case."""
    return frozenset(re.findall(r"[a-z0-9]+", path.lower()))


def files_of_role(role: str, files: Sequence[str]) -> tuple[str, ...]:
    """Return the files of a role: those of the exact name, or else those with a word of it.

    Without either, the files of LETOR folds are candidates.
    """
    every, kind = frozenset(files), ROLES[role]
    files = [path for path in files if not is_group(path, every)]
    exact = tuple(
        path
        for path in files
        if ("/" not in path and path.split(".")[0] in kind.names)
        or (kind.folder and path.startswith(kind.folder))
    )
    if exact or not kind.words:
        return exact
    if role == "candidates" and any(path.startswith(QRELS) for path in files):
        return tuple(path for path in files if path.startswith(QRELS))
    worded = tuple(path for path in files if _role_by_word(path) == role)
    return worded or tuple(path for path in files if role == "candidates" and _is_fold(path))


def is_group(path: str, files: Collection[str]) -> bool:
    """Return whether a file says how many lines each query has in another of the ``files``."""
    data = next((path.removesuffix(end) for end in GROUPS if path.endswith(end)), path)
    return data != path and (data in files or f"{data}.gz" in files)


def _is_fold(path: str) -> bool:
    """Return whether this is a file such as Fold1/train.txt."""
    folder, name = PurePosixPath(path.lower()).parent.name, PurePosixPath(path.lower()).name
    return folder.startswith("fold") and name.startswith(("train", "vali", "test"))


def run_files(files: Sequence[str]) -> tuple[str, ...]:
    """Return the files that can be runs of systems by their names."""
    return tuple(
        path
        for path in files
        if path.startswith("runs/")
        or (
            "/" not in path
            and words_of(path) & {"run", "runs"}
            and path.split(".")[0] not in _ASIDE
        )
    )


def _role_by_word(path: str) -> str | None:
    if "/" in path or PurePosixPath(path).suffix.lower() in NOT_DATA:
        return None
    if any(path.split(".")[0] in kind.names for kind in ROLES.values()):
        return None
    words = words_of(path)
    return next((role for role in _BY_WORD if words & ROLES[role].words), None)


def of_split(paths: tuple[str, ...], split: str | None) -> tuple[str, ...]:
    """Return those of several files that have all words of the split, or all if none has."""
    words = words_of(split or DEFAULT_SPLIT)
    chosen = [path for path in paths if words <= words_of(path)]
    begun = [path for path in paths if all(_begins(word, path) for word in words)]
    return tuple(chosen or begun or paths) if len(paths) > 1 else paths


def _begins(word: str, path: str) -> bool:
    return any(each.startswith(word) for each in words_of(path))
