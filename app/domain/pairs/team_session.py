"""Sessions of a team: each member has a log, and all ask from one posterior.

The log of a member holds the pairs that were asked and the answers, so it replays by itself; what
is asked next, and the list, follow from the logs of all members in the order of their entries.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from topkapi.app.domain.errors import OutOfTurn
from topkapi.app.domain.log import Entry, EntryKind, UndoStacks
from topkapi.app.domain.pairs.answers import Answer, ItemId, Judgment, Pair, Question, QuestionKind
from topkapi.app.domain.pairs.confidence import ErrorWeights
from topkapi.app.domain.pairs.session import Asking, PairSession
from topkapi.app.domain.pairs.strategy import AskPair, Done, Step, step_to_json
from topkapi.app.domain.session import Choice, Progress, SubmittedAnswer

if TYPE_CHECKING:
    from topkapi.app.domain.pairs.robust.team import TeamAnswer, TeamDone, TeamStrategy


_KEPT = ("after", "team", "errors", "prior")  # of what is stored, when a team is open again


def merged(
    log: Iterable[tuple[int, Entry[Judgment]]],
) -> "tuple[list[TeamAnswer], dict[int, int]]":
    """Return the effective answers of a team in the order in which they became effective.

    ``log`` has the entries of all members, each with its member, in the order of their arrival.
    The second value is the number of answers of each member that are effective or can be redone.
    """
    stacks: defaultdict[int, UndoStacks[Judgment]] = defaultdict(UndoStacks)
    given: list[TeamAnswer] = []
    for member, entry in log:
        own = stacks[member]
        if entry.kind is EntryKind.UNDO:
            undone = member, own.undo()
            del given[len(given) - 1 - given[::-1].index(undone)]
        elif entry.kind is EntryKind.REDO:
            given.append((member, own.redo()))
        else:
            assert entry.judgment is not None
            given.append((member, own.answer(entry.judgment)))
    used = [each for each in given if each[1].kind is not QuestionKind.ATTENTION]
    return used, {member: len(own.done) + len(own.undone) for member, own in stacks.items()}


class TeamSession(PairSession):
    """The session of one member; call `join` with the team's answers before reading its state.

    ``late`` is the pair that was on the member's screen when the team finished: an answer about it
    still counts. ``stored`` says whether the open question is the one stored with the assignment.
    """

    late: Pair | None = None
    stored = False
    _team_version = 0

    def join(
        self,
        given: "Sequence[TeamAnswer]",
        me: int,
        priors: Sequence[ErrorWeights | None],
        leased: Collection[Pair],
    ) -> None:
        """Use ``given``, all effective answers of the team, and what is known of each member.

        ``leased``: pairs open elsewhere.
        """
        self.team.join(given, me, priors, leased)
        self._team_version = hash((len(priors), tuple(given)))

    @property
    def team(self) -> "TeamStrategy":
        """The strategy of the team."""
        return cast("TeamStrategy", self._strategy)

    @property
    def version(self) -> Any:
        """What the state depends on: this log, the answers of the team, pairs open elsewhere."""
        return self.length, self._team_version, self.team.leased

    @property
    def progress(self) -> Progress:
        """The progress of the team."""
        if isinstance(self._step, Done):
            return Progress(self.team.answered, 0, 0, 0)
        return replace(super().progress, answered=self.team.answered)

    @property
    def share_left(self) -> int:
        """This member's share of the questions left."""
        return -(-super().progress.expected_left // self.team.people)

    @property
    def choices(self) -> Sequence[Choice]:
        """None: the next question is leased with the answer, and cannot be foreseen."""
        return ()

    @property
    def slow(self) -> bool:
        """False: nothing can be computed before the others' answers are read."""
        return False

    @property
    def foresees(self) -> bool:
        """Never."""
        return False

    @property
    def awaits_prior(self) -> bool:
        """True until the first question is stored."""
        return super().awaits_prior and not self.stored

    @property
    def open_pages(self) -> tuple[ItemId, ...]:
        """The pages that an answer may be about."""
        question = self._open_question
        return () if question is None else (question.left, question.right)

    @property
    def _open_question(self) -> Question | None:
        """The question that may be answered, also when the team has finished meanwhile."""
        state = self.state
        if isinstance(state, Asking):
            return state.question
        return None if self.late is None else self._question(self.late)

    def judgment(self, submitted: SubmittedAnswer, ids: Mapping[str, int]) -> Judgment:
        """Build the answer to the pair shown; the open question decides its kind."""
        answer, question = submitted.parsed(Answer), self._open_question
        if question is None:
            raise OutOfTurn("This query is finished; no question is open.")
        return Judgment(question.kind, *submitted.known_sides(ids), answer)

    def validate(self, judgment: Judgment) -> None:
        """Raise if the answer is to another question or is not allowed by the study."""
        self._validate(judgment, self._open_question)

    def append(self, entry: Entry[Judgment], *, recorded: bool = False) -> None:
        """Apply one entry, or raise and stay unchanged; the next step is drawn after it.

        After a late answer the team stays finished.
        """
        was_late = self.late is not None and entry.kind is EntryKind.ANSWER
        super().append(entry, recorded=recorded)
        self._pending, self.late, self.stored = None, None, False
        self._team_version += 1
        if was_late and not recorded:
            self._pending = self.team.end()

    def drop_outdated(self) -> None:
        """Forget the stored question if its pair was answered or is leased elsewhere meanwhile."""
        step = self._step
        if isinstance(step, AskPair) and not self._undone and not self.team.is_open(step.pair):
            self._pending, self.stored = None, False

    @property
    def open_pair(self) -> Pair | None:
        """The pair of the open question, to lease."""
        step = self._step
        return step.pair if isinstance(step, AskPair) else None

    @property
    def end(self) -> "TeamDone | None":
        """The list, if this session has just found that the team is finished."""
        step = self._step
        is_new = isinstance(step, Done) and not step.waits and not self.stored
        return cast("TeamDone", step) if is_new else None

    @property
    def waits(self) -> bool:
        """Whether there is no question for this member now, but the others have not finished."""
        step = self._step
        return isinstance(step, Done) and step.waits

    def finish(self) -> None:
        """End with the list of the team as it is."""
        self._pending, self.stored = self.team.end(), False

    @property
    def pending_question(self) -> dict[str, Any] | None:
        """The step after the log, to store beside it; None while the member waits for others."""
        step = self._step
        if self.waits:
            return None
        stored = step_to_json(step, after=len(self._done) + len(self._undone))
        return {**stored, **self._stored_prior, "team": True, "errors": self.team.errors_of()}

    def restore_pending(self, stored: Mapping[str, Any] | None) -> None:
        """Restore the pending step from its stored form, if it belongs to the last entry."""
        self._pending, self.late, self.stored = None, None, False
        super().restore_pending(stored)
        if stored is not None and self._pending is not None:
            self.stored = True
            late = stored.get("late")
            self.late = None if late is None else (late[0], late[1])

    @property
    def _step(self) -> Step:
        """The step after the effective answers; the end of the team is everybody's."""
        return self._pending if isinstance(self._pending, Done) else super()._step


def finished_step(
    step: "TeamDone", member: int, *, after: int, before: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return what is stored for another member when the team has finished.

    ``before`` is what was stored: the pair on that member's screen can still be answered.
    """
    late = None if before is None else before.get("pair", before.get("late"))
    return {
        **step_to_json(step.of(member), after=after),
        "team": True,
        "errors": step.errors[member],
        **({} if late is None else {"late": late}),
        **{name: before[name] for name in ("prior",) if before and name in before},
    }


def reopened_step(before: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what is stored for another member when the team is open again."""
    if "late" not in before:
        return None
    kept = {name: before[name] for name in _KEPT if name in before}
    return {**kept, "pair": before["late"]}
