"""Records as a Parquet file: one column per field, row group by row group."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from topkapi.analysis.data.exports.codec import Groups, Names, columns_of, fields_of
from topkapi.analysis.data.exports.files import Sink
from topkapi.extras import optional_module

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")
ROWS = 10_000  # of a row group; as many are in memory at once


def parquet_chunks(records: Iterable[T], kind: type[T]) -> Iterator[bytes]:
    """Yield the bytes of a Parquet file of ``records``.

    Times are in UTC to the microsecond, and options are JSON texts.

    Raises
    ------
    MissingPackage
        At once, if pyarrow is not installed.
    """
    pyarrow = optional_module("pyarrow", "parquet", "pyarrow")
    parquet = optional_module("pyarrow.parquet", "parquet", "pyarrow")
    schema = _schema(kind)

    def chunks() -> Iterator[bytes]:
        remaining, sink = iter(records), Sink()
        with parquet.ParquetWriter(sink, schema) as writer:
            while rows := list(islice(remaining, ROWS)):
                columns = {
                    name: [_cell(getattr(row, name)) for row in rows] for name in columns_of(kind)
                }
                writer.write_table(pyarrow.Table.from_pydict(columns, schema=schema))
                yield sink.taken()
        yield sink.taken()

    return chunks()


def _schema(kind: type[Any]) -> Any:
    import pyarrow

    text = pyarrow.string()
    types: dict[Any, Any] = {
        str: text,
        int: pyarrow.int64(),
        bool: pyarrow.bool_(),
        datetime: pyarrow.timestamp("us", tz="UTC"),
        Names: pyarrow.list_(text),
        Groups: pyarrow.list_(pyarrow.list_(text)),
        Mapping[str, Any]: text,
    }
    types |= {hint | None: found for hint, found in list(types.items())}
    return pyarrow.schema([(name, types[hint]) for name, hint in fields_of(kind).items()])


def _cell(value: Any) -> Any:
    return json.dumps(value, sort_keys=True) if isinstance(value, Mapping) else value
