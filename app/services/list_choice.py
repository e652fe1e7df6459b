"""Which two rankings to ask about next: those of which the study can learn most.

What has been said of lists so far, in the whole study, teaches the worth of grades at positions
(`analysis.dcglearn`); the pair whose answer that leaves most open is asked next. While little is
known, or nothing of the pages' grades, the pair is drawn at random.
"""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from app.domain.draws import draw_integer
from app.domain.list_plan import SidedPair
from app.domain.lists import ListSession
from app.services.list_evidence import Said, as_preferences, grades_of, said_in_study

if TYPE_CHECKING:
    from analysis.dcglearn import DCGLearn, Preferences


def next_pair(
    session: Session,
    live: ListSession,
    *,
    study_id: int,
    query_id: int,
    taken: Collection[SidedPair],
    assignment_id: int | None = None,
) -> SidedPair:
    """A pair of the plan that this session has not asked and that is not ``taken``."""
    free = [pair for pair in live.plan.pairs if pair not in live.asked and pair not in taken]
    assert free, "a plan is never larger than the pairs that are free"
    if len(free) == 1:
        return free[0]
    lists = {each.id: each.documents for each in live.plan.lists}
    depth = max(map(len, lists.values()))
    judged = said_in_study(session, study_id, depth, but=assignment_id)
    judged += [
        Said(query_id, lists[each.left], lists[each.right], each.answer) for each in live.effective
    ]
    pool = [Said(query_id, lists[first], lists[second], None) for first, second in free]
    seed = draw_integer(live.plan.seed, "choice", len(live.asked))
    return free[_most_open(session, judged, pool, depth, seed)]


def _most_open(
    session: Session, judged: Sequence[Said], pool: Sequence[Said], depth: int, seed: int
) -> int:
    """The place in ``pool`` of the pair whose answer the judged ones leave most open."""
    from analysis.dcglearn import by_uncertainty  # slow to import, and few studies choose
    from analysis.dcglearn.active import RANDOM_START

    young = len(judged) < RANDOM_START
    grades = grades_of(session, pool if young else [*judged, *pool])
    model = None if young or not grades.of else _learned(as_preferences(judged, grades, depth))
    differences = as_preferences(pool, grades, depth).differences
    return int(by_uncertainty(model, differences, seed)[0])


def _learned(judged: "Preferences") -> "DCGLearn | None":
    from analysis.dcglearn import DCGLearn
    from analysis.errors import DidNotConverge

    try:
        return DCGLearn(c_ties=1.0).fit_differences(
            judged.preferred,
            judged.differences[judged.tied],
            k=judged.k,
            n_grades=judged.n_grades,
        )
    except DidNotConverge:  # then chance chooses, which is never wrong
        return None
