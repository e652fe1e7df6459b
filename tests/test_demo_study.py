"""The files of the demo study: complete, without duplicates, scripts or broken references."""

import json
import re
from collections import Counter
from pathlib import Path, PurePosixPath
from urllib.parse import urlparse

import topkapi.app
from topkapi.app.services.importing import open_source
from topkapi.app.services.importing.checking import check_study
from topkapi.app.services.importing.kinds.queries import QUERIES
from topkapi.app.services.importing.records.contents import plain_text

DEMO = Path(topkapi.app.__file__).parent / "demo"
LOCAL = re.compile(r"""(?:src|href)\s*=\s*["']([^"'#][^"']*)["']|url\(\s*["']?([^"')]+)""")
ACTIVE = re.compile(r"<script|\bon[a-z]+\s*=|javascript:|<iframe|<object|<embed", re.I)


def records(name: str) -> list[dict[str, str]]:
    lines = (DEMO / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def pages() -> dict[str, str]:
    return {
        record["path"]: (DEMO / record["path"]).read_text(encoding="utf-8")
        for record in records("documents.jsonl")
    }


def test_six_queries_with_fifteen_pages_or_more() -> None:
    with open_source(DEMO) as source:
        checked = check_study(source)
    assert len(checked[QUERIES]) >= 6
    assert all(offered >= 15 for offered in checked.candidates_of.values())
    assert checked.bundle.head.name == "Everyday questions"
    assert checked.bundle.head.settings.k == 5
    assert all(grade.description for grade in checked.bundle.head.settings.grades)
    assert len(checked.bundle.head.guidelines) > 2000


def test_no_two_pages_share_a_paragraph() -> None:
    seen: Counter[str] = Counter()
    for path, page in pages().items():
        text = plain_text(page) if path.endswith(".html") else page
        paragraphs = {" ".join(part.split()) for part in re.split(r"\n\s*\n|\n(?=[-*|>\d])", text)}
        seen.update(paragraph for paragraph in paragraphs if len(paragraph) >= 40)
    assert [paragraph for paragraph, count in seen.items() if count > 1] == []


def test_pages_differ_in_kind_and_length() -> None:
    kinds = Counter(PurePosixPath(path).suffix for path in pages())
    assert set(kinds) == {".html", ".md", ".txt"}
    lengths = sorted(map(len, pages().values()))
    assert lengths[-1] > 5 * lengths[0]


def test_nothing_in_a_page_runs() -> None:
    files = [path for path in (DEMO / "pages").rglob("*") if path.is_file()]
    found = {path.name: ACTIVE.findall(path.read_text(encoding="utf-8")) for path in files}
    assert {name: hits for name, hits in found.items() if hits} == {}


def test_every_reference_leads_to_a_file_or_to_an_example_address() -> None:
    for path in sorted((DEMO / "pages").rglob("*")):
        if path.suffix not in (".html", ".css", ".svg"):
            continue
        for match in LOCAL.finditer(path.read_text(encoding="utf-8")):
            target = match[1] or match[2]
            host = urlparse(target).hostname
            if host:
                assert host.endswith((".example", "w3.org")), (path, target)
            elif not target.startswith(("data:", "mailto:")):
                assert (path.parent / target).is_file(), (path, target)


def test_addresses_are_all_different_and_made_up() -> None:
    urls = [record["url"] for record in records("documents.jsonl")]
    assert len(set(urls)) == len(urls)
    assert all((urlparse(url).hostname or "").endswith(".example") for url in urls)


def test_the_order_of_the_files_gives_nothing_away() -> None:
    names = [(record["query"], record["document"]) for record in records("candidates.jsonl")]
    assert names == sorted(names)
    truth = {record["query"]: record["order"] for record in records("truth.jsonl")}
    grades = {record["document"]: int(record["grade"]) for record in records("candidates.jsonl")}
    for query, order in truth.items():
        assert sorted(order) == sorted(name for of, name in names if of == query)
        ranked = [grades[name] for name in order]
        assert ranked == sorted(ranked, reverse=True)
        assert set(ranked) == {0, 1, 2, 3, 4}
