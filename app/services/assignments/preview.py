"""Preview of a rotation: the folds of each step, their assessors, and what would be new."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from topkapi.app.db.models import Query, Study, User
from topkapi.app.db.queries.assignments import assignments as queries
from topkapi.app.domain.assignment.growth import GrowthStep
from topkapi.app.domain.assignment.rotation import folds, legal_rounds, odd_ring_missing, pairs_of
from topkapi.app.domain.draws import shuffled
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import AppError, Invalid
from topkapi.app.services.assignments import manual_assignment
from topkapi.app.services.assignments import rotation as assigning
from topkapi.app.services.assignments.gaps import Gap, gaps_of, shortage
from topkapi.app.services.assignments.steps import Spec


@dataclass(frozen=True, slots=True)
class PreviewCell:
    """How many queries of a fold one person judges with a tool, and in which rounds (from 1)."""

    tool: Tool
    rounds: Sequence[int]
    count: int
    whole: bool


@dataclass(frozen=True, slots=True)
class GridRow:
    """One person's name, their folds in order, and their number of queries per tool."""

    person: str
    cells: Sequence[Sequence[PreviewCell]]
    load: dict[Tool, int]


@dataclass(frozen=True, slots=True)
class Grid:
    """The folds of one step and who judges them; ``new`` if the step has no assignments yet."""

    folds: Sequence[Sequence[str]]
    rows: Sequence[GridRow]
    total: int
    new: bool


@dataclass(frozen=True, slots=True)
class Preview:
    """What a rotation would assign; ``refusal`` is the reason if it is not possible.

    ``gaps`` are what is missing, ``shortage`` says why some of it would stay open. ``unidentified``
    are the tools with which the pairs of assessors form no odd ring.
    """

    tools: Sequence[Tool]
    most_rounds: int
    rounds: int = 1
    grids: Sequence[Grid] = ()
    total: int = 0
    new: int = 0
    gaps: Sequence[Gap] = ()
    shortage: str | None = None
    unidentified: Sequence[Tool] = ()
    refusal: AppError | None = None

    def fillable(self, *, new: bool) -> Sequence[Gap]:
        """Return what somebody can take over, of new queries or of those that were assigned."""
        return [each for each in self.gaps if each.taker and each.is_new is new]

    @property
    def loads(self) -> tuple[int, int]:
        """The fewest and the most assignments of a person."""
        held = Counter[str]()
        for grid in self.grids:
            for row in grid.rows:
                held[row.person] += sum(row.load.values())
        return min(held.values(), default=0), max(held.values(), default=0)


def preview(
    session: Session,
    study: Study,
    user_ids: Sequence[int],
    *,
    rounds: int | None,
    seed: str | None,
    lists: bool = False,
) -> Preview:
    """Compute the grid of a rotation over these people; nothing is written."""
    tools = assigning.rotated_tools(study, lists=lists)
    most = legal_rounds(len(user_ids), len(tools))
    try:
        with manual_assignment.explaining(session, study):
            plan = assigning.plan_rotation(
                session, study, user_ids, rounds=rounds, seed=seed, lists=lists, strict=False
            )
    except AppError as refusal:
        return Preview(tools, most, refusal=refusal)
    short, gaps = shortage(session, plan), gaps_of(session, study, plan)
    if short and not plan.added:
        return Preview(tools, most, plan.rounds, gaps=gaps, refusal=Invalid(short))
    work = [*plan.existing, *plan.added]
    by_id = {query.id: query for query in queries.queries_of_study(session, study.id)}
    people = queries.users_by_id(session, {*user_ids, *(each.assessor for each in work)})
    grids = [_grid(step, plan, work, by_id, people) for step in plan.steps]
    grids += [_unfolded(plan, work, by_id, people)]
    pairs = {tool: pairs_of(work, tool) for tool in tools}
    unidentified = [tool for tool in tools if odd_ring_missing(pairs[tool])]
    grids = [grid for grid in grids if grid.total]
    counts = len(work), len(plan.added)
    return Preview(tools, most, plan.rounds, grids, *counts, gaps, short, unidentified)


def _grid(
    step: GrowthStep[int, int],
    plan: assigning.RotationPlan,
    work: Sequence[Spec],
    by_id: dict[int, Query],
    people: dict[int, User],
) -> Grid:
    cut = folds(shuffled(step.queries, step.seed, "rotation"), len(step.people))
    started = {each.query for each in plan.existing}
    rows, total = _rows(cut, step.people, work, people)
    named = [[by_id[query].external_id for query in fold if query in by_id] for fold in cut]
    return Grid(named, rows, total, started.isdisjoint(step.queries))


def _unfolded(
    plan: assigning.RotationPlan,
    work: Sequence[Spec],
    by_id: dict[int, Query],
    people: dict[int, User],
) -> Grid:
    """Return the queries that were assigned by hand only, as one fold."""
    known = {query for step in plan.steps for query in step.queries}
    judged = {each.query for each in work} - known
    rest = [query for query in by_id if query in judged]
    rows, total = _rows([rest], (), work, people)
    return Grid([[by_id[query].external_id for query in rest]], rows, total, new=False)


def _rows(
    cut: Sequence[Sequence[int]],
    first: Sequence[int],
    work: Sequence[Spec],
    people: dict[int, User],
) -> tuple[list[GridRow], int]:
    """Return a row per person, those of the step first, and the number of assignments."""
    fold_of = {query: index for index, fold in enumerate(cut) for query in fold}
    mine: dict[int, list[Spec]] = {person: [] for person in first if person in people}
    for each in work:
        if each.query in fold_of:
            mine.setdefault(each.assessor, []).append(each)
    rows = [_row(people[person], cut, fold_of, held) for person, held in mine.items()]
    return rows, sum(len(held) for held in mine.values())


def _row(
    person: User,
    cut: Sequence[Sequence[int]],
    fold_of: dict[int, int],
    mine: Sequence[Spec],
) -> GridRow:
    rounds: defaultdict[tuple[int, Tool], list[int]] = defaultdict(list)
    for each in mine:
        rounds[fold_of[each.query], each.tool].append(each.round + 1)
    cells: list[list[PreviewCell]] = [[] for _ in cut]
    for (fold, tool), found in sorted(rounds.items(), key=lambda item: (item[0][0], min(item[1]))):
        whole = len(found) == len(cut[fold])
        cells[fold].append(PreviewCell(tool, sorted(set(found)), len(found), whole))
    return GridRow(person.name, cells, dict(Counter(each.tool for each in mine)))
