"""Every refusal of the product. An error says what went wrong and knows no HTTP.

AppError
├── NotFound            there is no such thing, or it is not yours to see
├── Forbidden           the role does not allow it
├── SignInNeeded        nobody is signed in, or the sign-in has ended
│   └── WrongCredentials  e-mail and password do not belong together
├── TooManyAttempts     wait before the next sign-in
├── BadToken            a form or link whose signature or age is wrong
├── Invalid             a value that breaks a rule; says which field and what to mend
│   └── Unstorable      a text or number that the databases cannot store
├── Conflict            it contradicts what is already there
└── LogRefusal          the session's log does not take the entry
    ├── StaleForm       the log has another entry at that position, or is not that far yet
    ├── OutOfTurn       the answer is about a question that is not being asked
    ├── AnswerNotAllowed  the study does not offer this answer
    ├── NothingToUndo
    ├── NothingToRedo
    └── Withdrawn       the assignment was taken back by an administrator
"""


class AppError(Exception):
    """A refusal with a stable code for programs and a sentence for people."""

    code = "error"


class NotFound(AppError):
    """There is no such thing, or it is not the asker's to see."""

    code = "not_found"


class Forbidden(AppError):
    """The role does not allow it."""

    code = "forbidden"


class SignInNeeded(AppError):
    """Nobody is signed in, or the sign-in has ended."""

    code = "sign_in_needed"


class WrongCredentials(SignInNeeded):
    """E-mail and password do not belong together."""

    code = "wrong_credentials"


class TooManyAttempts(AppError):
    """Too many failed sign-ins; ``wait_seconds`` says how long to wait."""

    code = "too_many_attempts"

    def __init__(self, message: str, *, wait_seconds: int) -> None:
        super().__init__(message)
        self.wait_seconds = wait_seconds


class BadToken(AppError):
    """A form or a link whose signature or age is wrong."""

    code = "bad_token"


class Invalid(AppError):
    """A value that breaks a rule; ``field`` names it."""

    code = "invalid"

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class Unstorable(Invalid):
    """A text or a number that the databases cannot store."""

    code = "unstorable"


class Conflict(AppError):
    """It contradicts what is already there."""

    code = "conflict"


class LogRefusal(AppError):
    """The session's log does not take the entry."""

    code = "log_refusal"


class StaleForm(LogRefusal):
    """The form was drawn for another position of the log than the one that is next."""

    code = "stale_form"


class OutOfTurn(LogRefusal):
    """The answer is about a question that is not being asked."""

    code = "out_of_turn"


class AnswerNotAllowed(LogRefusal):
    """The study does not offer this answer."""

    code = "answer_not_allowed"


class NothingToUndo(LogRefusal):
    """No answer is left to take back."""

    code = "nothing_to_undo"


class NothingToRedo(LogRefusal):
    """Nothing was taken back since the last answer."""

    code = "nothing_to_redo"


class Withdrawn(LogRefusal):
    """The assignment was taken back by an administrator; its log is kept."""

    code = "withdrawn"
