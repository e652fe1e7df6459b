"""Error classes of the application. An error says what went wrong and is independent of HTTP.

AppError
├── NotFound            the object does not exist, or the user may not see it
├── Forbidden           the user's role does not allow the action
│   └── TrainingRequired  the study's training comes before its first work
├── SignInNeeded        the user is not signed in, or the sign-in has expired
│   └── WrongCredentials  the e-mail address or the password is wrong
│       └── CodeNeeded  the one-time code is missing, wrong or used
├── TooManyAttempts     too many failed sign-ins; wait before the next one
├── BadToken            the form or link has a wrong signature or has expired
├── Invalid             a value breaks a rule; names the field and how to fix it
│   └── Unstorable      the databases cannot store a text or a number
├── Conflict            the request contradicts stored data
└── LogRefusal          the session's log does not accept the entry
    ├── StaleForm       the form was made for another position of the log
    ├── OutOfTurn       the answer is not to the current question
    ├── AnswerNotAllowed  the study does not offer this answer
    ├── NothingToUndo   there is no answer to undo
    ├── NothingToRedo   no answer was undone since the last new one
    └── Withdrawn       an administrator withdrew the assignment
        └── Archived    the study is archived
"""


class AppError(Exception):
    """Base class: a stable code for programs and a message for people."""

    code = "error"


class NotFound(AppError):
    """The object does not exist, or the user may not see it."""

    code = "not_found"


class Forbidden(AppError):
    """The user's role does not allow the action."""

    code = "forbidden"


class TrainingRequired(Forbidden):
    """The person has not completed the training of the study with ``slug``."""

    code = "training_required"

    def __init__(self, message: str, *, slug: str) -> None:
        super().__init__(message)
        self.slug = slug


class SignInNeeded(AppError):
    """The user is not signed in, or the sign-in has expired."""

    code = "sign_in_needed"


class WrongCredentials(SignInNeeded):
    """The e-mail address or the password is wrong."""

    code = "wrong_credentials"


class CodeNeeded(WrongCredentials):
    """The password is right, but the one-time code is missing, wrong or already used."""

    code = "code_needed"


class TooManyAttempts(AppError):
    """Too many failed sign-ins; ``wait_seconds`` says how long to wait."""

    code = "too_many_attempts"

    def __init__(self, message: str, *, wait_seconds: int) -> None:
        super().__init__(message)
        self.wait_seconds = wait_seconds


class BadToken(AppError):
    """The form or link has a wrong signature or has expired."""

    code = "bad_token"


class Invalid(AppError):
    """A value breaks a rule; ``field`` names the value."""

    code = "invalid"

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class Unstorable(Invalid):
    """The databases cannot store a text or a number."""

    code = "unstorable"


class Conflict(AppError):
    """The request conflicts with stored data."""

    code = "conflict"


class StudyFull(Conflict):
    """An entry link is closed, has enough people, or has no work left."""

    code = "study_full"


class LogRefusal(AppError):
    """The session's log does not accept the entry."""

    code = "log_refusal"


class StaleForm(LogRefusal):
    """The form was made for a position of the log other than the next one."""

    code = "stale_form"


class OutOfTurn(LogRefusal):
    """The answer is not to the current question."""

    code = "out_of_turn"


class OtherPages(LogRefusal):
    """The screen showed pages that are not those of the current question."""

    code = "other_pages"


class AnswerNotAllowed(LogRefusal):
    """The study does not offer this answer."""

    code = "answer_not_allowed"


class NothingToUndo(LogRefusal):
    """There is no answer to undo."""

    code = "nothing_to_undo"


class NothingToRedo(LogRefusal):
    """No answer was undone since the last new one."""

    code = "nothing_to_redo"


class Withdrawn(LogRefusal):
    """An administrator withdrew the assignment; its log is kept."""

    code = "withdrawn"


class Archived(Withdrawn):
    """The study is archived; its logs are kept and take no entry."""

    code = "archived"
