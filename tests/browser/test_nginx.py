"""Behind nginx with TLS under a path: signing in (also by OpenID), judging, uploads, jobs, API."""

import shutil
import ssl
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.assigned_work import Site
from tests.browser.test_prefix import PREFIX, walk_under_path
from tests.clients import connect
from tests.factories import make_user, token_headers
from tests.live import LiveServer, free_port, serving, wait_until_listening
from tests.openid_provider import CLIENT, SECRET, OpenIdProvider, openid_provider
from tests.processes import running
from tests.waiting import until
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.domain.enums import Role

pytestmark = pytest.mark.browser
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/opt/homebrew/bin")
CONFIGURATION = """
daemon off;
pid nginx.pid;
error_log error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {folder}/certificate.pem;
    ssl_certificate_key {folder}/key.pem;
    location {prefix}/ {{
      proxy_pass http://127.0.0.1:{target};
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme;
      client_max_body_size 0;
    }}
  }}
}}
"""


@pytest.fixture
def provider() -> Iterator[OpenIdProvider]:
    with openid_provider() as running:
        yield running


@pytest.fixture
def behind_nginx(sqlite_url: str, tmp_path: Path, provider: OpenIdProvider) -> Iterator[Site]:
    """Run nginx in front of a server whose cookies need TLS."""
    if NGINX is None or shutil.which("openssl") is None:
        pytest.skip("nginx or openssl is not installed: apt-get install nginx-light openssl")
    port, target, folder = free_port(), free_port(), tmp_path / "nginx"
    folder.mkdir()
    make_certificate(folder)
    text = CONFIGURATION.format(port=port, target=target, folder=folder, prefix=PREFIX)
    (folder / "nginx.conf").write_text(text)
    url = f"https://localhost:{port}{PREFIX}"
    engine = make_engine(sqlite_url)
    with (
        running([NGINX, "-p", str(folder), "-c", "nginx.conf"]),
        serving(
            sqlite_url,
            tmp_path,
            port=target,
            work=True,
            public_url=url,
            secure_cookies="true",
            oidc_issuer=provider.issuer,
            oidc_client_id=CLIENT,
            oidc_client_secret=SECRET,
        ) as live,
    ):
        behind = LiveServer(url, live.process, live.log, sqlite_url, live.secret_file)
        wait_until_listening(url, live.process, folder / "error.log")
        yield Site(behind, make_sessions(engine))
    engine.dispose()


def make_certificate(folder: Path) -> None:
    """Write a key and a certificate for localhost."""
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    names = "-addext subjectAltName=DNS:localhost -keyout key.pem -out certificate.pem"
    done = subprocess.run([*command.split(), *names.split()], cwd=folder, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_everything_works_behind_nginx_with_tls_under_a_path(
    behind_nginx: Site,
    new_context: Callable[..., BrowserContext],
    provider: OpenIdProvider,
    tmp_path: Path,
) -> None:
    context = new_context(ignore_https_errors=True)
    assigned = walk_under_path(behind_nginx, context, tmp_path)
    context.clear_cookies()
    provider.email = assigned.user.email
    sign_in_elsewhere(behind_nginx, context, provider)
    cookies = context.cookies()
    assert cookies
    assert all(each.get("secure") for each in cookies)
    with behind_nginx.sessions.write.begin() as session:
        headers = token_headers(session, make_user(session, role=Role.ADMIN))
    trusted = ssl.create_default_context(cafile=str(tmp_path / "nginx" / "certificate.pem"))
    address = f"{behind_nginx.server.url}/api/v1"
    with connect(base_url=address, headers=headers, verify=trusted) as client:
        found = client.get("/studies").json()
        assert "tulips" in str(found)
        jobs = f"/studies/{assigned.study.slug}/jobs"
        job = client.post(jobs, json={"kind": "labels"})
        assert job.status_code == 201, job.text
        path = f"{jobs}/{job.json()['id']}"
        ended = ("done", "failed")
        until(lambda: client.get(path).json()["state"] in ended, "the end of the job")
        assert client.get(path).json()["state"] == "done"


def sign_in_elsewhere(site: Site, context: BrowserContext, provider: OpenIdProvider) -> None:
    """Sign in at the provider, first as somebody without an account here, then as the assessor."""
    known, provider.email = provider.email, "stranger@example.org"
    page = context.new_page()
    page.goto(f"{site.server.url}/keys")
    name = f"Sign in at {provider.issuer.partition('://')[2]}"
    page.get_by_role("link", name=name).click()
    expect(page.get_by_role("alert")).to_contain_text("has no account here")
    expect(page.get_by_text("Enter the password again.")).to_be_hidden()
    provider.email = known
    page.get_by_role("link", name=name).click()
    page.wait_for_url(f"{site.server.url}/keys")
    expect(page.get_by_role("heading", name="Keys")).to_be_visible()
    assert {str(each.get("path")) for each in context.cookies()} <= {PREFIX, f"{PREFIX}/"}
    page.close()
