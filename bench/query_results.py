"""Server time of the page of one query: 50 pages judged by 10 assessors.

    python -m bench.query_results

A whole request, answered in this process, on SQLite and PostgreSQL. The limit is 200 ms for the
median; the first request, which loads the numerical libraries, is printed beside it. The exit code
is 1 if the limit is exceeded.
"""

import json
import sys
import tempfile
from functools import partial
from pathlib import Path

from bench.dashboard import timed
from bench.judged_study import SLUG, make_judged_study
from bench.judging import databases
from tests.clients import open_client
from tests.factories import make_user, sign_in
from topkapi.app.config import Settings
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.domain.enums import Role
from topkapi.app.main import create_app

LIMIT_MS = 200
PAGES, PEOPLE, QUERIES = 50, 20, 4  # rotation: half of the people judge a query with each tool


def measure(url: str, folder: Path) -> dict[str, float]:
    engine = make_engine(url)
    make_judged_study(engine, assessors=PEOPLE, queries=QUERIES, documents=PAGES, rounds=10)
    with make_sessions(engine).write.begin() as session:
        reader = make_user(session, role=Role.RESEARCHER)
    settings = Settings(
        database_url=url, secret_file=folder / "secret", upload_dir=folder / "up", _env_file=None
    )
    app = create_app(settings)
    with open_client(app) as client:
        sign_in(app, client, reader)
        address = f"/studies/{SLUG}/queries/1"
        page = client.get(address)
        page.raise_for_status()
        assert page.text.count("the questions in order") == 10, "10 assessors should have judged it"
        found = timed(partial(client.get, address))
    engine.dispose()
    return found


def main() -> int:
    with databases() as urls, tempfile.TemporaryDirectory() as folder:
        found = {name: measure(url, Path(folder)) for name, url in urls.items()}
    print(json.dumps(found, indent=1))
    return int(any(each["median_ms"] > LIMIT_MS for each in found.values()))


if __name__ == "__main__":
    sys.exit(main())
