"""``croissant.json``: files of a dataset and their fields, in the format Croissant 1.0 [ABC24]_.

Fields that it cannot express (lists of lists, options) are left out.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

_TYPES = {str: "Text", int: "Integer", float: "Float", bool: "Boolean", datetime: "Date"}
_FORMATS = {".jsonl": "application/jsonlines", ".md": "text/markdown"}
_TERMS = (
    *("column", "extract", "field", "fileObject", "fileProperty", "fileSet", "format", "includes"),
    *("isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references"),
    *("citeAs", "regex", "repeated", "replace", "separator", "source", "subField", "transform"),
)
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in _TERMS},
}


@dataclass(frozen=True, slots=True)
class DescribedFile:
    """A file of a dataset; ``fields`` are the types of the fields of JSON Lines by name."""

    name: str
    sha256: str
    size: int
    fields: Mapping[str, Any]


def croissant(
    name: str,
    description: str,
    files: Iterable[DescribedFile],
    license: str = "",
    creators: Iterable[str] = (),
    citation: str = "",
) -> str:
    """Return the description of a dataset as JSON-LD."""
    files = list(files)
    people = [{"@type": "sc:Person", "name": each} for each in creators]
    known = {"license": license, "creator": people, "citeAs": citation}
    document = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": description,
        **{key: value for key, value in known.items() if value},
        "distribution": [_distributed(each) for each in files],
        "recordSet": [_record_set(each) for each in files if each.fields],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _distributed(file: DescribedFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.name,
        "name": file.name,
        "contentUrl": file.name,
        "contentSize": f"{file.size} B",
        "encodingFormat": _FORMATS.get(PurePath(file.name).suffix, "text/plain"),
        "sha256": file.sha256,
    }


def _record_set(file: DescribedFile) -> dict[str, Any]:
    name = PurePath(file.name).stem
    fields = []
    for column, hint in file.fields.items():
        kind, repeated = _type(hint)
        if kind is not None:
            source = {"fileObject": {"@id": file.name}, "extract": {"column": column}}
            field = {"@type": "cr:Field", "@id": f"{name}/{column}", "name": column}
            fields.append({**field, "dataType": f"sc:{kind}", **repeated, "source": source})
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields}


def _type(hint: Any) -> tuple[str | None, dict[str, bool]]:
    """Return the type of a field without None, and whether it is a list of them."""
    if get_origin(hint) is tuple:
        kind, nested = _type(get_args(hint)[0])
        return None if nested else kind, {"repeated": True}
    if isinstance(hint, UnionType):
        (hint,) = (each for each in get_args(hint) if each is not NoneType)
    return _TYPES.get(hint), {}
