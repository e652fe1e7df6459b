"""Every table, so that one import loads them all."""

from topkapi.app.db.models.assignment import Assignment, PairLease
from topkapi.app.db.models.crowd import CrowdWorker, EntryLink
from topkapi.app.db.models.document import (
    Candidate,
    Content,
    Document,
    Ranking,
    StudyFile,
    SystemRun,
)
from topkapi.app.db.models.job import Job, MachineCall, MachinePrompt, MachineSpending
from topkapi.app.db.models.judgment import Flag, Highlight, JudgmentRow, TimerEvent
from topkapi.app.db.models.study import GuidelineVersion, Query, Study, StudyAccess
from topkapi.app.db.models.training import GoldPair, PracticeAnswer, PracticeItem, Training
from topkapi.app.db.models.user import (
    ApiToken,
    AuditEvent,
    Invitation,
    RecoveryCode,
    SignInAttempt,
    User,
)
