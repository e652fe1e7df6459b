"""Settings: everything read from the environment, once, at start-up."""

from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from topkapi.app.db.engine import normal_url


class Settings(BaseSettings):
    """The operator's settings, from ``TOPKAPI_*`` variables or a ``.env`` file."""

    model_config = SettingsConfigDict(
        env_prefix="TOPKAPI_", env_file=".env", frozen=True, extra="ignore"
    )

    database_url: str = Field("sqlite:///topkapi.db", description="SQLite file or PostgreSQL.")
    secret_file: Path = Field(
        Path("topkapi.secret"), description="Signs cookies and links; created at the first start."
    )
    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on.")
    workers: int = Field(1, ge=1, le=256, description="Server processes.")
    secure_cookies: bool = Field(
        False, description="Send cookies over https only; switch on behind an https proxy."
    )
    public_url: str = Field(
        "", description="Where people reach this server, such as https://labels.example; for links."
    )
    trusted_proxies: str = Field(
        "127.0.0.1", description="Proxies whose X-Forwarded-* headers are trusted, comma-separated."
    )
    session_hours: int = Field(
        72, ge=1, le=24 * 90, description="How long a sign-in lasts without a visit."
    )
    session_days: int = Field(
        14, ge=1, le=365, description="How long a sign-in lasts at most, however often it is used."
    )
    page_token_minutes: int = Field(
        240, ge=1, le=60 * 24 * 7, description="How long the link to a page under judgment works."
    )
    live_megabytes: int = Field(
        64, ge=1, le=65536, description="Memory for cached judging sessions, per process."
    )
    upload_dir: Path = Field(
        Path("topkapi-uploads"), description="Folder for uploaded studies until they are imported."
    )
    dask: str = Field(
        "", description="Dask scheduler that background jobs compute on, such as tcp://host:8786."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Lowest severity that is logged."
    )

    @field_validator("database_url")
    @classmethod
    def _known_database(cls, value: str) -> str:
        normal_url(value)
        return value

    @field_validator("public_url")
    @classmethod
    def _whole_address(cls, value: str) -> str:
        parts = urlsplit(value.strip().rstrip("/"))
        plain = f"{parts.scheme}://{parts.netloc}"
        if value and (
            parts.scheme not in ("http", "https")
            or not parts.hostname
            or "@" in parts.netloc
            or parts.geturl() != plain
        ):
            raise ValueError("give only scheme and host, such as https://labels.example")
        return plain if value else ""
