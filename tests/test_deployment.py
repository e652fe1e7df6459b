"""The container setup: what compose accepts, and what it must contain."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return loaded


def compose_command() -> list[str] | None:
    """Return `docker compose` or the older `docker-compose`, whichever is installed."""
    if shutil.which("docker-compose"):
        return ["docker-compose"]
    if shutil.which("docker"):
        probe = subprocess.run(["docker", "compose", "version"], capture_output=True, check=False)
        if probe.returncode == 0:
            return ["docker", "compose"]
    return None


def test_compose_accepts_the_file() -> None:
    command = compose_command()
    if command is None:
        pytest.skip("neither `docker compose` nor `docker-compose` is on this machine")
    done = subprocess.run(
        [*command, "--profile", "tls", "config", "--quiet"],
        cwd=ROOT,
        env={**os.environ, "POSTGRES_PASSWORD": "a password"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_migrations_run_before_the_app_and_after_the_database(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert services["migrate"]["command"] == ["topkapi", "db", "upgrade"]
    assert services["migrate"]["depends_on"]["db"]["condition"] == "service_healthy"
    waits = services["app"]["depends_on"]
    assert waits["migrate"]["condition"] == "service_completed_successfully"


def test_the_database_keeps_its_data_and_is_not_open_to_the_world(compose: dict[str, Any]) -> None:
    database = compose["services"]["db"]
    assert any(volume.startswith("database:") for volume in database["volumes"])
    assert "ports" not in database
    assert "healthcheck" in database
    assert "healthcheck" in compose["services"]["app"]


def test_no_password_is_given_and_the_server_can_do_little(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert services["db"]["environment"]["POSTGRES_PASSWORD"].startswith("${POSTGRES_PASSWORD:?")
    for name in ("app", "migrate"):
        service = services[name]
        assert ":-topkapi" not in service["environment"]["TOPKAPI_DATABASE_URL"]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["mem_limit"]
        written = {volume.partition(":")[2] for volume in service["volumes"]}
        assert written == {"/var/lib/topkapi", "/tmp"}
    assert services["app"]["ports"] == ["127.0.0.1:${TOPKAPI_PORT:-8000}:8000"]


def test_the_proxy_with_tls_is_the_one_that_is_trusted(compose: dict[str, Any]) -> None:
    services = compose["services"]
    address = services["proxy"]["networks"]["default"]["ipv4_address"]
    assert services["proxy"]["profiles"] == ["tls"]
    trusted = services["app"]["environment"]["TOPKAPI_TRUSTED_PROXIES"]
    assert trusted == f"${{TOPKAPI_TRUSTED_PROXIES:-{address}}}"


def test_the_settings_of_the_containers_exist(compose: dict[str, Any]) -> None:
    from topkapi.app.config import Settings

    names = {f"TOPKAPI_{name.upper()}" for name in Settings.model_fields}
    for service in compose["services"].values():
        inside = service.get("environment", {})
        if "env_file" in service:  # .env has the port of this machine, not that of the container
            assert (inside["TOPKAPI_HOST"], inside["TOPKAPI_PORT"]) == ("0.0.0.0", 8000)
        used = {name for name in service.get("environment", {}) if name.startswith("TOPKAPI_")}
        assert used <= names
