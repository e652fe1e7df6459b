"""``dataset``: a study as a folder to publish, in a zip archive; nobody in it has a name."""

import json
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import asdict, replace
from hashlib import sha256
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from topkapi.analysis.data.exports.codec import fields_of
from topkapi.analysis.data.exports.croissant import DescribedFile, croissant
from topkapi.analysis.data.exports.files import Sink
from topkapi.app.db.models import Document
from topkapi.app.db.queries.results import exports as queries
from topkapi.app.services.results.exports.source import StudySource

Write = Callable[[StudySource], Iterator[str | bytes]]
CARD = "README.md"
_FIELDS: Mapping[str, Mapping[str, Any]] = {
    "queries.jsonl": {"query": str, "text": str},
    "documents.jsonl": {"document": str, "title": str, "url": str},
}


def dataset_zip(
    source: StudySource, formats: Mapping[str, Write], kinds: Mapping[str, type[Any]]
) -> Iterator[bytes]:
    """Yield a zip archive of a dataset card, the queries, the documents and ``formats``.

    Its last file describes the others in the format Croissant; ``kinds`` are the records of JSON
    Lines. Assessors always have pseudonyms. Texts of documents are left out: they are other
    people's.
    """
    options = replace(source.options, assessor=None, pseudonyms=True, machines=False)
    public = StudySource(source.session, source.study.slug, options)
    public.only = source.only
    files: dict[str, Write] = {
        CARD: lambda each: iter([_card(each)]),
        "guidelines.md": lambda each: iter([each.study.guidelines]),
        "settings.json": _settings,
        "queries.jsonl": _queries,
        "documents.jsonl": _documents,
        **formats,
    }

    fields = {**_FIELDS, **{name: fields_of(kind) for name, kind in kinds.items()}}
    described: list[DescribedFile] = []
    about = "Top-k preference labels made with Topkapi; see README.md."
    published = options.license, options.creators, options.citation
    files["croissant.json"] = lambda each: iter(
        [croissant(each.study.name, about, described, *published)]
    )

    def chunks() -> Iterator[bytes]:
        sink = Sink()
        with ZipFile(sink, "w") as archive:
            for name, write in files.items():
                entry = ZipInfo(name)  # without a timestamp: the same study gives the same bytes
                entry.compress_type = ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                digest, size = sha256(), 0
                with archive.open(entry, "w", force_zip64=True) as stream:
                    for piece in write(public):
                        data = piece.encode() if isinstance(piece, str) else piece
                        digest.update(data)
                        size += stream.write(data)
                        yield sink.taken()
                found = DescribedFile(name, digest.hexdigest(), size, fields.get(name, {}))
                described.append(found)
        yield sink.taken()

    return chunks()


def _settings(source: StudySource) -> Iterator[str]:
    yield json.dumps(source.study.settings.as_json(), ensure_ascii=False, indent=1) + "\n"


def _queries(source: StudySource) -> Iterator[str]:
    for query in source.queries():
        yield json.dumps({"query": query.name, "text": query.text}, ensure_ascii=False) + "\n"


def _documents(source: StudySource) -> Iterator[str]:
    for name, title, url in _documents_of_study(source.session, source.study.id):
        found = {"document": name, "title": title, "url": url}
        yield json.dumps(found, ensure_ascii=False) + "\n"


def _card(source: StudySource) -> str:
    """Return the dataset card, whose first lines the Hugging Face Hub reads."""
    settings = source.study.settings
    session, study = source.session, source.study.id
    counts = queries.work_counts(session, study, source.only)
    work = "; ".join(f"{row[0]}: {row[3]} of {row[1]} assignments finished" for row in counts)
    people = queries.people_at_work(session, study)
    chosen = {
        name: value for name, value in asdict(settings).items() if name in ("k", "sorter", "ties")
    }
    given, lines = source.options, []
    license = f"license: {json.dumps(given.license, ensure_ascii=False)}\n" if given.license else ""
    lines += [f"Made by {', '.join(given.creators)}."] if given.creators else []
    lines += [f"License: {given.license}."] if given.license else []
    lines += [f"Please cite: {given.citation}"] if given.citation else []
    return _TEXT.format(
        license=license,
        published="\n\n".join(lines) + "\n\n" if lines else "",
        choose="" if given.license else "choose a license, ",
        name=json.dumps(source.study.name, ensure_ascii=False),
        title=source.study.name,
        queries=queries.count_queries(session, study),
        documents=sum(1 for _ in _documents_of_study(session, study)),
        people=1 if source.only is not None else len(people),
        work=work or "nothing is assigned yet",
        settings=", ".join(f"`{name}` = {value}" for name, value in chosen.items()),
    )


_TEXT = """---
pretty_name: {name}
{license}task_categories:
- text-ranking
tags:
- preferences
- top-k
configs:
- config_name: topk
  data_files: topk.jsonl
  default: true
- config_name: pairs
  data_files: pairs.jsonl
- config_name: judgments
  data_files: judgments.jsonl
- config_name: queries
  data_files: queries.jsonl
- config_name: documents
  data_files: documents.jsonl
---

# {title}

{published}Top-k preference labels made with Topkapi: {people} assessors, {queries} queries,
{documents} documents ({work}). Voided work is in `judgments.jsonl` only, marked as void.
Settings of pairs: {settings}.

| file | one line is |
|---|---|
| `topk.jsonl` | the list of an assessor for a query, best first, with ties and times |
| `consensus.jsonl` | a query, with the list of all its assessors |
| `qrels` | a document with its label from the consensus: k for the best, 0 outside the list |
| `grades.qrels` | a document with its grade, the median of its assessors |
| `pairs.jsonl` | a preference between two documents |
| `judgments.jsonl` | an entry of a log, with grades, undone answers and withdrawn work |
| `queries.jsonl`, `documents.jsonl` | a query with its text, a document with title and address |

`guidelines.md` is what the assessors were told, `settings.json` how they were asked.

`croissant.json` describes files and fields in the format Croissant 1.0.

Assessors have pseudonyms, and their notes are left out. The texts of the documents are not part
of this dataset. Before you publish it: {choose}say who the assessors were and how they were
found and paid, and check that guidelines, queries and titles contain nothing personal.
"""


def _documents_of_study(
    session: Session, study_id: int
) -> Generator[Row[str, str, str], None, None]:
    """Yield external id, title and address of the study's documents."""
    statement = (
        select(Document.external_id, Document.title, Document.url)
        .where(Document.study_id == study_id)
        .order_by(Document.id)
    )
    with session.execute(statement.execution_options(yield_per=200)) as rows:
        yield from rows
