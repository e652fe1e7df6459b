"""Columns that grow: what logs become on their way into the arrays of `analysis`."""

from array import array
from collections.abc import Mapping
from math import nan

import numpy as np

from topkapi.analysis.agreement import Judgments
from topkapi.analysis.efficiency import Sessions, Timings
from topkapi.app.domain.pairs.answers import Answer
from topkapi.app.services.results.exports.logs import CHECK, Answers

_SAID = {Answer.LEFT.value: 1, Answer.TIE.value: 0, Answer.RIGHT.value: -1}


class JudgmentColumns:
    """Answers to pairs that stand, as `Judgments` wants them."""

    def __init__(self) -> None:
        self._assessor, self._query, self._position = array("q"), array("q"), array("q")
        self._left, self._right, self._said = array("q"), array("q"), array("q")
        self._check = array("b")
        self._begins: dict[tuple[int, int], int] = {}

    def take(self, assessor: int, query: int, place: Mapping[int, int], answers: Answers) -> None:
        """Add the preferences of one session; a later round goes on counting answers."""
        begin = self._begins.get((assessor, query), 0)
        self._begins[assessor, query] = begin + len(answers)
        said = [_SAID.get(answer) for answer in answers.answer]
        kept = [
            at
            for at, (said_so, stands) in enumerate(zip(said, answers.stands, strict=True))
            if stands and said_so is not None
        ]
        self._assessor.extend([assessor] * len(kept))
        self._query.extend([query] * len(kept))
        self._left.extend([place[answers.left[at]] for at in kept])
        self._right.extend([place[answers.right[at]] for at in kept])
        self._said.extend([said[at] or 0 for at in kept])
        self._position.extend([begin + at for at in kept])
        self._check.extend([answers.kind[at] == CHECK for at in kept])

    def judgments(self) -> Judgments:
        """All of them."""
        return Judgments.of(
            assessor=self._assessor,
            query=self._query,
            left=self._left,
            right=self._right,
            answer=self._said,
            position=self._position,
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
        answers: Answers | None = None,
    ) -> None:
        """Add one session."""
        number = len(self._who)
        self._who.append(assessor)
        self._query.append(query)
        self._n.append(n)
        self._k.append(k)
        self._finished.append(finished)
        self._bound.append(nan if bound is None else bound)
        if answers is not None:
            self._session.extend([number] * len(answers))
            self._position.extend(range(len(answers)))
            self._active.extend(answers.active_ms)
            self._wall.extend(answers.wall_ms)
            self._stands.extend(answers.stands)

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
            active=np.asarray(self._active) / 1000,
            wall=np.asarray(self._wall) / 1000,
            effective=self._stands,
        )
