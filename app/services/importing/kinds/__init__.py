"""The kinds of records of a study, one module each, in the order in which they are imported."""

from collections.abc import Mapping, Sequence
from typing import Any

from topkapi.app.services.importing.kinds.base import Kind, SideFile
from topkapi.app.services.importing.kinds.candidates import CANDIDATES
from topkapi.app.services.importing.kinds.documents import DOCUMENTS
from topkapi.app.services.importing.kinds.files import FILES
from topkapi.app.services.importing.kinds.gold import GOLD
from topkapi.app.services.importing.kinds.practice import PRACTICE
from topkapi.app.services.importing.kinds.prior import PRIOR_FILE
from topkapi.app.services.importing.kinds.queries import QUERIES
from topkapi.app.services.importing.kinds.rankings import RANKINGS
from topkapi.app.services.importing.records.names import Aliases

KINDS: Sequence[Kind[Any, Any, Any]] = (
    QUERIES,
    DOCUMENTS,
    CANDIDATES,
    RANKINGS,
    FILES,
    PRACTICE,
    GOLD,
)
SIDE_FILES: Sequence[SideFile] = (PRIOR_FILE,)
ROLES: Mapping[str, Kind[Any, Any, Any]] = {
    kind.role: kind for kind in (*KINDS, *SIDE_FILES) if kind.names
}
FIELD_NAMES: Mapping[str, Aliases] = {kind.one: kind.fields for kind in KINDS if kind.fields}
