"""Converters of public test collections into small study folders."""

import gzip
import re
import shutil
import tarfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from tests.studies import write_jsonl

Judged = dict[str, dict[str, int]]  # query -> document -> grade


def read_judged(lines: Iterable[str]) -> Judged:
    """Parse qrels of three or four columns."""
    found: Judged = defaultdict(dict)
    for line in lines:
        parts = line.split()
        found[parts[0]][parts[-2]] = int(parts[-1])
    return found


def text_of(path: Path) -> str:
    """Return a plain or gzip file as text."""
    raw = path.read_bytes()
    data = gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
    return data.decode("utf-8", "replace")


def _settings(folder: Path, name: str) -> None:
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text(f'name = "{name}"\nk = 5\nsorter = "tournament"\n')


def _write_qrels(folder: Path, judged: Judged) -> None:
    lines = [f"{q} 0 {d} {grade}\n" for q, of in judged.items() for d, grade in of.items()]
    (folder / "qrels.txt").write_text("".join(lines))


def dl19(data: Path, folder: Path, *, topics: int, passages: int) -> Judged:
    """Convert TREC Deep Learning 2019: topics unchanged, passages limited to the topics' own."""
    _settings(folder, "TREC DL19")
    whole = read_judged(text_of(data / "qrels.dl19-passage.txt.gz").splitlines())
    judged = {
        query: dict(sorted(of.items(), key=lambda item: -item[1])[:passages])
        for query, of in list(whole.items())[:topics]
    }
    _write_qrels(folder, judged)
    lines = (data / "topics.filtered.dl19.txt").read_text().splitlines()
    kept = [line for line in lines if line.split("\t")[0] in judged]
    (folder / "topics.tsv").write_text("\n".join(kept) + "\n")
    wanted = {document for of in judged.values() for document in of}
    texts = dict(
        line.split("\t", 1) for line in text_of(data / "qrels_text.dl19.gz").split("\n") if line
    )
    rows = "".join(f"{name}\t{texts[name]}\n" for name in sorted(wanted))
    (folder / "documents.tsv.gz").write_bytes(gzip.compress(rows.encode()))
    return judged


def _smart(text: str) -> list[dict[str, str]]:
    """Parse the SMART format: ``.I`` begins a record, ``.T``, ``.W`` and others are its fields."""
    found: list[dict[str, str]] = []
    for block in re.split(r"^\.I ", text, flags=re.MULTILINE)[1:]:
        name, _, rest = block.partition("\n")
        parts = re.split(r"^\.([A-Z])\s*$", rest, flags=re.MULTILINE)
        fields = {
            key: " ".join(value.split())
            for key, value in zip(parts[1::2], parts[2::2], strict=True)
        }
        found.append({"id": name.strip(), **fields})
    return found


def cranfield(data: Path, folder: Path, *, queries: int) -> Judged:
    """Convert Cranfield; queries are numbered by position, as in the judgments."""
    _settings(folder, "Cranfield")
    whole = read_judged((data / "cranqrel").read_text().splitlines())
    judged = {query: whole[query] for query in list(whole)[:queries]}
    asked = _smart((data / "cran.qry").read_text())
    write_jsonl(
        folder / "queries.jsonl",
        [{"id": query, "text": asked[int(query) - 1]["W"]} for query in judged],
    )
    wanted = {document for of in judged.values() for document in of}
    pages = [
        record for record in _smart(text_of(data / "cran.all.1400.gz")) if record["id"] in wanted
    ]
    write_jsonl(
        folder / "documents.jsonl",
        [{"id": page["id"], "title": page["T"], "text": page["W"] or page["T"]} for page in pages],
    )
    _write_qrels(folder, judged)
    return judged


def cacm(data: Path, folder: Path, *, topics: int) -> Judged:
    """Convert CACM: real HTML pages, all documents by their file names."""
    _settings(folder, "CACM")
    lines = (data / "qrels.cacm.txt").read_text()
    padded = re.sub(r"CACM-(\d+)", lambda found: f"CACM-{int(found[1]):04}", lines)
    whole = read_judged(padded.splitlines())
    chosen = [query for query, of in whole.items() if len(of) >= 5][:topics]
    judged = {query: whole[query] for query in chosen}
    texts = dict(
        re.findall(
            r"<DOCNO>\s*(\S+)\s*</DOCNO>(.*?)</DOC>", (data / "topics.cacm.txt").read_text(), re.S
        )
    )
    topics_file = "".join(f"<top>\n<num> {q}\n<title> {texts[q]}\n</top>\n" for q in judged)
    (folder / "topics.txt").write_text(topics_file)
    wanted = {document for of in judged.values() for document in of}
    (folder / "pages").mkdir()
    with tarfile.open(data / "cacm.tar.gz") as archive:
        for member in archive:
            if Path(member.name).stem in wanted:
                source = archive.extractfile(member)
                assert source is not None
                with source, (folder / "pages" / Path(member.name).name).open("wb") as target:
                    shutil.copyfileobj(source, target)
    _write_qrels(folder, judged)
    return judged
