"""Enumerations shared by several layers: roles, scopes of tokens, judging tools, timers, jobs."""

from enum import StrEnum


class Role(StrEnum):
    """What a user may do; the table of pages and roles is in the web layer."""

    ASSESSOR = "assessor"
    RESEARCHER = "researcher"
    ADMIN = "admin"


class Scope(StrEnum):
    """What an API token allows, within the role of its owner."""

    READ = "read"
    WRITE = "write"


TOKEN_DAYS, MOST_TOKEN_DAYS = 365, 3650  # until a token ends


class Tool(StrEnum):
    """How a query is judged: pairs of pages (T1), grades (T2), or pairs of lists (T3)."""

    PAIRS = "pairs"
    GRADES = "grades"
    LISTS = "lists"

    @property
    def label(self) -> str:
        """Its name on pages and in reports."""
        return f"T{list(Tool).index(self) + 1} {self.value}"


class TimerKind(StrEnum):
    """Events of a session's timer."""

    START = "start"
    PAUSE = "pause"
    RESUME = "resume"
    AUTO_PAUSE = "auto_pause"
    HEARTBEAT = "heartbeat"
    LEAVE = "leave"


class JobState(StrEnum):
    """State of a background job; the last three are final."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"

    @property
    def final(self) -> bool:
        """Whether the job has ended."""
        return self in (JobState.DONE, JobState.FAILED, JobState.STOPPED)


class Goal(StrEnum):
    """The order of the top k (kappa-NDCG), or which pages belong in it (overlap)."""

    ORDER = "order"
    MEMBERS = "members"
