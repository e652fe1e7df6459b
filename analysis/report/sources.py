"""Preference files as studies: what Topkapi exports, and formats of public collections.

- ``pairs``: tab-separated ``query a b preference assessor`` with that header (Topkapi's
  ``pairs.tsv``, ``a`` on the left); a preference is ``a``, ``b`` or ``tie`` (also ``left`` and
  ``right``, ``>``, ``<`` and ``=``, 1, -1 and 0), or in the whole file the preferred document's id;
  a file that can be read both ways is refused unless ``preference`` decides.
- ``topk``: Topkapi's ``topk.jsonl``; the lists are compared, and a ``pairs.tsv`` named beside it
  gives the raw answers.
- ``judgments``: Topkapi's ``judgments.jsonl``: the raw answers with their times; beside it
  ``topk.jsonl`` lists the finished sessions.
- ``qrels``: TREC qrels, one assessor per file, named after it, such as Topkapi's ``grades.qrels``
  of one assessor; they make a second tool, grades.
- ``winners``: ``query document document winner`` by blanks, one assessor per file, named after it.
- ``tags``: tab-separated ``query left,right tag tag ...`` with a header, one tag per assessor:
  negative for left, 0 for a tie, positive for right.

Files may be gzip. Queries, documents and assessors are ordered by id, whatever the order of the
rows, so no figure depends on it; where an assessor answered a pair twice, the first row counts.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from topkapi.analysis.data.exports import Label, LoggedEntry, read_judgments, read_qrels
from topkapi.analysis.data.exports.cells import read_tsv
from topkapi.analysis.data.exports.files import read_text
from topkapi.analysis.data.exports.records import TopK, read_topk
from topkapi.analysis.errors import BadData
from topkapi.analysis.report.reading.logs import read_log, stated
from topkapi.analysis.report.reading.parts import Parts, Row, study_of
from topkapi.analysis.report.study import StudyData

_Located = tuple[str, Row]  # an answer with its file and line
_LEAVE_OUT = ": correct it, or leave such answers out with --leave-out-self"
HEADER = ("query", "a", "b", "preference", "assessor")
SEEN = 50  # lines that distinguish qrels from winners
EXPECTED = {
    "codes": "a, b or tie",
    "ids": "one of the two documents or tie",
    "either": "a, b, tie or one of the two documents",
}
ANSWER_CODES = {
    **dict.fromkeys(("a", "left", ">", "1"), 1),
    **dict.fromkeys(("b", "right", "<", "-1"), -1),
    **dict.fromkeys(("tie", "=", "0"), 0),
}


def read_preferences(
    paths: Sequence[str | Path],
    *,
    format: str | None = None,
    k: int | None = None,
    preference: str | None = None,
    left_out: list[str] | None = None,
) -> StudyData:
    """Read preference files as one study.

    Parameters
    ----------
    paths
        Files, plain or gzip.
    format
        Name of the format; detected from the content if None.
    k
        Length of the consensus lists; all documents if None.
    preference
        Whether preferences of ``pairs`` files are ``codes`` or document ``ids``; None lets each
        file decide.
    left_out
        Collects the places of answers that compare a document with itself, which are left out;
        such an answer is an error if None.

    Returns
    -------
    StudyData
        A study with a tool for pairs, one for grades, or both.

    Raises
    ------
    BadData
        If a file is malformed; the message names file and line.
    """
    if not paths:
        raise BadData("no preference file was given")
    if preference not in (None, "codes", "ids"):
        raise BadData(f"--preference: {preference!r} is neither codes nor ids")
    files = [Path(path) for path in paths]
    named = [_name(path) for path in files]
    if len(set(named)) < len(named):
        raise BadData(f"two files have the same name ({', '.join(named)}): rename one")
    rows: list[Row] = []
    lists: list[TopK] = []
    entries: list[LoggedEntry] = []
    logs: list[str] = []
    grades: dict[str, list[Label]] = {}
    kinds = set()
    for path, name in zip(files, named, strict=True):
        lines = _lines(path)
        kind = format or detect(lines, path)
        kinds.add(kind)
        if kind == "topk":
            lists.extend(read_topk(path, complete_only=True))
        elif kind == "judgments":
            entries.extend(read_judgments(path))
            logs.append(str(path))
        elif kind == "qrels":
            grades[name] = read_qrels(path)
        elif kind == "pairs":
            rows.extend(_checked(_pair_rows(path, preference), left_out, _LEAVE_OUT))
        elif kind in READERS:
            rows.extend(_checked(READERS[kind](lines, path, name), left_out, _LEAVE_OUT))
        else:
            raise BadData(f"unknown format {kind!r}; known are {', '.join(FORMATS)}")
    if {"pairs", "judgments"} <= kinds:
        raise BadData("the answers of pairs.tsv are in judgments.jsonl too: give one of the two")
    log = read_log(entries, " and ".join(logs))
    rows.extend(Row(*each) for each in stated(log))
    sides = kinds <= {"pairs", "topk", "judgments", "qrels"}
    parts = Parts(rows, lists, log, grades)
    return study_of(parts, " and ".join(named), sides=sides, k=k)


def read_votes(path: str | Path) -> list[Row]:
    """Read the single answers of one preference file.

    Parameters
    ----------
    path
        A file, plain or gzip, in the format ``pairs``, ``winners``, ``tags`` or ``judgments``.

    Returns
    -------
    list of Row
        Every answer, in the order of the file.

    Raises
    ------
    BadData
        If the file is malformed or holds no single answers.
    """
    path = Path(path)
    lines = _lines(path)
    kind = detect(lines, path)
    if kind == "judgments":
        return [Row(*each) for each in stated(read_log(read_judgments(path), path))]
    if kind not in READERS:
        raise BadData(f"{path}: {kind} files hold no single answers; give pairs or judgments")
    return list(_checked(READERS[kind](lines, path, _name(path)), None))


def detect(lines: Sequence[str], path: Path) -> str:
    """Detect the format of a file from its first lines."""
    head = lines[0].split("\t")
    if tuple(word.strip().lower() for word in head) == HEADER:
        return "pairs"
    if lines[0].startswith("{") and '"ranking":' in lines[0]:  # no value has this
        return "topk"
    if lines[0].startswith("{") and '"entry":' in lines[0]:
        return "judgments"
    if len(lines) > 1 and len(cells := lines[1].split("\t")) > 2 and cells[1].count(",") == 1:
        return "tags"
    rows = list(islice((words for line in lines if (words := line.split())), SEEN))
    winners = [len(words) == 4 and words[3] in words[1:3] for words in rows]
    if _is_qrel(rows[0]) and (not all(winners) or all(map(_is_qrel, rows))):
        return "qrels"
    if winners[0]:
        return "winners"
    raise BadData(
        f"{path}: line 1 fits no known format; expected the header {' '.join(HEADER)} with tabs, "
        "or query document document winner, or query left,right and tags with a header, "
        "or topk.jsonl, judgments.jsonl or qrels"
    )


def _is_qrel(words: Sequence[str]) -> bool:
    """Tell whether a line can be of TREC qrels.

    A label of 0 must not be taken for a winner.
    """
    return len(words) == 4 and words[1] == "0" and words[3].removeprefix("-").isdigit()


def _lines(path: Path) -> list[str]:
    try:
        lines = read_text(path).splitlines()
    except OSError as error:
        raise BadData(f"{path}: cannot be read ({error.strerror or error})") from None
    if not any(line.strip() for line in lines):
        raise BadData(f"{path}: the file is empty")
    return lines


def _name(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    return name.rsplit(".", 1)[0] if "." in name[1:] else name


def _pairs(_lines: Sequence[str], path: Path, _: str) -> Iterator[_Located]:
    """Read a file of pairs whose preferences are codes or ids, whichever fits the whole file."""
    return _pair_rows(path, None)


def _pair_rows(path: Path, preference: str | None) -> Iterator[_Located]:
    rows = list(read_tsv(path, HEADER))
    meaning = preference or _meaning(rows)
    for location, (query, a, b, given, assessor) in rows:
        code, named = _readings(a, b, given)
        answer = {"codes": code, "ids": named}.get(meaning, named if code is None else code)
        if answer is None:
            raise BadData(f"{location}: preference {given!r} is not {EXPECTED[meaning]}")
        yield location, Row(query, a, b, answer, assessor)


def _readings(a: str, b: str, given: str) -> tuple[int | None, int | None]:
    """Return the answer if ``given`` is a code, and if it is the id of a document or a tie."""
    named = 0 if given.lower() in ("tie", "=") and given not in (a, b) else None
    return ANSWER_CODES.get(given.lower()), {a: 1, b: -1}.get(given, named)


def _meaning(rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Decide whether preferences are codes or ids; refuse a file in which both can be meant."""
    readings = [_readings(*cells[1:4]) for _, cells in rows]
    codes = all(code is not None for code, _ in readings)
    ids = all(named is not None for _, named in readings)
    if codes != ids:
        return "codes" if codes else "ids"
    for (location, cells), (code, named) in zip(rows, readings, strict=True):
        if code is not None and named is not None and code != named:
            raise BadData(
                f"{location}: preference {cells[3]!r} can be a code or the id of a document, which "
                "mean different answers: choose with --preference codes or --preference ids"
            )
    return "either"


def _winners(lines: Sequence[str], path: Path, name: str) -> Iterator[_Located]:
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if not words:
            continue
        if len(words) != 4 or words[3] not in words[1:3]:
            raise BadData(
                f"{path}, line {number}: expected query, two documents and the better of them"
            )
        query, a, b, winner = words
        yield f"{path}, line {number}", Row(query, a, b, 1 if winner == a else -1, name)


def _tags(lines: Sequence[str], path: Path, _: str) -> Iterator[_Located]:
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        query, pair, *tags = line.split("\t")
        ends = pair.split(",")
        if len(ends) != 2 or not tags:
            raise BadData(f"{path}, line {number}: expected query, left,right and tags")
        for column, tag in enumerate(tags, start=1):
            answer = _tag(tag, path, number)
            row = Row(query, ends[0], ends[1], answer, f"assessor {column}")
            yield f"{path}, line {number}", row


def _tag(tag: str, path: Path, number: int) -> int:
    """Parse a tag; left is negative in the file, so its sign changes."""
    try:
        return -int(np.sign(float(tag)))
    except ValueError:
        raise BadData(f"{path}, line {number}: tag {tag!r} is not a number") from None


def _checked(
    located: Iterable[_Located], left_out: list[str] | None, hint: str = ""
) -> Iterator[Row]:
    """Yield the answers; ``left_out`` collects places where a document is compared with itself."""
    for location, row in located:
        if not all((row.query, row.a, row.b, row.assessor)):
            raise BadData(f"{location}: query, documents and assessor may not be empty")
        if row.a != row.b:
            yield row
        elif left_out is None:
            raise BadData(f"{location}: document {row.a!r} is compared with itself{hint}")
        else:
            left_out.append(location)


READERS: dict[str, Callable[[Sequence[str], Path, str], Iterator[_Located]]] = {
    "pairs": _pairs,
    "winners": _winners,
    "tags": _tags,
}
FORMATS = (*READERS, "topk", "judgments", "qrels")
