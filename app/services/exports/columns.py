"""Columns that grow: what logs become on their way into the arrays of `analysis`."""

from array import array
from collections.abc import Mapping, Sequence
from datetime import datetime
from math import nan

from analysis.agreement import Judgments
from analysis.efficiency import Sessions, Timings
from analysis.efficiency.logs import TimedAnswer, timed_answers
from app.db.models import JudgmentRow
from app.domain.answers import Answer, QuestionKind
from app.domain.timing import elapsed_ms

_SAID = {Answer.LEFT.value: 1, Answer.TIE.value: 0, Answer.RIGHT.value: -1}


Answers = Sequence[TimedAnswer[JudgmentRow]]


def answers_of(
    rows: Sequence[JudgmentRow], begun_at: datetime | None = None
) -> list[TimedAnswer[JudgmentRow]]:
    """The answers of a log with their times.

    The log counts the wall time of the first answer from when the work was given out; days in a
    queue are no work, so here it is counted from ``begun_at``, when the clock first started, and is
    the active time where no clock was told of.
    """
    answers = timed_answers(rows)
    if rows:
        first = rows[0]
        waited = 0 if begun_at is None else elapsed_ms(begun_at, first.created_at)
        answers[0].wall_ms += max(first.active_ms, min(first.wall_ms, waited)) - first.wall_ms
    return answers


class JudgmentColumns:
    """Answers to pairs that stand, as `Judgments` wants them."""

    def __init__(self) -> None:
        self._columns = tuple(array("q") for _ in range(6))
        self._check = array("b")
        self._begins: dict[tuple[int, int], int] = {}

    def take(self, assessor: int, query: int, place: Mapping[int, int], answers: Answers) -> None:
        """Add the preferences of one session; a later round goes on counting answers."""
        begin = self._begins.get((assessor, query), 0)
        self._begins[assessor, query] = begin + len(answers)
        for position, each in enumerate(answers, start=begin):
            row = each.row
            said = _SAID.get(row.answer or "")
            if said is None or not each.stands:
                continue
            assert row.left_id is not None
            assert row.right_id is not None
            pages = place[row.left_id], place[row.right_id]
            for column, value in zip(
                self._columns, (assessor, query, *pages, said, position), strict=True
            ):
                column.append(value)
            self._check.append(row.question_kind is QuestionKind.CHECK)

    def judgments(self) -> Judgments:
        """All of them."""
        assessor, query, left, right, answer, position = self._columns
        return Judgments.of(
            assessor=assessor,
            query=query,
            left=left,
            right=right,
            answer=answer,
            position=position,
            check=self._check,
        )


class SessionColumns:
    """Sessions and the times of their answers, as `Sessions` and `Timings` want them."""

    def __init__(self) -> None:
        self._who, self._query, self._n, self._k = (array("q") for _ in range(4))
        self._finished, self._bound = array("b"), array("d")
        self._session, self._position = array("q"), array("q")
        self._active, self._wall, self._stands = array("d"), array("d"), array("b")

    def take(
        self,
        assessor: int,
        query: int,
        *,
        finished: bool,
        n: int,
        k: int = 0,
        bound: float | None = None,
        answers: Answers = (),
    ) -> None:
        """Add one session."""
        number = len(self._who)
        self._who.append(assessor)
        self._query.append(query)
        self._n.append(n)
        self._k.append(k)
        self._finished.append(finished)
        self._bound.append(nan if bound is None else bound)
        for position, each in enumerate(answers):
            self._session.append(number)
            self._position.append(position)
            self._active.append(each.active_ms / 1000)
            self._wall.append(each.wall_ms / 1000)
            self._stands.append(each.stands)

    def sessions(self) -> Sessions:
        """All sessions."""
        return Sessions.of(
            assessor=self._who,
            query=self._query,
            n=self._n,
            k=self._k,
            bound=self._bound,
            finished=self._finished,
        )

    def timings(self) -> Timings:
        """The times of all answers."""
        return Timings.of(
            session=self._session,
            position=self._position,
            active=self._active,
            wall=self._wall,
            effective=self._stands,
        )
