"""Importing studies: folders, zip archives and single files, all or nothing.

`open_source` finds the files, `import_and_commit` reads and writes them, `import_study` in the
transaction of its caller; `preview_study` only reads.
"""

from topkapi.app.services.importing.bundle import ReadOptions
from topkapi.app.services.importing.comparing import Unchanged
from topkapi.app.services.importing.edits import KEEP_EDITS, EditPolicy
from topkapi.app.services.importing.layout.opening import open_source
from topkapi.app.services.importing.problems import Problem, StudyRefused
from topkapi.app.services.importing.service import (
    ImportReport,
    import_and_commit,
    import_study,
    preview_study,
)
from topkapi.app.services.importing.sources.folders import Source
from topkapi.app.services.importing.sources.zipped import ZipSource
