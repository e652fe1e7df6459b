"""What is due before an assessor's first work of a study, and when the training is passed."""

from dataclasses import dataclass, replace
from enum import StrEnum

from topkapi.app.domain.study import StudySettings


class Step(StrEnum):
    """The step of a training that is open."""

    GUIDELINES = "guidelines"
    PRACTICE = "practice"
    FAILED = "failed"
    PASSED = "passed"


@dataclass(frozen=True, slots=True)
class TrainingRules:
    """The qualification: agree with at least ``needed`` known answers, in at most ``tries`` tries.

    Without ``needed`` the practice only has to be completed. ``explains``: after a failed try its
    right answers are shown, although the next one asks the same questions.
    """

    needed: int | None = None
    tries: int = 3
    explains: bool = True

    def is_met(self, agreed: int, asked: int) -> bool:
        """Return whether a finished try qualifies; ``needed`` is capped at the number asked."""
        return self.needed is None or agreed >= min(self.needed, asked)


@dataclass(frozen=True, slots=True)
class TrainingRecord:
    """How far a person's training is; ``granted`` counts further tries that an admin granted."""

    confirmed: bool = False
    passed: bool = False
    failed: int = 0
    granted: int = 0

    @property
    def attempt(self) -> int:
        """Number of the current try, from 1."""
        return self.failed + 1

    def tries_left(self, rules: TrainingRules) -> int:
        """Return the number of tries left, the current one included."""
        return max(0, rules.tries + self.granted - self.failed)

    def shows_answers(self, rules: TrainingRules, attempt: int) -> bool:
        """Return whether the right answers of a try may be shown.

        They may if no later try asks them again, and after every try if the study explains them.
        """
        if rules.needed is None or self.passed or (rules.explains and attempt < self.attempt):
            return True
        return self.tries_left(rules) <= (1 if attempt == self.attempt else 0)

    def step(self, rules: TrainingRules) -> Step:
        """Return the step that is open."""
        if self.passed:
            return Step.PASSED
        if not self.confirmed:
            return Step.GUIDELINES
        if rules.needed is not None and not self.tries_left(rules):
            return Step.FAILED
        return Step.PRACTICE


def concluded(
    rules: TrainingRules, record: TrainingRecord, *, agreed: int, answered: int, asked: int
) -> TrainingRecord:
    """Return the record after an answer: unchanged until all ``asked`` questions are answered.

    A completed try passes the training or counts as failed.
    """
    if record.step(rules) is not Step.PRACTICE or answered < asked:
        return record
    if rules.is_met(agreed, asked):
        return replace(record, passed=True)
    return replace(record, failed=record.failed + 1)


def rules_of(settings: StudySettings) -> TrainingRules:
    """Return the training rules of a study."""
    return TrainingRules(
        settings.training_needed, settings.training_tries, settings.training_explain
    )
