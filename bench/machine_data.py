"""Real people and machines: judges of TREC DL23, experts and models of SummEval.

The files are in `../shared/data/people-and-machines`.
"""

import csv
import gzip
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np

from topkapi.analysis.agreement import Scores
from topkapi.analysis.report.subjects.systems import run_values
from topkapi.analysis.typing import FloatArray

DATA = Path(__file__).parents[2] / "shared/data/people-and-machines"


def read(name: str) -> list[dict[str, str]]:
    """Read one of the files of people and machines."""
    with gzip.open(DATA / f"{name}.tsv.gz", "rt", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@cache
def judged_ndcg() -> tuple[FloatArray, FloatArray]:
    """Return NDCG@10 of TREC DL23 by NIST (systems, queries) and by judges (judges, ...).

    Each judge is also a system: it ranks the passages by its grades.
    """
    grades: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in read("dl23-grades"):
        grades[row["assessor"]][row["query"]][row["document"]] = min(float(row["grade"]), 3.0)
    judges = sorted(grades.keys() - {"nist"})
    order = sorted(grades["nist"])

    def ndcg(judge: str) -> FloatArray:
        truth = {query: grades[judge][query] for query in order}
        runs = [run_values(truth, grades[system], ["ndcg@10"], 10).values for system in judges]
        return np.stack([each[:, 0] for each in runs if each is not None])

    return ndcg("nist"), np.stack([ndcg(judge) for judge in judges])


def summeval() -> tuple[list[str], list[Scores]]:
    """Return the assessors of SummEval, experts first, and their grades by text and criterion."""
    rows = read("summeval-grades")
    names = sorted({row["assessor"] for row in rows}, key=lambda name: (name[0] != "e", name))
    tables: dict[tuple[str, str], dict[str, dict[str, float]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for row in rows:
        tables[row["query"], row["criterion"]][row["document"]][row["assessor"]] = float(
            row["grade"]
        )
    queries = sorted({query for query, _ in tables})
    found = []
    for (query, _), documents in sorted(tables.items()):
        values = [
            [documents[each].get(name, np.nan) for each in sorted(documents)] for name in names
        ]
        found.append(Scores(queries.index(query), np.arange(len(names)), np.array(values)))
    return names, found
