"""Preview of a rotation: the folds, their assessors, and the number of new assignments."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from topkapi.app.db.models import Study
from topkapi.app.db.queries.assignments import assignments as queries
from topkapi.app.domain.assignment.rotation import RuleBroken, folds, legal_rounds, rotation
from topkapi.app.domain.draws import shuffled
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import AppError
from topkapi.app.services.assignments import manual_assignment
from topkapi.app.services.assignments import rotation as assigning


@dataclass(frozen=True, slots=True)
class Cell:
    """The tool and the round (from 1) of a fold for one person."""

    tool: Tool
    round: int


@dataclass(frozen=True, slots=True)
class GridRow:
    """One person's name, their folds in order, and their number of queries per tool."""

    person: str
    cells: Sequence[Cell | None]
    load: dict[Tool, int]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a rotation would assign; ``refusal`` is the reason if it is not possible.

    ``folds`` are the ids of queries as imported.
    """

    tools: Sequence[Tool]
    most_rounds: int
    folds: Sequence[Sequence[str]] = ()
    rows: Sequence[GridRow] = ()
    total: int = 0
    new: int = 0
    refusal: AppError | None = None


def preview(
    session: Session,
    study: Study,
    user_ids: Sequence[int],
    *,
    rounds: int,
    seed: str | None,
    lists: bool = False,
) -> Preview:
    """Compute the grid of a rotation over these people; nothing is written."""
    tools = assigning.rotated_tools(study, lists=lists)
    most = legal_rounds(len(user_ids), len(tools))
    asked = queries.queries_of_study(session, study.id)
    people = queries.users_by_id(session, user_ids)
    order = shuffled([query.id for query in asked], _seed(study, seed), "rotation")
    try:
        wanted = rotation(
            [query.id for query in asked],
            list(user_ids),
            tools,
            rounds=rounds,
            seed=_seed(study, seed),
        )
        new = assigning.preview_rotation(
            session, study, user_ids, rounds=rounds, seed=seed, lists=lists
        )
    except RuleBroken as broken:
        return Preview(tools, most, refusal=manual_assignment.explained(session, study, broken))
    except AppError as refusal:
        return Preview(tools, most, refusal=refusal)
    names = {query.id: query.external_id for query in asked}
    cut = list(folds(order, len(user_ids)))
    fold_of = {number: index for index, fold in enumerate(cut) for number in fold}
    cells: dict[int, list[Cell | None]] = {user: [None] * len(cut) for user in user_ids}
    load: dict[int, Counter[Tool]] = {user: Counter() for user in user_ids}
    for share in wanted:
        cells[share.assessor][fold_of[share.query]] = Cell(share.tool, share.round + 1)
        load[share.assessor][share.tool] += 1
    rows = [GridRow(people[user].name, cells[user], dict(load[user])) for user in user_ids]
    named = [[names[number] for number in fold] for fold in cut]
    return Preview(tools, most, named, rows, len(wanted), len(new))


def _seed(study: Study, seed: str | None) -> str:
    return study.slug if seed is None else seed
