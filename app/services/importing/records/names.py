"""Names of fields and columns: one spelling for each, whatever the collection calls it."""

import difflib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from topkapi.app.services.values import BadValue, shown

_MARKS = str.maketrans("", "", "-_ ")
_MOST_COLUMNS = 1000
Aliases = Mapping[str, Sequence[str]]  # our name -> the others, in order of preference
QUERY = ("query_id", "qid", "topic_id", "topic")
DOCUMENT = ("doc_id", "docid", "docno", "document_id", "corpus_id", "pid", "passage_id")


def plain_name(name: str) -> str:
    """Return the name of a field in lower case without quotes, hyphens, blanks and underscores."""
    return name.strip().strip("\"'").lower().translate(_MARKS)


def known_name(name: str, aliases: Aliases) -> str | None:
    """Return our name of a field, or None if it is none of ours."""
    plain = plain_name(name)
    return next((ours for ours, others in aliases.items() if plain in _plain(ours, *others)), None)


@cache
def _plain(*names: str) -> tuple[str, ...]:
    return tuple(map(plain_name, names))


def renamed(
    record: Mapping[str, Any], aliases: Aliases, required: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """Return the record under our names, and the fields that are not read.

    Raise BadValue for an unknown field if a required one is missing: most often it is misspelt.
    """
    given = {plain_name(name): (name, value) for name, value in record.items()}
    fields: dict[str, Any] = {}
    used: set[str] = set()
    for ours, others in aliases.items():
        for name in _plain(ours, *others):
            if name in given and name not in used:
                used.add(name)
                fields[ours] = given[name][1]
                break
    unread = [name for plain, (name, _) in given.items() if plain not in used]
    _refuse_misspelt(fields, unread, aliases, required)
    return fields, unread


def _refuse_misspelt(
    found: Mapping[str, Any], unread: Sequence[str], aliases: Aliases, required: Sequence[str]
) -> None:
    missing = [name for name in required if name not in found]
    if missing and unread:
        every = [name for ours, others in aliases.items() for name in (ours, *others)]
        near = next(iter(difflib.get_close_matches(plain_name(unread[0]), every, 1)), None)
        hint = f" Did you mean {near}?" if near else ""
        raise BadValue(
            unread[0][:50],
            f"{shown(unread[0])} is not a known field, and {missing[0]} is missing.{hint}",
            f"Known fields: {', '.join(sorted(aliases))}.",
        )


def is_header(cells: Sequence[str], aliases: Aliases, required: Sequence[str]) -> bool:
    """Return whether the cells of a line are names of columns, with the required ones."""
    names = [known_name(cell, aliases) for cell in cells[:_MOST_COLUMNS]]
    return len(cells) > 1 and all(each in names for each in required)
