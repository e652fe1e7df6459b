"""Sessions of tool T1: the state of the sorter run after the effective answers.

The log is the state. A session can be rebuilt from it at any time; kept in memory, it applies one
entry in the time of one question.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from topkapi.app.domain.draws import draw_integer
from topkapi.app.domain.errors import AnswerNotAllowed, OutOfTurn
from topkapi.app.domain.log import Entry, EntryKind
from topkapi.app.domain.pairs.answers import (
    Answer,
    ItemId,
    Judgment,
    Pair,
    Question,
    QuestionKind,
    removed_by,
)
from topkapi.app.domain.pairs.checks import due_attention, due_check, self_consistency
from topkapi.app.domain.pairs.confidence import ErrorWeights, ListConfidence
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.progress import (
    ProgressTracker,
    estimated_progress,
    progress_within_budget,
)
from topkapi.app.domain.pairs.sorter_strategy import PairListStrategy, SorterStrategy
from topkapi.app.domain.pairs.sorters.ranking import ItemClass, Ranking
from topkapi.app.domain.pairs.sorters.registry import SORTERS
from topkapi.app.domain.pairs.strategy import (
    AskPair,
    Done,
    Step,
    Strategy,
    prior_in,
    step_from_json,
    step_to_json,
)
from topkapi.app.domain.session import (
    Choice,
    JudgingSession,
    Progress,
    SessionState,
    StoredJudgment,
    SubmittedAnswer,
)

_SAME_EFFECT = [
    tuple(answer for answer in Answer if answer.effect is effect)
    for effect in dict.fromkeys(answer.effect for answer in Answer)
]
_SORTER_BYTES_PER_ANSWER = 360
_QUICKLY_REPLAYED = 500  # answers; their replay takes about a millisecond


def strategy_for(plan: Plan) -> Strategy:
    """Return a new strategy: for the plan's pairs, if it has any, or for its sorter."""
    if plan.pairs:
        return PairListStrategy(plan)
    if SORTERS[plan.sorter].sampled:
        from topkapi.app.domain.pairs.robust.strategy import RobustStrategy  # loads NumPy
        from topkapi.app.domain.pairs.robust.team import TeamStrategy

        return TeamStrategy(plan) if plan.together else RobustStrategy(plan)
    return SorterStrategy(plan)


@dataclass(frozen=True, slots=True)
class Result:
    """Top-k ground truth: the ordered list, its tie groups, and the pages outside it.

    ``groups`` covers ``ranking`` and may extend beyond it: the last tie group is kept whole.
    """

    ranking: tuple[ItemId, ...]
    groups: tuple[ItemClass, ...]
    rest: tuple[ItemId, ...]
    bad: tuple[ItemId, ...]
    unjudgeable: tuple[ItemId, ...]


@dataclass(frozen=True, slots=True)
class Asking(SessionState):
    """The session waits for an answer to ``question``."""

    question: Question

    @property
    def shown(self) -> tuple[ItemId, ...]:
        """The two pages on the screen."""
        return self.question.left, self.question.right


@dataclass(frozen=True, slots=True)
class Finished(SessionState):
    """The session has its result; undo reopens it. A sampled sorter adds its confidence."""

    result: Result
    confidence: ListConfidence | None = None


State = Asking | Finished


class PairSession(JudgingSession[Judgment]):
    """A live session of a plan: `append` entries, read `state`.

    Where the sorter samples its questions, ``pending_question`` must be stored beside the log and
    passed back, so that the same pair is asked when the session is resumed.
    """

    def __init__(
        self,
        plan: Plan,
        log: Iterable[Entry[Judgment]] = (),
        pending_question: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.plan = plan
        self.tracker = ProgressTracker()
        self._strategy = strategy_for(plan)
        self._pending: Step | None = None
        self._prior: ErrorWeights | None = None
        self.extend(log)
        self.restore_pending(pending_question)

    @classmethod
    def open(cls, plan: Mapping[str, Any]) -> Self:
        """Open a session without entries from a stored plan."""
        return cls(Plan.from_json(plan))

    @property
    def state(self) -> State:
        """The current question, or the result."""
        step = self._step
        if isinstance(step, Done):
            return Finished(result_of(self.plan, self._done, step), step.confidence)
        return Asking(self._question(step.pair))

    def _question(self, pair: Pair) -> Question:
        """Return the question if ``pair`` is the sorter's: that pair, or a check before it."""
        at = self.plan, self._done, self.tracker.sorted
        check = due_attention(*at) or due_check(*at)
        return check or Question(QuestionKind.SORT, *self._on_sides(pair))

    @property
    def progress(self) -> Progress:
        """The estimated progress; the share answered decreases only by an undo."""
        if isinstance(self._step, Done):
            return Progress(self.answered, 0, 0, 0)
        left = self._strategy.left()
        if left is not None:
            return progress_within_budget(self.plan, self.answered, left, self.quality)
        return estimated_progress(self.plan, self.answered, self.tracker)

    @property
    def choices(self) -> Sequence[Choice]:
        """The preferences, and the removal of each page, as bad or as unjudgeable."""
        state, allowed = self.state, self.plan.answers
        if not isinstance(state, Asking):
            return ()
        groups = [tuple(answer for answer in group if answer in allowed) for group in _SAME_EFFECT]
        return [_choice(state.question, group) for group in groups if group]

    def judgment(self, submitted: SubmittedAnswer, ids: Mapping[str, int]) -> Judgment:
        """Build the answer to the pair shown; the open question decides its kind."""
        answer, state = submitted.parsed(Answer), self.state
        if not isinstance(state, Asking):
            raise OutOfTurn("This query is finished; no question is open.")
        return Judgment(state.question.kind, *submitted.known_sides(ids), answer)

    @staticmethod
    def columns(judgment: Judgment) -> dict[str, Any]:
        """Return the judgment as columns of its row."""
        return {
            "question_kind": judgment.kind,
            "left_id": judgment.left,
            "right_id": judgment.right,
            "answer": judgment.answer.value,
        }

    @staticmethod
    def from_row(row: StoredJudgment) -> Judgment:
        """Return the judgment stored in a row."""
        assert row.left_id is not None
        assert row.right_id is not None
        assert row.answer is not None
        kind = row.question_kind or QuestionKind.SORT
        return Judgment(kind, row.left_id, row.right_id, Answer(row.answer))

    @staticmethod
    def matches(judgment: Judgment, submitted: SubmittedAnswer, ids: Mapping[str, int]) -> bool:
        """Return whether ``submitted`` repeats a recorded judgment."""
        recorded = (judgment.left, judgment.right, judgment.answer.value)
        return recorded == (*submitted.sides(ids), submitted.answer)

    def count_checks(self, before: tuple[int, int]) -> tuple[int, int]:
        """Count the checks and those that agreed, if the last entry can have changed them."""
        judgment = None if self.last is None else self.last.judgment
        if judgment is not None and judgment.kind is not QuestionKind.CHECK:
            return before
        return self_consistency(self._done)

    @property
    def pending_question(self) -> dict[str, Any] | None:
        """The step after the last new answer, to store beside the log if it was sampled."""
        if not self._strategy.sampled or not self._done or self._undone:
            return None
        return {**step_to_json(self._step, after=len(self._done)), **self._stored_prior}

    @property
    def _stored_prior(self) -> dict[str, Any]:
        return {} if self._prior is None else {"prior": list(self._prior)}

    def restore_pending(self, stored: Mapping[str, Any] | None) -> None:
        """Restore the pending step from its stored form, if it belongs to the last new answer."""
        if stored is not None and self._strategy.sampled:
            self._restore_prior(prior_in(stored))
            after, step = step_from_json(stored)
            if after == len(self._done) + len(self._undone):
                self._pending = step

    @property
    def awaits_prior(self) -> bool:
        """True until the first entry, if the sorter learns how the assessor errs."""
        return self._strategy.sampled and self.length == 0 and self._prior is None

    def use_prior(self, prior: ErrorWeights) -> None:
        """Set what finished work of the study says about the assessor's errors.

        The first pair does not depend on it. It is stored with the offered question and never
        computed again.
        """
        assert self.awaits_prior
        self._prior = prior
        self._strategy.use_prior(prior)

    def _restore_prior(self, stored: ErrorWeights | None) -> None:
        if stored is not None and self._prior is None:
            self._prior = stored
            self._strategy.use_prior(stored)

    @property
    def quality(self) -> float | None:
        """Expected quality of the list so far, if the session stops at some quality."""
        stored = self._pending.quality if isinstance(self._pending, AskPair) else None
        return self._strategy.quality() if stored is None or self._undone else stored

    @property
    def strategy(self) -> Strategy:
        """The strategy, after the effective answers."""
        return self._strategy

    def validate(self, judgment: Judgment) -> None:
        """Raise if the answer is to another question or is not allowed by the study."""
        state = self.state
        self._validate(judgment, state.question if isinstance(state, Asking) else None)

    def _validate(self, judgment: Judgment, question: Question | None) -> None:
        if question is None:
            raise OutOfTurn("This query is finished; no question is open.")
        if judgment.question != question:
            raise OutOfTurn("This answer is about a pair that is not being asked now.")
        if not self.plan.allows(judgment.answer):
            raise AnswerNotAllowed(
                f"This study does not offer the answer {judgment.answer.value!r}."
            )

    def append(self, entry: Entry[Judgment], *, recorded: bool = False) -> None:
        """Apply one entry, or raise and stay unchanged; a new answer clears the pending step."""
        super().append(entry, recorded=recorded)
        if entry.kind is EntryKind.ANSWER:
            self._pending = None

    @property
    def slow(self) -> bool:
        """True for sampled sorters."""
        return self._strategy.sampled

    @property
    def foresees(self) -> bool:
        """False for sampled sorters, and for long logs.

        In a long log each removal of a page needs a replay.
        """
        return not self.slow and self.answered <= _QUICKLY_REPLAYED

    @property
    def foresees_rare(self) -> bool:
        """False for the same sessions."""
        return self.foresees

    @property
    def nbytes(self) -> int:
        """Approximate bytes of the sorter's memory, and of a sampled sorter's chains."""
        return _SORTER_BYTES_PER_ANSWER * self.answered + self._strategy.nbytes

    @property
    def trusts_log(self) -> bool:
        """True for sampled sorters: the same question may not be drawn on another machine."""
        return self._strategy.sampled

    def _take_back(self, judgment: Judgment) -> None:
        self.tracker.forget_last(judgment)
        if judgment.kind is not QuestionKind.ATTENTION:
            self._strategy.take_back(judgment, self._used)

    def _take(self, judgment: Judgment) -> None:
        self.seen |= {judgment.left, judgment.right}
        self.tracker.note(judgment)
        if judgment.kind is not QuestionKind.ATTENTION:
            self._strategy.take(judgment, self._used)

    @property
    def _used(self) -> Sequence[Judgment]:
        """The effective answers that the strategy uses."""
        return without_attention(self._done) if self.plan.attention_every else self._done

    def _unshare(self) -> None:
        self.tracker = self.tracker.copied()
        self._strategy = self._strategy.fork()

    @property
    def _step(self) -> Step:
        """The step after the effective answers; a sampled question, once drawn, is kept."""
        if not self._strategy.sampled:
            return self._strategy.step()
        if self._undone:
            last = self._undone[-1]
            return AskPair(self._on_sides((last.left, last.right)))
        if self._pending is None:
            self._pending = self._strategy.step()
        return self._pending

    def _on_sides(self, pair: Pair) -> Pair:
        """Return the pair as (left, right).

        Of every two questions the sides of one are swapped, depending on the seed.
        """
        number = self.tracker.sorted
        swapped = draw_integer(self.plan.seed, "sides", number // 2) + number & 1
        return (pair[1], pair[0]) if swapped else pair


def without_attention(done: Sequence[Judgment]) -> list[Judgment]:
    """Return the answers but those to questions of attention."""
    return [each for each in done if each.kind is not QuestionKind.ATTENTION]


def _choice(asked: Question, answers: tuple[Answer, ...]) -> Choice:
    judgment = Judgment(asked.kind, asked.left, asked.right, answers[0])
    values = tuple(answer.value for answer in answers)
    return Choice(values, judgment, rare=not answers[0].is_preference)


def result_of(plan: Plan, done: Sequence[Judgment], end: Done) -> Result:
    """Return the ground truth from the effective answers ``done`` and the ``end`` they led to."""
    ranking = end.ranking
    listed = [item for items in ranking for item in items]
    top = tuple(listed[: plan.k])
    bad, unjudgeable = end.removed or removed_by(done)
    outside = {*top, *bad, *unjudgeable}
    return Result(
        ranking=top,
        groups=_covering(ranking, plan.k),
        rest=tuple(item for item in plan.order if item not in outside),
        bad=bad,
        unjudgeable=unjudgeable,
    )


def _covering(ranking: Ranking, k: int) -> tuple[ItemClass, ...]:
    """Return the classes that contain the first ``k`` items."""
    groups: list[ItemClass] = []
    covered = 0
    for items in ranking:
        if covered >= k:
            break
        groups.append(items)
        covered += len(items)
    return tuple(groups)
