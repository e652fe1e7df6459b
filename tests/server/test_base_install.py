"""A server without the extras: judging works, and the rest says what to install in one line."""

import json
import subprocess
import sys
from pathlib import Path

from tests.databases import transaction_on
from tests.factories import make_study, make_user, queries_of
from tests.judging import make_job
from topkapi.app.domain.enums import Role
from topkapi.app.services.accounts import tokens
from topkapi.extras import EXTRAS, MODULES, packages

_BLOCKED = [MODULES.get(extra, extra) for extra in EXTRAS] + ["matplotlib", "joblib"]
_BASE_INSTALL = f"""
import sys
sys.modules.update(dict.fromkeys({_BLOCKED}))  # importing any of them fails
"""
_JUDGE = """
import json
from topkapi.app.config import Settings
from topkapi.app.main import create_app
from tests.clients import open_client
from tests.judging import Job, judge_to_the_end

job, pages, token = json.loads(sys.argv[1])
job, robust = Job(*job), Job(*pages.pop("robust"))
with open_client(create_app(Settings(_env_file=None))) as client:
    answers = {"judged": judge_to_the_end(client, job)["state"]}
    for name, path in pages.items():
        reply = client.get(path, headers={"Authorization": f"Bearer {token}"})
        answers[name] = reply.status_code, reply.json().get("detail", "")
    answers["robust"] = judge_to_the_end(client, robust)["state"]
print(json.dumps(answers))
"""
_COMMAND = """
from topkapi.app.cli import main
main(sys.argv[1:])
"""


def in_base(
    code: str, arguments: list[str], folder: Path, url: str
) -> subprocess.CompletedProcess[str]:
    """Run code in a process that cannot import the packages of the extras."""
    command = [sys.executable, "-c", _BASE_INSTALL + code, *arguments]
    environment = {
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "TOPKAPI_DATABASE_URL": url,
        "TOPKAPI_SECRET_FILE": str(folder / "topkapi.secret"),
        "TOPKAPI_UPLOAD_DIR": str(folder / "uploads"),
    }
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_a_server_without_extras_judges_and_says_what_the_rest_needs(
    sqlite_url: str, tmp_path: Path
) -> None:
    with transaction_on(sqlite_url) as session:
        (one,) = queries_of(session, make_study(session, slug="tulips"))
        researcher = make_user(session, role=Role.RESEARCHER)
        _, token = tokens.issue_token(session, researcher, "test")
        job = make_job(session, query=one)
        robust = make_job(session, sorter="robust", budget=9)
    pages = {
        "robust": (robust.assignment_id, robust.token),
        "progress": "/api/v1/studies/tulips/progress",
        "report": "/api/v1/studies/tulips/report",
    }
    given = json.dumps([(job.assignment_id, job.token), pages, token])
    done = in_base(_JUDGE, [given], tmp_path, sqlite_url)
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    assert answers["judged"] == answers["robust"] == "finished"
    assert answers["progress"] == [200, ""]
    needed = f"is not installed on this server: pip install {packages('analysis')}. "
    assert answers["report"] == [501, f"SciPy {needed}Ask the administrator of the server."]


def test_commands_without_extras_say_in_one_line_what_to_install(
    sqlite_url: str, tmp_path: Path
) -> None:
    arguments = ["rank", "compare", str(_letor(tmp_path)), "--models", "ranksvm"]
    done = in_base(_COMMAND, arguments, tmp_path, sqlite_url)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = [each for each in done.stderr.splitlines() if "not installed" in each]
    assert packages("analysis") in line
    assert "Traceback" not in done.stderr
    done = in_base(_COMMAND, ["db", "check"], tmp_path, "postgresql://localhost/topkapi")
    assert done.stderr.startswith("topkapi: The driver of PostgreSQL is not installed: ")


def _letor(folder: Path) -> Path:
    path = folder / "letor.txt"
    lines = [f"{d % 3} qid:{q} 1:{d} 2:{q} # d{d}" for q in range(6) for d in range(4)]
    path.write_text("\n".join(lines) + "\n")
    return path
