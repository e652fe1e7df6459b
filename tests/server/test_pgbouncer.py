"""PgBouncer in transaction mode: a client gets another connection with every transaction."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from sqlalchemy import make_url, select, text

from tests.clients import open_clients
from tests.databases import PostgresqlTemplate, transaction_on
from tests.factories import make_user
from tests.judging import judge_to_the_end, make_job
from tests.live import free_port
from tests.processes import running
from topkapi.app.config import Settings
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.db.models import User
from topkapi.app.main import create_app

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
CONFIG = """
[databases]
* = host={host} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 12
"""


@pytest.fixture
def bouncer_url(postgresql_template: PostgresqlTemplate) -> Iterator[str]:
    """Provide a fresh database behind PgBouncer with twelve connections to the server."""
    if PROGRAM is None:
        pytest.skip("pgbouncer is not installed")
    with postgresql_template.copy() as url, tempfile.TemporaryDirectory() as folder:
        direct, port = make_url(url), free_port()
        host = str(direct.query.get("host", direct.host or "localhost"))
        config = Path(folder) / "pgbouncer.ini"
        config.write_text(CONFIG.format(host=host, port=port))
        os.chmod(folder, 0o755)
        user = ["-u", _owner(host)] if os.geteuid() == 0 else []  # it refuses to run as root
        with running([PROGRAM, "-q", *user, str(config)]) as process:
            address = f"postgresql://postgres@127.0.0.1:{port}/{quote(str(direct.database))}"
            _wait_until_it_answers(address, process)
            yield f"{address}?prepared_statements=off"


def _owner(host: str) -> str:
    """Return the user who may enter the folder of the server's socket."""
    return Path(host).owner() if host.startswith("/") else "nobody"


def _wait_until_it_answers(address: str, process: "subprocess.Popen[bytes]") -> None:
    while process.poll() is None:
        try:
            with closing(psycopg.connect(address)):
                return
        except psycopg.OperationalError as error:
            if "refused" not in str(error):
                raise
    raise RuntimeError("pgbouncer did not start")


@pytest.mark.server
def test_people_judge_at_the_same_time(bouncer_url: str, tmp_path: Path) -> None:
    settings = Settings(
        database_url=bouncer_url,
        secret_file=tmp_path / "secret",
        upload_dir=tmp_path,
        _env_file=None,
    )
    with transaction_on(bouncer_url) as session:
        jobs = [make_job(session) for _ in range(4)]
    with open_clients(create_app(settings), 4) as clients, ThreadPoolExecutor(4) as pool:
        states = list(pool.map(judge_to_the_end, clients, jobs))
    assert [state["state"] for state in states] == ["finished"] * 4


@pytest.mark.server
def test_reading_stays_read_only_and_statements_may_repeat(bouncer_url: str) -> None:
    engine = make_engine(bouncer_url)
    sessions = make_sessions(engine)
    with sessions.write.begin() as session:
        make_user(session, email="ansa@lehto.example")
    for _ in range(20):  # psycopg would prepare the statement at the fifth
        with sessions.read() as one, sessions.read() as two, sessions.write() as three:
            for session in (one, two, three):
                assert session.scalars(select(User.email)).all() == ["ansa@lehto.example"]
            modes = [each.scalar(text("SHOW transaction_read_only")) for each in (one, two, three)]
            assert modes == ["on", "on", "off"]
    engine.dispose()
