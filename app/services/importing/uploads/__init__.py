"""Uploaded studies: stored as files, checked first, imported when confirmed."""

from topkapi.app.services.importing.uploads.runner import ImportRunner
from topkapi.app.services.importing.uploads.store import Stage, Upload, UploadStore
