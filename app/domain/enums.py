"""Words that several layers share: roles of people, tools of assessors, events of a clock."""

from enum import StrEnum


class Role(StrEnum):
    """What a person may do; the table of pages and roles is in the web layer."""

    ASSESSOR = "assessor"
    RESEARCHER = "researcher"
    ADMIN = "admin"


class Tool(StrEnum):
    """How a query is judged: pairs of pages (T1), grades (T2), or pairs of lists (T3)."""

    PAIRS = "pairs"
    GRADES = "grades"
    LISTS = "lists"


class TimerKind(StrEnum):
    """What happened to a session's clock."""

    START = "start"
    PAUSE = "pause"
    RESUME = "resume"
    AUTO_PAUSE = "auto_pause"
    HEARTBEAT = "heartbeat"
    LEAVE = "leave"
