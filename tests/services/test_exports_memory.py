"""Exports are streamed: ten times the judgments need no more memory."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

from sqlalchemy import insert
from sqlalchemy.orm import Session

from tests.exporting import START, rows_of, steps
from tests.factories import make_assignment, make_study, make_user, queries_of
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, JudgmentRow, User
from topkapi.app.domain.enums import Role
from topkapi.app.domain.sessions import SESSIONS

SMALL, LARGE = (2, 5), (10, 10)  # queries, and assessors of each
DOCUMENTS, K = 30, 10

# A new process counts the memory of the one that started it, except in VmHWM.
EXPORT_AND_REPORT = """
import resource, sys
from pathlib import Path
from topkapi.app.cli import main

try:
    main(sys.argv[1:])
finally:
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text().splitlines()
        most = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024
    else:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(most, file=sys.stderr)
"""


def make_large_study(session: Session, queries: int, assessors: int) -> int:
    """Create a study that all assessors finished with equal answers; return the log size."""
    study = make_study(session, slug=f"of-{queries}", queries=queries, documents=DOCUMENTS)
    length = 0
    people = [
        {"email": f"p{number:03}@{study.slug}.example", "name": "P", "role": Role.ASSESSOR}
        for number in range(assessors)
    ]
    users = session.scalars(insert(User).returning(User.id), people).all()
    for query in queries_of(session, study):
        first = make_assignment(session, user=make_user(session), query=query, k=K)
        rows = rows_of(first, list(steps(SESSIONS[first.tool].open(first.plan))))
        end = START + timedelta(hours=1)
        works = [
            {
                "user_id": user,
                "query_id": query.id,
                "tool": first.tool,
                "plan": first.plan,
                "finished_at": end,
                "last_entry_at": end,
            }
            for user in users
        ]
        numbers = session.scalars(insert(Assignment).returning(Assignment.id), works).all()
        for number in numbers:
            session.execute(insert(JudgmentRow), [{**row, "assignment_id": number} for row in rows])
            length += len(rows)
    return length


def make_both(sessions: Sessions) -> None:
    """Create two studies, one with ten times the judgments of the other."""
    with sessions.write.begin() as session:
        few, many = (make_large_study(session, *size) for size in (SMALL, LARGE))
    assert few > 750
    assert many > 9 * few


def test_the_process_needs_no_more_for_ten_times_the_judgments(
    sessions: Sessions, database_url: str, tmp_path: Path
) -> None:
    """Measure the process: database drivers keep rows that tracemalloc does not count."""
    make_both(sessions)
    environment = {**os.environ, "TOPKAPI_DATABASE_URL": database_url}
    most, sizes = [], []
    for slug in ("of-2", "of-10"):
        out = tmp_path / f"{slug}.jsonl"
        arguments = ["export", slug, "judgments.jsonl", "--out", str(out)]
        ended = subprocess.run(
            [sys.executable, "-c", EXPORT_AND_REPORT, *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        most.append(int(ended.stderr))
        sizes.append(out.stat().st_size)
    assert sizes[1] > 9 * sizes[0]
    assert sizes[1] > 3_000_000
    assert most[1] < most[0] + 4_000_000
