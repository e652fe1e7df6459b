"""Active choice of the next two rankings to compare: those from which the study learns most.

Gains and discounts are learned from all answers about lists in the study so far
(`topkapi.analysis.dcglearn`), and the pair whose answer is least certain under them is asked next.
With few answers, or without grades of the pages, the pair is drawn at random.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from topkapi.app.domain.draws import draw_integer
from topkapi.app.domain.lists.plan import SidedPair
from topkapi.app.domain.lists.session import ListSession
from topkapi.app.services.judging.lists.evidence import (
    ListVote,
    answers_in_study,
    as_preferences,
    grades_of,
)

if TYPE_CHECKING:
    from topkapi.analysis.dcglearn import DCGLearn, ListPreferences

Learned = tuple["DCGLearn | None", int]  # the model and its number of grades


class Chooser:
    """Chooses pairs from the answers of a study, which are read once for any number of pairs.

    The answers of the assignment ``but`` are left out: its live session is more recent than the
    database.
    """

    def __init__(self, session: Session, study_id: int, *, but: int | None = None) -> None:
        self._session, self._study_id, self._but = session, study_id, but
        self._learned: dict[int, Learned] = {}

    def next_pair(
        self, live: ListSession, *, query_id: int, taken: Collection[SidedPair]
    ) -> SidedPair:
        """Return a pair of the plan that this session has not asked and that is not ``taken``."""
        free = [pair for pair in live.plan.pairs if pair not in live.asked and pair not in taken]
        assert free, "a plan is never larger than the pairs that are free"
        if len(free) == 1:
            return free[0]
        lists = {each.id: each.documents for each in live.plan.lists}
        own = [
            ListVote(query_id, lists[each.left], lists[each.right], each.answer)
            for each in live.effective
        ]
        pool = [ListVote(query_id, lists[first], lists[second], None) for first, second in free]
        seed = draw_integer(live.plan.seed, "choice", len(live.asked))
        return free[self._most_uncertain(own, pool, max(map(len, lists.values())), seed)]

    def _most_uncertain(
        self, own: Sequence[ListVote], pool: Sequence[ListVote], depth: int, seed: int
    ) -> int:
        """Return the index in ``pool`` of the pair whose answer is most uncertain."""
        from topkapi.analysis.dcglearn import (
            by_uncertainty,  # slow to import, and few studies choose
        )

        if depth not in self._learned:
            answers = answers_in_study(self._session, self._study_id, depth, but=self._but)
            self._learned[depth] = _learn(self._session, [*answers, *own], depth)
        model, known = self._learned[depth]
        grades = grades_of(self._session, pool)
        if grades.n_grades > known:  # a better grade than any in the training data
            model = None
        scaled = replace(grades, n_grades=max(known, grades.n_grades))
        return int(by_uncertainty(model, as_preferences(pool, scaled, depth).differences, seed)[0])


def _learn(session: Session, answers: Sequence[ListVote], depth: int) -> Learned:
    """Fit the model to the answers; return None while they are few or no page has a grade."""
    from topkapi.analysis.dcglearn.active import RANDOM_START

    if len(answers) < RANDOM_START:
        return None, 0
    grades = grades_of(session, answers)
    if not grades.of:
        return None, 0
    return _model(as_preferences(answers, grades, depth)), grades.n_grades


def _model(judged: "ListPreferences") -> "DCGLearn | None":
    from topkapi.analysis.dcglearn import DCGLearn
    from topkapi.analysis.errors import DidNotConverge

    try:
        return DCGLearn(c_ties=1.0).fit_differences(
            judged.preferred,
            judged.differences[judged.tied],
            k=judged.k,
            n_grades=judged.n_grades,
        )
    except DidNotConverge:  # fall back to a random choice, which is always valid
        return None
