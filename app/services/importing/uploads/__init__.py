"""Studies sent over the network: kept as files, checked first, imported when confirmed."""

from app.services.importing.uploads.runner import UploadDesk
from app.services.importing.uploads.store import Stage, Upload, UploadStore

__all__ = ["Stage", "Upload", "UploadDesk", "UploadStore"]
