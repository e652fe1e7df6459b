"""What is wrong with a study: each problem says where it is and what to mend."""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from topkapi.app.domain.errors import Invalid

MOST_PROBLEMS = 20


class Place(NamedTuple):
    """A line of a file of the study; line 0 is the file as a whole."""

    file: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to mend before the study can be imported."""

    file: str
    line: int | None
    field: str | None
    problem: str
    mend: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        where = place if self.field is None else f"{place}, {self.field}"
        return f"{where}: {self.problem} {self.mend}".rstrip()

    def as_json(self) -> dict[str, Any]:
        """The problem as a plain dictionary."""
        return asdict(self)


class StudyRefused(Invalid):
    """A study that cannot be imported; nothing was written. ``problems`` are the first of them.

    ``read`` counts what was found good before the refusal.
    """

    code = "study_refused"

    def __init__(self, problems: tuple[Problem, ...], *, more: bool = False) -> None:
        self.problems = problems
        self.more = more
        self.read: dict[str, int] = {}
        count = f"the first {len(problems)} problems" if more else _counted(len(problems))
        lines = "".join(f"\n- {problem}" for problem in problems)
        super().__init__(f"The study was not imported; {count} to mend:{lines}")


def _counted(number: int) -> str:
    return "1 problem" if number == 1 else f"{number} problems"


class Problems:
    """Collects problems; when there are enough to work on, reading stops."""

    def __init__(self) -> None:
        self._found: list[Problem] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def add(self, place: Place, field: str | None, problem: str, mend: str = "") -> None:
        """Note a problem; at the 20th of them the study is refused at once."""
        self._found.append(Problem(place.file, place.line or None, field, problem, mend))
        if len(self._found) == MOST_PROBLEMS:
            raise StudyRefused(tuple(self._found), more=True)

    def refuse_if_any(self) -> None:
        """Refuse the study if anything was found."""
        if self._found:
            raise StudyRefused(tuple(self._found))


class NullProblems(Problems):
    """Takes problems and forgets them, for a look at what will be read properly later."""

    def add(self, place: Place, field: str | None, problem: str, mend: str = "") -> None:
        """Forget the problem."""


def refusal(place: Place, field: str | None, problem: str, mend: str = "") -> StudyRefused:
    """The refusal for a problem after which nothing more can be read."""
    return StudyRefused((Problem(place.file, place.line or None, field, problem, mend),))
