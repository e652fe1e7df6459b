"""Problems of a study: each says where it is, what is wrong and how to fix it."""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from topkapi.app.domain.errors import Invalid
from topkapi.app.services.values import BadValue, ProblemKind

MOST_PROBLEMS = 20


class Location(NamedTuple):
    """A line of a file of the study; line 0 means the whole file."""

    file: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem to fix before the study can be imported.

    ``mend`` says how to fix it; the name is part of the public JSON. ``kind`` is for programs.
    """

    file: str
    line: int | None
    field: str | None
    problem: str
    mend: str
    kind: ProblemKind = ProblemKind.OTHER

    def __str__(self) -> str:
        location = self.file if self.line is None else f"{self.file}, line {self.line}"
        where = location if self.field is None else f"{location}, {self.field}"
        return f"{where}: {self.problem} {self.mend}".rstrip()

    def as_json(self) -> dict[str, Any]:
        """Return the problem as a plain dictionary, in words."""
        return {name: value for name, value in asdict(self).items() if name != "kind"}


class StudyRefused(Invalid):
    """A study that cannot be imported; nothing was written. ``problems`` are the first ones.

    ``more`` says that there may be further problems; ``read`` counts valid records before the
    refusal; ``causes`` has the likely cause for each file.
    """

    code = "study_refused"

    def __init__(self, problems: tuple[Problem, ...], *, more: bool = False) -> None:
        self.problems = problems
        self.more = more
        self.read: dict[str, int] = {}
        self.causes: tuple[Problem, ...] = ()
        count = f"the first {len(problems)} problems" if more else counted(len(problems), "problem")
        lines = "".join(f"\n- {problem}" for problem in problems)
        super().__init__(f"The study was not imported; {count} to fix:{lines}")

    def by_file(self) -> list[tuple[Problem | None, list[Problem]]]:
        """Return the problems of each file, with their likely cause if there is one."""
        causes = {cause.file: cause for cause in self.causes}
        found: dict[str, list[Problem]] = {}
        for problem in self.problems:
            found.setdefault(problem.file, []).append(problem)
        return [(causes.get(file), problems) for file, problems in found.items()]


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


class Problems:
    """Collects problems; stops reading when the limit is reached."""

    def __init__(self) -> None:
        self._found: list[Problem] = []

    @property
    def files(self) -> frozenset[str]:
        """The files with problems."""
        return frozenset(problem.file for problem in self._found)

    def __bool__(self) -> bool:
        return bool(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def add(
        self,
        location: Location,
        field: str | None,
        problem: str,
        fix: str = "",
        kind: ProblemKind = ProblemKind.OTHER,
    ) -> None:
        """Add a problem; raise StudyRefused at the 20th."""
        line = location.line or None
        self._take(Problem(location.file, line, field, problem, fix, kind))

    def _take(self, problem: Problem) -> None:
        self._found.append(problem)
        if len(self._found) == MOST_PROBLEMS:
            raise StudyRefused(tuple(self._found), more=True)

    def add_value(self, location: Location, error: BadValue) -> None:
        """Add the problem of a value."""
        self.add(location, error.field or None, error.problem, error.fix, error.kind)

    def refuse_if_any(self) -> None:
        """Raise StudyRefused if there are problems."""
        if self._found:
            raise StudyRefused(tuple(self._found))


class NullProblems(Problems):
    """Ignores problems, for a preview of lines that will be read and reported later."""

    def _take(self, problem: Problem) -> None:
        pass


def refusal(
    location: Location,
    field: str | None,
    problem: str,
    fix: str = "",
    kind: ProblemKind = ProblemKind.OTHER,
) -> StudyRefused:
    """Return the error for a problem that makes further reading impossible."""
    return StudyRefused((Problem(location.file, location.line or None, field, problem, fix, kind),))
