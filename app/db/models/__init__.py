"""Every table, so that one import knows them all."""

from app.db.models.assignment import Assignment
from app.db.models.document import Candidate, Content, Document, StudyFile
from app.db.models.highlight import Highlight
from app.db.models.invitation import Invitation
from app.db.models.judgment import JudgmentRow
from app.db.models.ranking import Ranking
from app.db.models.study import Query, Study
from app.db.models.timer import TimerEvent
from app.db.models.user import ApiToken, AuditEvent, SignInAttempt, User

__all__ = [
    "ApiToken",
    "Assignment",
    "AuditEvent",
    "Candidate",
    "Content",
    "Document",
    "Highlight",
    "Invitation",
    "JudgmentRow",
    "Query",
    "Ranking",
    "SignInAttempt",
    "Study",
    "StudyFile",
    "TimerEvent",
    "User",
]
