"""One diagnosis per wrong file: the likely cause of its problems, before the single lines."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from topkapi.app.services.importing.problems import MOST_PROBLEMS, Problem
from topkapi.app.services.importing.sources.reader import Reader
from topkapi.app.services.values import ProblemKind, shown

Lines = Sequence[str]
Cause = tuple[str, str]  # the cause, and the remedy
_SAMPLE = 5
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\d[\d,]*")


def causes_of(reader: Reader, problems: Sequence[Problem]) -> Iterator[Problem]:
    """Yield the likely cause for each file; for a file with a single problem only a certain one."""
    by_file: dict[str, list[Problem]] = {}
    for problem in problems:
        by_file.setdefault(problem.file, []).append(problem)
    for file, found in by_file.items():
        lines = _first_lines(reader, file)
        cause = next((each for rule in _RULES if (each := rule(lines, found))), None)
        if cause is None and len(found) > 1:
            cause = _most_frequent(found, is_all=len(problems) < MOST_PROBLEMS)
        if cause is not None:
            yield Problem(file, None, None, *cause)


def _first_lines(reader: Reader, file: str) -> Lines:
    if file not in reader.source.files or not reader.source.files[file]:
        return ()
    found: list[str] = []
    for _, line in reader.quiet().lines(file):
        found.append(line)
        if len(found) == _SAMPLE:
            break
    return found


def _one_object(lines: Lines, found: Sequence[Problem]) -> Cause | None:
    if lines and lines[0].strip() == "{" and _any(found, ProblemKind.NOT_JSON):
        return (
            "This is JSON over several lines, not one object per line.",
            "Write one object per line (jq -c . FILE), or an array in [ and ].",
        )
    return None


def _python_dicts(lines: Lines, found: Sequence[Problem]) -> Cause | None:
    if lines and re.match(r"\{'", lines[0].strip()) and _any(found, ProblemKind.NOT_JSON):
        return (
            "This is Python's notation with single quotes, not JSON.",
            "Write each record with json.dumps(record).",
        )
    return None


def _other_delimiter(lines: Lines, found: Sequence[Problem]) -> Cause | None:
    if not lines or not _any(found, ProblemKind.ONE_COLUMN):
        return None
    for delimiter, name in ((",", "commas"), (";", "semicolons"), ("|", "vertical bars")):
        if all(delimiter in line for line in lines):
            return (
                f"The columns are separated by {name}, and there is no header line with known "
                f"names; the first line is {shown(lines[0])}.",
                f"Add a first line such as id{delimiter}text, or separate the columns by tabs.",
            )
    if all(re.match(r"\S+ +\S", line) for line in lines):
        return "The columns are separated by blanks, not by a tab.", "Put a tab after each id."
    return None


def _swapped_text(lines: Lines, found: Sequence[Problem]) -> Cause | None:
    """Recognise ``text TAB id``: the first column has blanks, the second has none."""
    cells = [line.split("\t") for line in lines]
    if not _any(found, ProblemKind.BLANK_IN_ID) or not cells or any(len(row) != 2 for row in cells):
        return None
    if all(" " in row[0].strip() and " " not in row[1].strip() for row in cells):
        return (
            "The columns look swapped: the text comes first, and the id second.",
            "Write the id first.",
        )
    return None


def _swapped_ids(_lines: Lines, found: Sequence[Problem]) -> Cause | None:
    if _any(found, ProblemKind.SWAPPED_IDS):
        return (
            "The columns look swapped: queries are where documents belong.",
            "Write the query before the document: query, 0, document, grade.",
        )
    return None


def _foreign_ids(_lines: Lines, problems: Sequence[Problem]) -> Cause | None:
    for kind, others in ((ProblemKind.NO_QUERY, "queries"), (ProblemKind.NO_DOCUMENT, "documents")):
        if len(problems) > 2 and all(each.kind is kind for each in problems):
            quoted = _QUOTED.search(problems[0].problem)
            given = f", such as {quoted[0]}," if quoted else ""
            return (
                f"The ids of this file{given} are not those of the {others}.",
                f"Compare both files for prefixes, leading zeros and capitals. {problems[0].mend}",
            )
    return None


def _encoding(_lines: Lines, found: Sequence[Problem]) -> Cause | None:
    if _any(found, ProblemKind.NOT_UTF8):
        return (
            "The file is not in UTF-8; most likely it is in Windows-1252 or Latin-1.",
            "Convert it: iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW.",
        )
    return None


def _qrels_without_grades(lines: Lines, found: Sequence[Problem]) -> Cause | None:
    if len(found) > 1 and all(each.kind is ProblemKind.NOT_A_GRADE for each in found):
        return (
            f"The last column has no whole numbers: {shown(lines[0] if lines else '')}.",
            "Put the grade last: query, 0, document, grade.",
        )
    return None


def _most_frequent(problems: Sequence[Problem], *, is_all: bool) -> Cause:
    kinds = Counter(_QUOTED.sub("…", each.problem) for each in problems)
    kind, count = kinds.most_common(1)[0]
    first = next(each for each in problems if _QUOTED.sub("…", each.problem) == kind)
    if count == 1:
        return f"{len(problems)} different problems; the first: {first.problem}", first.mend
    of = f"{'' if is_all else 'the first '}{len(problems)} problems"
    return f"{count} of {of} are of one kind: {first.problem}", first.mend


def _any(found: Sequence[Problem], kind: ProblemKind) -> bool:
    return any(each.kind is kind for each in found)


_RULES: Sequence[Callable[[Lines, Sequence[Problem]], Cause | None]] = (
    _one_object,
    _python_dicts,
    _other_delimiter,
    _swapped_text,
    _swapped_ids,
    _encoding,
    _qrels_without_grades,
    _foreign_ids,
)
