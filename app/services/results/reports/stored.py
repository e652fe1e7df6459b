"""Reports, parts of them, and labels that were computed before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class StoredConfidence:
    """Confidence that a job has computed: rows of the report's section, with pseudonyms.

    ``digest`` is the `state_digest` of the study at that time.
    """

    job_id: int
    at: datetime
    digest: str
    lists: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class StoredResult:
    """What a job has computed: a report as `storable` writes it, with pseudonyms, or labels.

    ``digest`` is the `state_digest` of the study at that time.
    """

    job_id: int
    at: datetime
    digest: str
    content: Mapping[str, Any]
