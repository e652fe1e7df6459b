"""Preference files as studies: what Topkapi exports, and formats of public collections.

- ``pairs``: tab-separated ``query a b preference assessor`` with that header (Topkapi's
  ``pairs.tsv``); a preference is ``a``, ``b`` or ``tie`` (also ``left`` and ``right``, ``>``,
  ``<`` and ``=``, 1, -1 and 0, or the preferred document's id).
- ``winners``: ``query document document winner`` by blanks, one assessor a file, named after it.
- ``tags``: tab-separated ``query left,right tag tag ...`` with a header, one tag an assessor:
  negative for left, 0 for a tie, positive for right.

Files may be gzip. Documents of a query are ordered by id, whatever the order of the rows.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from analysis.agreement import Judgments
from analysis.data.letor import read_bytes
from analysis.errors import BadData
from analysis.report.study import StudyData, ToolData

HEADER = ("query", "a", "b", "preference", "assessor")
SAID = {
    **dict.fromkeys(("a", "left", ">", "1"), 1),
    **dict.fromkeys(("b", "right", "<", "-1"), -1),
    **dict.fromkeys(("tie", "=", "0"), 0),
}


class Row(NamedTuple):
    """One answer as a file tells it; ``answer`` is 1 for ``a``, -1 for ``b``, 0 for a tie."""

    query: str
    a: str
    b: str
    answer: int
    assessor: str


def read_preferences(
    paths: Sequence[Path], *, format: str | None = None, k: int | None = None
) -> StudyData:
    """Read preference files as one study with one tool; the format is seen from the content."""
    if not paths:
        raise BadData("no preference file was named")
    named = [_name(path) for path in paths]
    if len(set(named)) < len(named):
        raise BadData(f"two files have the same name ({', '.join(named)}): rename one")
    rows: list[Row] = []
    for path, name in zip(paths, named, strict=True):
        lines = _lines(path)
        kind = format or detect(lines, path)
        if kind not in READERS:
            raise BadData(f"there is no format {kind!r}; there are {', '.join(READERS)}")
        rows.extend(READERS[kind](lines, path, name))
    return study_of(rows, " and ".join(named), k=k)


def detect(lines: Sequence[str], path: Path) -> str:
    """The format of a file, from its first two lines."""
    head = lines[0].split("\t")
    if tuple(word.strip().lower() for word in head) == HEADER:
        return "pairs"
    if len(lines) > 1 and len(cells := lines[1].split("\t")) > 2 and cells[1].count(",") == 1:
        return "tags"
    words = lines[0].split()
    if len(words) == 4 and words[3] in words[1:3]:
        return "winners"
    raise BadData(
        f"{path}: line 1 fits no known format; expected the header {' '.join(HEADER)} with tabs, "
        "or query document document winner, or query left,right and tags with a header"
    )


def _lines(path: Path) -> list[str]:
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BadData(f"{path}, line {line}: not UTF-8; save the file as UTF-8") from None
    except OSError as error:
        raise BadData(f"{path}: cannot be read ({error.strerror or error})") from None
    lines = text.splitlines()
    if not any(line.strip() for line in lines):
        raise BadData(f"{path}: the file is empty")
    return lines


def _name(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    return name.rsplit(".", 1)[0] if "." in name[1:] else name


def _pairs(lines: Sequence[str], path: Path, _: str) -> Iterator[Row]:
    start = 1 if lines[0].lower().startswith("query\t") else 0
    for number, line in enumerate(lines[start:], start=start + 1):
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) != len(HEADER):
            raise BadData(f"{path}, line {number}: {len(cells)} columns, expected {len(HEADER)}")
        query, a, b, said, assessor = (cell.strip() for cell in cells)
        answer = {a: 1, b: -1}.get(said, SAID.get(said.lower()))
        if answer is None:
            raise BadData(f"{path}, line {number}: preference {said!r} is not a, b or tie")
        yield _distinct(Row(query, a, b, answer, assessor), path, number)


def _winners(lines: Sequence[str], path: Path, name: str) -> Iterator[Row]:
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if not words:
            continue
        if len(words) != 4 or words[3] not in words[1:3]:
            raise BadData(
                f"{path}, line {number}: expected query, two documents and the better of them"
            )
        query, a, b, winner = words
        yield _distinct(Row(query, a, b, 1 if winner == a else -1, name), path, number)


def _tags(lines: Sequence[str], path: Path, _: str) -> Iterator[Row]:
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        query, pair, *tags = line.split("\t")
        ends = pair.split(",")
        if len(ends) != 2 or not tags:
            raise BadData(f"{path}, line {number}: expected query, left,right and tags")
        for place, tag in enumerate(tags, start=1):
            answer = _tag(tag, path, number)
            row = Row(query, ends[0], ends[1], answer, f"assessor {place}")
            yield _distinct(row, path, number)


def _tag(tag: str, path: Path, number: int) -> int:
    """Left is negative in the file: the sign turns."""
    try:
        return -int(np.sign(float(tag)))
    except ValueError:
        raise BadData(f"{path}, line {number}: tag {tag!r} is not a number") from None


def _distinct(row: Row, path: Path, number: int) -> Row:
    if row.a == row.b:
        raise BadData(f"{path}, line {number}: document {row.a!r} is compared with itself")
    if not all((row.query, row.a, row.b, row.assessor)):
        raise BadData(f"{path}, line {number}: query, documents and assessor may not be empty")
    return row


READERS: dict[str, Callable[[Sequence[str], Path, str], Iterator[Row]]] = {
    "pairs": _pairs,
    "winners": _winners,
    "tags": _tags,
}


def study_of(rows: Sequence[Row], name: str, *, k: int | None = None) -> StudyData:
    """A study with one tool from answers in the order they were given."""
    queries = {query: i for i, query in enumerate(dict.fromkeys(row.query for row in rows))}
    assessors = {who: i for i, who in enumerate(sorted({row.assessor for row in rows}))}
    found: list[set[str]] = [set() for _ in queries]
    for row in rows:
        found[queries[row.query]].update((row.a, row.b))
    documents = [sorted(ids) for ids in found]
    place = [{each: i for i, each in enumerate(ids)} for ids in documents]
    asked = Judgments.of(
        assessor=[assessors[row.assessor] for row in rows],
        query=[queries[row.query] for row in rows],
        left=[place[queries[row.query]][row.a] for row in rows],
        right=[place[queries[row.query]][row.b] for row in rows],
        answer=[row.answer for row in rows],
    )
    tool = ToolData("pairs", "Pairs", judgments=asked, sides=False)
    ids = tuple(tuple(each) for each in documents)
    return StudyData(name, tuple(assessors), tuple(queries), ids, (tool,), k)
