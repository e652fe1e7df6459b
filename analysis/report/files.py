"""Write a report: JSON, CSV tables, one HTML page, plots, consensus lists."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from analysis.aggregation import consensus_qrels
from analysis.data.exports.cells import csv_text
from analysis.report.figures import Json
from analysis.report.page import render_page
from analysis.report.plots import PLOTS, save_plot


def to_json(report: Json) -> str:
    """The report as JSON; a NaN in it would be a fault and is refused."""
    return json.dumps(report, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def write_report(report: Json, folder: Path, *, plots: bool = True) -> list[Path]:
    """Write every file of the report into ``folder``, made if needed; return what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in report_texts(report).items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
        written.append(folder / name)
    for name in PLOTS if plots else ():
        written += save_plot(report, name, folder)
    return written


def report_texts(report: Json) -> dict[str, str]:
    """The files of a report that are text, by name: all but the plots."""
    texts = {"report.json": to_json(report), "report.html": render_page(report)}
    texts |= {f"{name}.csv": to_csv(rows) for name, rows in csv_tables(report).items()}
    for tool in report["tools"]:
        records = tool["consensus"]["queries"]
        lines = (json.dumps(record, ensure_ascii=False) for record in records)
        texts[f"consensus-{tool['tool']}.jsonl"] = _joined(lines)
        texts[f"consensus-{tool['tool']}.qrels"] = _joined(consensus_qrels(records))
    return texts


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def csv_tables(report: Json) -> dict[str, list[Json]]:
    """Flat tables by name: agreement, matrices, pairs, assessors, queries, effort, comparison."""
    tools = report["tools"]
    sure = {"confidence": report["confidence"]["lists"]} if "confidence" in report else {}
    return sure | {
        "agreement": [_flat({"tool": t["tool"]} | _figures(t["agreement"])) for t in tools],
        "matrices": [cell for tool in tools for cell in _cells(tool)],
        "pairs": [_flat({"tool": t["tool"]} | _figures(p)) for t in tools for p in t["pairs"]],
        "assessors": [_flat({"tool": t["tool"]} | p) for t in tools for p in t["people"]],
        "queries": [
            _flat({"tool": t["tool"]} | _figures(q))
            for t in tools
            for q in t["queries_by_disagreement"]
        ],
        "effort": [_flat({"tool": t["tool"]} | _figures(t["effort"])) for t in tools],
        "comparison": [
            _flat({"compared": key} | row)
            for key, row in report["comparison"].items()
            if isinstance(row, dict)
        ],
    }


def _figures(record: Json) -> Json:
    """A record without matrices and lists of records."""
    dropped = ("matrix", "matrix_both_orders", "counts", "shares", "course", "assessors")
    lists = {key for key in dropped if isinstance(record.get(key), list | dict)}
    return {key: value for key, value in record.items() if key not in lists}


def _cells(tool: Json) -> Iterator[Json]:
    codes = ("A>B", "A~B", "A<B")
    matrix = tool["agreement"]["matrix"]
    for i, row in enumerate(codes):
        for j, column in enumerate(codes):
            yield {
                "tool": tool["tool"],
                "first": row,
                "second": column,
                "count": matrix["counts"][i][j],
                "share_of_row": matrix["shares"][i][j],
            }


def _flat(record: Json, prefix: str = "") -> Json:
    """Nested records as columns ``a.b``; ``value`` takes its parent's name."""
    flat: Json = {}
    for key, value in record.items():
        name = prefix if key == "value" else f"{prefix}.{key}" if prefix else key
        if isinstance(value, dict):
            flat |= _flat(value, name)
        elif isinstance(value, list):
            for i, each in enumerate(value):
                part = f"{name}.{i}"
                flat |= _flat(each, part) if isinstance(each, dict) else {part: each}
        else:
            flat[name] = value
    return flat


def to_csv(rows: list[Json]) -> str:
    """Rows as CSV; the columns are all that occur, and no text is a formula."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return csv_text([columns, *([row.get(column) for column in columns] for row in rows)])
