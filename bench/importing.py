"""Time and memory of importing a generated study of 50 queries with 1,000 documents of 4 kB each.

    python -m bench.importing [--queries 50] [--documents 1000] [--html] [--database URL]

Without --database, a new SQLite file in a temporary folder is used. The limits are 30 seconds and
500 MB on two cores; the exit code is 1 if they are exceeded.
"""

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from topkapi.app.db import migrations
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.services.importing import import_study, open_source

SECONDS, MEGABYTES = 30, 500
SYLLABLES = ("ta", "re", "mi", "lo", "sun", "ka", "ver", "ti", "no", "pel")
WORDS = [one + two + three for one in SYLLABLES for two in SYLLABLES for three in SYLLABLES]


def words(draw: random.Random, size: int) -> str:
    return " ".join(draw.choices(WORDS, k=size // 4))[:size]


def page(draw: random.Random, size: int) -> str:
    paragraphs = [
        f"<p class='x'>{words(draw, 180)} <b>{words(draw, 12)}</b></p>" for _ in range(18)
    ]
    body = "".join(paragraphs)[: size - 60]
    return f"<!doctype html><title>T</title><h1>{words(draw, 20)}</h1>{body}"


def generate(folder: Path, queries: int, documents: int, *, html: bool) -> None:
    draw = random.Random(1)
    (folder / "study.toml").write_text('name = "Benchmark"\nk = 10\n')
    kind = "html" if html else "text"
    with (
        (folder / "queries.jsonl").open("w") as asked,
        (folder / "documents.jsonl").open("w") as pages,
        (folder / "candidates.jsonl").open("w") as offered,
    ):
        for query in range(queries):
            asked.write(json.dumps({"id": f"q{query}", "text": words(draw, 40)}) + "\n")
            for number in range(documents):
                name = f"q{query}-d{number}"
                content = page(draw, 4096) if html else words(draw, 4096)
                record = {"id": name, "title": words(draw, 30), kind: content}
                pages.write(json.dumps(record) + "\n")
                line = {"query": f"q{query}", "document": name, "grade": draw.randrange(5)}
                offered.write(json.dumps(line) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--html", action="store_true")
    parser.add_argument("--database")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        generate(folder, given.queries, given.documents, html=given.html)
        url = given.database or f"sqlite:///{folder / 'bench.db'}"
        migrations.upgrade(url)
        engine = make_engine(url)
        begin, begin_cpu = time.perf_counter(), time.process_time()
        with open_source(folder) as source, make_sessions(engine).write.begin() as session:
            report = import_study(session, source)
        seconds, cpu = time.perf_counter() - begin, time.process_time() - begin_cpu
        engine.dispose()
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    result = {
        "database": engine.dialect.name,
        "documents": report.documents,
        "bytes": report.bytes,
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 2),
        "peak_megabytes": round(megabytes, 1),
    }
    print(json.dumps(result))
    return 0 if seconds < SECONDS and megabytes < MEGABYTES else 1


if __name__ == "__main__":
    sys.exit(main())
