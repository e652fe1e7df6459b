"""Growing columns that collect logs for the arrays of `analysis`."""

from array import array
from collections.abc import Mapping
from math import nan

import numpy as np

from topkapi.analysis.agreement import Judgments
from topkapi.analysis.efficiency import Sessions, Timings
from topkapi.app.domain.pairs.answers import Answer
from topkapi.app.services.results.exports.logs import ATTENTION, CHECK, AnswerColumns

_PREFERENCE = {Answer.LEFT.value: 1, Answer.TIE.value: 0, Answer.RIGHT.value: -1}


class JudgmentColumns:
    """Effective answers to pairs, as columns of `Judgments`."""

    def __init__(self) -> None:
        whole = ("assessor", "query", "left", "right", "answer", "position")
        self._columns = {**{name: array("q") for name in whole}, "check": array("b")}
        self._begins: dict[tuple[int, int], int] = {}

    def take(
        self, assessor: int, query: int, page_index: Mapping[int, int], answers: AnswerColumns
    ) -> None:
        """Add the preferences of one session; positions continue over rounds."""
        begin = self._begins.get((assessor, query), 0)
        self._begins[assessor, query] = begin + len(answers)
        preferences = [_PREFERENCE.get(answer) for answer in answers.answer]
        kept = [
            at
            for at, (preference, effective) in enumerate(
                zip(preferences, answers.effective, strict=True)
            )
            if effective and preference is not None and answers.kind[at] != ATTENTION
        ]
        found: dict[str, list[int]] = {
            "assessor": [assessor] * len(kept),
            "query": [query] * len(kept),
            "left": [page_index[answers.left[at]] for at in kept],
            "right": [page_index[answers.right[at]] for at in kept],
            "answer": [preferences[at] or 0 for at in kept],
            "position": [begin + at for at in kept],
            "check": [answers.kind[at] == CHECK for at in kept],
        }
        for name, values in found.items():
            self._columns[name].extend(values)

    def judgments(self) -> Judgments:
        """Return all judgments."""
        return Judgments.of(**self._columns)


class SessionColumns:
    """Sessions and the times of their answers, as columns of `Sessions` and `Timings`."""

    def __init__(self) -> None:
        self._who, self._query, self._n, self._k = (array("q") for _ in range(4))
        self._finished, self._bound = array("b"), array("d")
        self._session, self._position = array("q"), array("q")
        self._active, self._wall, self._effective = array("d"), array("d"), array("b")

    def take(
        self,
        assessor: int,
        query: int,
        *,
        finished: bool,
        n: int,
        k: int = 0,
        bound: float | None = None,
        answers: AnswerColumns | None = None,
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
            self._effective.extend(answers.effective)

    def sessions(self) -> Sessions:
        """Return all sessions."""
        return Sessions.of(
            assessor=self._who,
            query=self._query,
            n=self._n,
            k=self._k,
            bound=self._bound,
            finished=self._finished,
        )

    def timings(self) -> Timings:
        """Return the times of all answers."""
        return Timings.of(
            session=self._session,
            position=self._position,
            active=np.asarray(self._active) / 1000,
            wall=np.asarray(self._wall) / 1000,
            effective=self._effective,
        )
