"""Settings: everything read from the environment, once, at start-up."""

import os
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_core import InitErrorDetails, PydanticCustomError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from topkapi.app.db.engine import normal_url
from topkapi.app.domain.errors import Invalid

# Names that others read: commands, the tests, and docker-compose.yml from the same .env file.
_OTHERS = ("new_password", "domain", "memory", "test_database_url", "test_chromium")


class Settings(BaseSettings):
    """The operator's settings, from ``TOPKAPI_*`` variables or a ``.env`` file."""

    model_config = SettingsConfigDict(
        env_prefix="TOPKAPI_",
        env_file=".env",
        frozen=True,
        extra="ignore",
        # Of containers and of systemd: one file per setting, such as TOPKAPI_DATABASE_URL.
        secrets_dir=[
            folder
            for folder in ("/run/secrets", os.environ.get("CREDENTIALS_DIRECTORY", ""))
            if folder and Path(folder).is_dir()
        ],
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Refuse names that are no settings: a misspelt one would silently have no effect."""
        for source in (env_settings, dotenv_settings):
            assert isinstance(source, EnvSettingsSource)
            _refuse_unknown(source.env_vars, list(cls.model_fields))
        return super().settings_customise_sources(
            settings_cls, init_settings, env_settings, dotenv_settings, file_secret_settings
        )

    database_url: str = Field(
        "sqlite:///topkapi.db",
        description="SQLite file (created readable by its owner only), or "
        "`postgresql://user:password@host/name`.",
    )
    read_database_url: str = Field(
        "",
        description="PostgreSQL replica for reports, exports, systems and `/metrics`.",
    )
    secret_file: Path = Field(
        Path("topkapi.secret"),
        description="Key that signs cookies and links; created at the first start, readable by its "
        "owner only.",
    )
    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on.")
    workers: int = Field(1, ge=1, le=256, description="Server processes.")
    secure_cookies: bool = Field(
        False, description="Send cookies over https only; turn on behind an https proxy."
    )
    public_url: str = Field(
        "",
        description="Where people reach the server, such as `https://labels.example` or "
        "`https://tools.example/labels`; invitation links begin with it. Without it, a link is "
        "shown in full on the machine itself and as a path elsewhere, because the `Host` header of "
        "a request can be forged.",
    )
    trusted_proxies: str = Field(
        "127.0.0.1",
        description="Proxies whose `X-Forwarded-*` headers are trusted, comma-separated.",
    )
    session_hours: int = Field(
        72, ge=1, le=24 * 90, description="Hours until a session expires without a visit."
    )
    session_days: int = Field(
        14, ge=1, le=365, description="Days until a session expires, however often it is used."
    )
    page_token_minutes: int = Field(
        240,
        ge=1,
        le=60 * 24 * 7,
        description="Minutes for which a link to a page under judgment works.",
    )
    live_megabytes: int = Field(
        64,
        ge=1,
        le=65536,
        description="Memory for live sessions in each process; the least recently used are dropped "
        "first.",
    )
    upload_dir: Path = Field(
        Path("topkapi-uploads"),
        description="Uploaded studies until they are imported; hosts that share a database must "
        "share it.",
    )
    dask: str = Field(
        "", description="Dask scheduler for background jobs, such as `tcp://host:8786`."
    )
    model_endpoint: str = Field(
        "",
        description="Endpoint of the model that administrators can have judge from the "
        "*Machines* page.",
    )
    model_key: SecretStr = Field(
        SecretStr(""), description="Key of the endpoint for machine assessors."
    )
    model_key_file: str = Field("", description="File with that key, instead of the key itself.")
    oidc_issuer: str = Field(
        "", description="OpenID provider for signing in, such as https://id.example."
    )
    oidc_client_id: str = Field("", description="Client id of this server at the provider.")
    oidc_client_secret: SecretStr = Field(
        SecretStr(""), description="Client secret of this server at the provider."
    )
    metrics_token: SecretStr = Field(
        SecretStr(""), description="Bearer token for reading /metrics."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info",
        description="Lowest severity to log: `debug`, `info`, `warning` or `error`.",
    )

    @property
    def prefix(self) -> str:
        """The path under which people reach the server: empty, or such as `/labels`."""
        return urlsplit(self.public_url).path

    @field_validator("database_url")
    @classmethod
    def _known_database(cls, value: str) -> str:
        normal_url(value)
        return value

    @field_validator("read_database_url")
    @classmethod
    def _replica(cls, value: str, info: ValidationInfo) -> str:
        both = (value, info.data.get("database_url", value)) if value else ()
        if any(normal_url(each).get_backend_name() != "postgresql" for each in both):
            raise ValueError("use PostgreSQL for both this and TOPKAPI_DATABASE_URL")
        return value

    @field_validator("public_url")
    @classmethod
    def _whole_address(cls, value: str) -> str:
        parts = urlsplit(value.strip().rstrip("/"))
        plain = f"{parts.scheme}://{parts.netloc}{parts.path}"
        if value and (
            not re.fullmatch(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*", parts.path)
            or parts.scheme not in ("http", "https")
            or not parts.hostname
            or "@" in parts.netloc
            or parts.geturl() != plain
        ):
            raise ValueError(
                "give scheme and host, and a path if people reach the server under one, such as "
                "https://labels.example or https://tools.example/labels"
            )
        return plain if value else ""

    def key_of_model(self) -> str:
        """Return the key of the endpoint whose model judges; empty if there is none."""
        if not self.model_key_file:
            return self.model_key.get_secret_value()
        try:
            return Path(self.model_key_file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise Invalid(f"The key of the model cannot be read: {error}.") from None


def _refuse_unknown(given: Iterable[str], known: Sequence[str]) -> None:
    """Raise a `ValidationError` that names each unknown variable and the setting it resembles."""
    names = (name.lower().removeprefix("topkapi_") for name in given if _is_ours(name))
    unknown = [name for name in names if name not in (*known, *_OTHERS)]
    if unknown:
        problems = [
            InitErrorDetails(type=_no_such(name, known), loc=(name,), input=name)
            for name in unknown
        ]
        raise ValidationError.from_exception_data("Settings", problems)


def _is_ours(name: str) -> bool:
    return name.lower().startswith("topkapi_")


def _no_such(name: str, known: Sequence[str]) -> PydanticCustomError:
    near = get_close_matches(name, known, n=1)
    hint = (
        f"did you mean TOPKAPI_{near[0].upper()}?"
        if near
        else "the documentation lists the settings"
    )
    return PydanticCustomError("unknown", "there is no such setting; {hint}", {"hint": hint})
