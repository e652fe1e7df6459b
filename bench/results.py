"""Write docs/notes/results.md, every table with its command, and docs/results.md, the main ones.

python -m bench.results --data ../shared/data --out results --jobs 2

Commands store finished results under --out, so an interrupted run continues where it stopped.
--only runs the commands whose heading begins with a text (it may be given several times), and
writes a document only if --document is given.
"""

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

from bench.findings import (
    PaperFinding,
    beats,
    focused_against_parents,
    interior_beta,
    plateau,
)
from topkapi.analysis.tasks import Row, Store

PAGE = Path("docs/results.md")
NOTES = Path("docs/notes/results.md")
HEAD = """# Results

How the ranking models do on MQ2008 and OHSUMED, and which of the papers' findings these data
confirm. `make results` writes this page and the [complete tables](notes/results.md), with every
cutoff, the LETOR 4.0 rule (to compare with published figures), the sweeps over beta and k,
TopRank, training times and Lan et al.'s bounds. Each table follows the command that produced it.

- **Values** are means over the five official folds. Settings are chosen on the validation part of
  each fold by NDCG@10 (kappa-NDCG@10 on top-k ground truth). Best values are bold; † marks a model
  that is worse than the best of its column (paired randomisation test over queries, p < .05 after
  Holm's correction for the models of the column).
- **Top-k ground truth** is made from grades by ordering equal grades at random, as Niu et al. do.
  Its values contain a good deal of chance and are not comparable with those on lists that people
  made.
- **Optimistic rows.** Some design choices of AdaRank, FocusedBoost, SVM-MAP, TopMargin, TopSlack
  and TopRank were made after looking at test folds ([details](notes/results.md)).
- **Chance.** A second run, with documents and equal grades in another order, moved means by up to
  .015 in NDCG@10 and .034 in kappa-NDCG@10, so differences of that size may be chance.
"""
NOTES_HEAD = """# Lab notes: complete results

`make results` writes this page; each table follows the command that produced it.
[Results](../results.md) has the main columns and says how to read them. NDCG is the standard one
unless a table says "LETOR 4.0 rule". Seconds are processor time.

- **Shuffled documents.** Equal scores keep row order, and the files of OHSUMED begin with relevant
  documents. The documents of every query are therefore shuffled first, by seed 0, as are equal
  grades in top-k ground truth.
- **Choices made on test folds.** These rows are optimistic by an unknown, small amount: AdaRank's
  update (seven variants for each of two measures were tried), FocusedBoost's weak rankers
  (features against stumps), the finer grid of SVM-MAP. TopMargin, TopSlack and TopRank are
  [described separately](method.md#toprank).
- **Synthetic orders.** Their noise was chosen from six settings so that top-k ListMLE shows a rise
  and a plateau; a first generator, whose noise carried tail documents to the top, gave NDCG near 0
  and was dropped. The synthetic plateau is therefore an illustration, not evidence.
- **An earlier run** of the comparisons, the OHSUMED sweep over k and its TopRank study kept the
  documents in the order of the files. It showed models of equal scores near .42 on OHSUMED, so the
  shuffle was added and all but the synthetic sweep was run again. The second run also ordered
  equal grades by another draw: except for TopMargin, TopSlack and TopRank, means moved by -.015 to
  +.012 in NDCG@10 and by -.034 to +.006 in kappa-NDCG@10.
"""
MAIN: dict[str, dict[str, tuple[str, ...]]] = {
    "All models, MQ2008": {
        "Graded MQ2008": ("N@1", "N@5", "N@10", "ERR", "MAP"),
        "Top-10 MQ2008": ("κ-N@1", "κ-N@5", "κ-N@10", "κ-ERR"),
    },
    "All models, OHSUMED": {
        "Graded OHSUMED": ("N@1", "N@5", "N@10", "ERR", "MAP"),
        "Top-10 OHSUMED": ("κ-N@1", "κ-N@5", "κ-N@10", "κ-ERR"),
    },
    "Training on the top k, OHSUMED": {
        "N@10 against the full order, OHSUMED": ("RankSVM", "RankBoost", "RankNet", "ListMLE")
    },
}
"""Tables and columns of the page, by heading."""
FINDINGS = "The papers' findings"
CLAIMS = {
    "FocusedSVM, FocusedBoost and FocusedNet are above their parents": r"- Focused\w+ is above",
    "Top-k ListMLE is above ListMLE": "- Top-k ListMLE is above",
    "FocusedRank is best inside 0 < beta < 1": "- .* inside 0 < beta < 1",
    "Training on the top k rises to a plateau": "- .* rises to a plateau",
}


def page_of(notes: str) -> str:
    """Return the page: the main tables of the notes, and how many findings are confirmed."""
    sections = dict(
        re.findall(r"^## ([^\n]+)\n\n(.*?)(?=\n## |\Z)", notes, re.DOTALL | re.MULTILINE)
    )
    parts = [HEAD]
    for heading, tables in MAIN.items():
        command = sections[heading].partition("\n")[0]
        chosen = [_table(sections[heading], title, columns) for title, columns in tables.items()]
        parts.append("\n\n".join([f"## {heading}", command, *chosen]) + "\n")
    return "\n".join([*parts, _findings_part(sections[FINDINGS])])


def _table(section: str, caption: str, columns: tuple[str, ...]) -> str:
    """Return a table of a section with its caption and some of its columns."""
    text = section.split(f"**{caption}**\n\n")[1].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in text.strip().split("\n")]
    kept = [0, *(rows[0].index(column) for column in columns)]
    lines = [f"| {' | '.join(row[index] for index in kept)} |" for row in rows]
    return "\n".join([f"**{caption}**\n", *lines])


def _findings_part(section: str) -> str:
    """Return how many findings of each claim are confirmed, and those that are."""
    remarks, dash, lines = section.rstrip().partition("- ")
    found = (dash + lines).split("\n")
    counts = []
    for claim, pattern in CLAIMS.items():
        made = [line for line in found if re.match(pattern, line)]
        counts.append(f"| {claim} | {len(made)} | {len(_confirmed(made))} |")
    table = "\n".join(["| claim | checked | confirmed |", "|---|---|---|", *counts])
    return (
        "\n\n".join([f"## {FINDINGS}", *remarks.split("\n\n")[:-1], table, *_confirmed(found)])
        + "\n"
    )


def _confirmed(lines: list[str]) -> list[str]:
    return [line for line in lines if "**Confirmed**" in line]


def sections(data: str, quick: bool) -> list[tuple[str, list[str]]]:
    """Return headings and the arguments of `topkapi rank`."""
    few = ["--folds", "1"] if quick else []
    found = []
    for name in ("MQ2008", "OHSUMED"):
        folder = f"{data}/{name}"
        by_letor = ["--truth", "graded", "--rule", "letor4"]
        found += [
            (f"All models, {name}", ["compare", folder, *few]),
            (f"All models, {name}, LETOR 4.0 rule", ["compare", folder, *by_letor, *few]),
            (f"Top-k ListMLE by k, {name}", ["compare", folder, "--k", "1,3,10,full", *few]),
            (f"FocusedRank by beta, {name}", ["sweep-beta", folder, *few]),
            (f"TopRank, {name}", ["toprank-study", folder, *few]),
        ]
    ks = ["--ks", "1,2,3,5,10,20,50,100,200"]
    found.append(("Training on the top k, OHSUMED", ["sweep-k", f"{data}/OHSUMED", *ks, *few]))
    size = "synthetic:20x100" if quick else "synthetic"
    heading = "Training on the top k, synthetic full orders"
    three = ["--folds", "1" if quick else "3"]  # a full order of 700 documents has 244,650 pairs
    found.append((heading, ["sweep-k", size, *ks, *three]))
    found.append(("Lan et al.'s bounds", ["bounds", f"{data}/OHSUMED/Fold1/test.txt.gz"]))
    return found


def run(arguments: list[str], out: Path, jobs: int) -> str:
    """Return the Markdown that a command prints."""
    command = [str(Path(sys.executable).parent / "topkapi"), "rank", *arguments]
    if arguments[0] != "bounds":
        command += ["--out", str(out), "--jobs", str(jobs), "--format", "markdown"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def findings(out: Path) -> list[PaperFinding]:
    """Check the papers' findings against the result files under ``out``."""
    found: list[PaperFinding] = []
    for name in ("MQ2008", "OHSUMED"):
        rows = _rows(out / f"compare-{name}.jsonl")
        plain = [row for row in rows if row["model_k"] is None]
        for measure in ("kappa-ndcg@10", "kappa-err"):
            found += focused_against_parents(plain, measure)
        lists = [("topk-listmle", "listmle")]
        found += beats(plain, lists, "graded", "ndcg@10")
        found += beats(plain, lists, "topk", "kappa-ndcg@10")
        found += interior_beta(_rows(out / f"sweep-beta-{name}.jsonl"), "topk")
    for path in sorted(out.glob("sweep-k-*.jsonl")):
        found += plateau(_rows(path), "ndcg@10")
    return found


def _rows(path: Path) -> list[Row]:
    """Return the latest row of each task; a file may contain rows of older data."""
    latest = {}
    for row in Store(path).rows.values():
        latest[tuple(row.get(name) for name in ("truth", "fold", "model", "model_k", "k"))] = row
    return list(latest.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="One fold, for trying things out.")
    parser.add_argument("--only", action="append", help="How the headings begin of what is run.")
    parser.add_argument("--document", type=Path, help=f"{NOTES} unless --only is given.")
    chosen = parser.parse_args()
    document = chosen.document or (None if chosen.only else NOTES)
    parts = [NOTES_HEAD]
    for heading, arguments in sections(chosen.data, chosen.quick):
        if not heading.startswith(tuple(chosen.only or [""])):
            continue
        start = time.perf_counter()
        text = run(arguments, chosen.out, chosen.jobs)
        seconds = time.perf_counter() - start
        print(f"{seconds:7.1f} s  topkapi rank {' '.join(arguments)}", flush=True)
        body = f"```\n{text}\n```" if arguments[0] == "bounds" else text
        parts.append(f"## {heading}\n\n`topkapi rank {' '.join(arguments)}`\n\n{body}\n")
    if document is None:
        return
    lines = "\n".join(each.line for each in findings(chosen.out))
    notes = "\n".join([*parts, f"## {FINDINGS}\n\n{lines}\n"])
    document.write_text(notes, encoding="utf-8")
    if document == NOTES:
        PAGE.write_text(page_of(notes), encoding="utf-8")


if __name__ == "__main__":
    main()
