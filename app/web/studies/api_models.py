"""Response models of studies and their exports."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel

from topkapi.app.domain.enums import Tool
from topkapi.app.services.results.exports.service import ToolCount


class StudyOut(BaseModel):
    """A study with its sizes, and how much of the assigned work is finished."""

    slug: str
    name: str
    k: int
    tools: list[Tool]
    created_at: datetime
    archived: bool
    queries: int
    documents: int
    candidates: int
    assignments: int
    finished: int


class StudyDetail(StudyOut):
    """A study with its guidelines and settings, and its progress per tool."""

    guidelines: str
    settings: dict[str, Any]
    progress: list[ToolCount]


class ExportOut(BaseModel):
    """An export format of a study: its content and completeness."""

    format: str
    description: str
    media_type: str
    filename: str
    assigned: int
    finished: int
    complete: bool
