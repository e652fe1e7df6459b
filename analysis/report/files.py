"""Files of a report: JSON, CSV tables, one HTML page, plots, consensus lists."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from topkapi.analysis.aggregation import consensus_qrels
from topkapi.analysis.data.exports.cells import csv_text
from topkapi.analysis.report.page import plots as drawn
from topkapi.analysis.report.page import render_page
from topkapi.analysis.report.record import Report, ToolReport
from topkapi.analysis.report.serialise import Record, flat, record_of, to_json
from topkapi.analysis.report.subjects.comparison import Comparison, NoComparison
from topkapi.analysis.report.subjects.effort import Effort


def write_report(report: Report, folder: str | Path, *, plots: bool = True) -> list[Path]:
    """Write every file of the report into a folder.

    Parameters
    ----------
    report
        What to write.
    folder
        Folder, created if needed.
    plots
        Whether to write the plots of the page as SVG files.

    Returns
    -------
    list[Path]
        The files written.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return write_texts(report_texts(report) | (drawn(report) if plots else {}), folder)


def write_texts(texts: Mapping[str, str], folder: Path) -> list[Path]:
    """Write text files by name into a folder; return their paths."""
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    return [folder / name for name in texts]


def report_texts(report: Report) -> dict[str, str]:
    """Return the text files of a report by name: all but the plots."""
    texts = {"report.json": to_json(report), "report.html": render_page(report)}
    texts |= {f"{name}.csv": to_csv(rows) for name, rows in csv_tables(report).items()}
    for tool in report.tools:
        lists = tool.consensus.queries
        lines = (json.dumps(record_of(each), ensure_ascii=False) for each in lists)
        texts[f"consensus-{tool.tool}.jsonl"] = _joined(lines)
        texts[f"consensus-{tool.tool}.qrels"] = _joined(consensus_qrels(lists))
    return texts


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def csv_tables(report: Report) -> dict[str, list[Record]]:
    """Return flat tables by name: agreement, matrices, pairs, assessors, queries, ..."""
    confidence = report.confidence
    tables = {} if confidence is None else {"confidence": list(map(record_of, confidence.lists))}
    for found in () if report.machines is None else report.machines.tools:
        for name, rows in (("machine-effects", found.effects), ("machine-queries", found.queries)):
            many = [flat({"tool": found.tool} | record_of(each)) for each in rows]
            tables[name] = [*tables.get(name, []), *many]
    tools = report.tools
    return tables | {
        "agreement": [_row(tool, tool.agreement) for tool in tools],
        "matrices": [cell for tool in tools for cell in _cells(tool)],
        "pairs": [_row(tool, pair) for tool in tools for pair in tool.pairs],
        "assessors": [
            flat({"tool": tool.tool} | record_of(each)) for tool in tools for each in tool.people
        ],
        "queries": [_row(tool, query) for tool in tools for query in tool.queries_by_disagreement],
        "effort": [_row(tool, tool.effort) for tool in tools],
        "comparison": _compared(report.comparison),
    }


def _row(tool: ToolReport, part: object) -> Record:
    """Flatten a part of a tool without its matrices and lists of records."""
    dropped = {"matrix", "matrix_both_orders", "counts", "shares", "course"}
    record = record_of(part)
    if isinstance(part, Effort):
        dropped.add("assessors")
    kept = {key: value for key, value in record.items() if key not in dropped}
    return flat({"tool": tool.tool} | kept)


def _compared(found: Comparison | NoComparison) -> list[Record]:
    if isinstance(found, NoComparison):
        return []
    return [
        flat({"compared": "all_pairs"} | record_of(found.all_pairs)),
        flat({"compared": "without_ties"} | record_of(found.without_ties)),
    ]


def _cells(tool: ToolReport) -> Iterator[Record]:
    codes = ("A>B", "A~B", "A<B")
    matrix = tool.agreement.matrix
    for i, row in enumerate(codes):
        for j, column in enumerate(codes):
            yield {
                "tool": tool.tool,
                "first": row,
                "second": column,
                "count": matrix.counts[i][j],
                "share_of_row": matrix.shares[i][j],
            }


def to_csv(rows: list[Record]) -> str:
    """Format rows as CSV.

    The columns are all that occur, and no cell is a formula.
    """
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return csv_text([columns, *([row.get(column) for column in columns] for row in rows)])
