"""Assignment from a CSV file with query, assessor's e-mail, tool and round; all or nothing."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, Study, User
from topkapi.app.db.queries.accounts.accounts import all_users
from topkapi.app.db.queries.assignments import assignments as queries
from topkapi.app.domain.assignment.rotation import AssignmentSpec, RuleBroken, refuse_breach
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.assignments import manual_assignment, rotation
from topkapi.app.services.assignments.steps import Spec
from topkapi.app.services.promise import tools_under_rule

COLUMNS = ("query", "assessor", "tool", "round")
MOST_PROBLEMS = 20
MOST_BYTES = 16 * 1024**2
_SHORT_NAMES = {"t1": Tool.PAIRS, "t2": Tool.GRADES, "t3": Tool.LISTS}


@dataclass(frozen=True, slots=True)
class CsvProblem:
    """A problem in the file: its line, its column and a message."""

    line: int
    field: str
    problem: str

    def __str__(self) -> str:
        return f"line {self.line}, {self.field}: {self.problem}"

    def as_json(self) -> dict[str, Any]:
        """Return the problem as a plain dictionary."""
        return asdict(self)


class CsvRefused(Invalid):
    """A CSV file with problems; nothing was assigned."""

    code = "csv_refused"

    def __init__(self, problems: Sequence[CsvProblem]) -> None:
        self.problems = tuple(problems)
        lines = "".join(f"\n- {problem}" for problem in problems)
        super().__init__(f"Nothing was assigned. Correct the file and send it again:{lines}")


def assign_csv(
    session: Session, study: Study, data: bytes, *, actor_id: int | None = None
) -> list[Assignment]:
    """Make the assignments of the file, or refuse it with the problem of each wrong line."""
    problems: list[CsvProblem] = []
    wanted: list[tuple[int, Spec]] = []
    reader = _Reader(session, study, problems)
    for line, row in _rows(data):
        work = reader.work(line, row)
        if work is not None:
            wanted.append((line, work))
    if not wanted and not problems:
        problems.append(CsvProblem(1, "query", "There are no assignments below the header line."))
    _check_rule(session, study, wanted, problems)
    if problems:
        raise CsvRefused(problems[:MOST_PROBLEMS])
    return manual_assignment.give(session, study, [work for _, work in wanted], actor_id=actor_id)


def _rows(data: bytes) -> Iterator[tuple[int, dict[str, str]]]:
    if len(data) > MOST_BYTES:
        raise CsvRefused([CsvProblem(1, "file", "The file is larger than 16 MB. Split it.")])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CsvRefused(
            [CsvProblem(line, "file", "The file is not UTF-8. Save it as UTF-8.")]
        ) from None
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = [name.strip().lower() for name in next(rows, [])]
        _check_header(header)
        for row in rows:
            if any(cell.strip() for cell in row):
                yield rows.line_num, dict(zip(header, (cell.strip() for cell in row), strict=False))
    except csv.Error as error:
        raise CsvRefused([CsvProblem(rows.line_num, "file", f"{error}.")]) from None


def _check_header(header: Sequence[str]) -> None:
    missing = [name for name in COLUMNS[:3] if name not in header]
    if missing or len(set(header)) != len(header):
        columns = ", ".join(COLUMNS)
        message = f"The first line must name the columns {columns}; round may be left out."
        raise CsvRefused([CsvProblem(1, missing[0] if missing else "file", message)])


def _check_rule(
    session: Session, study: Study, wanted: list[tuple[int, Spec]], problems: list[CsvProblem]
) -> None:
    taken, ruled = rotation.taken_work(session, study), tools_under_rule(study)
    lines: dict[Spec, int] = {}
    for line, work in wanted:
        if work in lines:
            problems.append(CsvProblem(line, "query", f"This line repeats line {lines[work]}."))
            continue
        try:
            refuse_breach(work, taken[work.query], ruled)
        except RuleBroken as broken:
            message = str(manual_assignment.explained(session, study, broken))
            if broken.other in lines:
                message += f" See line {lines[broken.other]}."
            problems.append(CsvProblem(line, "query", message))
        lines[work] = line
        taken[work.query].append(work)


class _Reader:
    """Parses lines into assignments; problems are appended to ``problems``."""

    def __init__(self, session: Session, study: Study, problems: list[CsvProblem]) -> None:
        self._problems = problems
        self._queries = {
            query.external_id: query.id for query in queries.queries_of_study(session, study.id)
        }
        self._people: dict[str, User] = {user.email: user for user in all_users(session)}
        self._tools = study.settings.tools

    def work(self, line: int, row: dict[str, str]) -> Spec | None:
        """Return the assignment of a line, or None if the line has a problem."""
        found = len(self._problems)
        query, user = self._query(line, row), self._person(line, row)
        tool, number = self._tool(line, row), self._round(line, row)
        if len(self._problems) > found:
            return None
        assert query is not None
        assert user is not None
        assert tool is not None
        return AssignmentSpec(user.id, query, tool, number)

    def _add(self, line: int, field: str, problem: str) -> None:
        self._problems.append(CsvProblem(line, field, problem))

    def _query(self, line: int, row: dict[str, str]) -> int | None:
        name = row.get("query", "")
        if name not in self._queries:
            self._add(line, "query", f"There is no query {name!r} in this study.")
        return self._queries.get(name)

    def _person(self, line: int, row: dict[str, str]) -> User | None:
        email = row.get("assessor", "").lower()
        user = self._people.get(email)
        if user is None:
            self._add(line, "assessor", f"There is no account for {email!r}.")
        elif user.disabled_at is not None:
            self._add(line, "assessor", f"The account {email} is disabled.")
        return user

    def _tool(self, line: int, row: dict[str, str]) -> Tool | None:
        value = row.get("tool", "").lower()
        tool = _SHORT_NAMES.get(value) or next((each for each in Tool if each.value == value), None)
        if tool is None or tool not in self._tools:
            offered = ", ".join(each.value for each in self._tools)
            self._add(
                line, "tool", f"{value!r} is not a tool of this study; use one of: {offered}."
            )
        return tool

    def _round(self, line: int, row: dict[str, str]) -> int:
        value = row.get("round_number", "") or row.get("round", "") or "1"
        if not value.isdecimal() or not 1 <= int(value[:9]) <= 10_000:
            self._add(line, "round", f"{value!r} is not a round; use a number from 1 to 10,000.")
            return 0
        return int(value) - 1
