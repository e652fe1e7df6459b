"""Studies sent over the network: kept as files, checked first, imported when confirmed."""

from app.services.uploading.desk import UploadDesk
from app.services.uploading.store import Stage, Upload, UploadStore

__all__ = ["Stage", "Upload", "UploadDesk", "UploadStore"]
