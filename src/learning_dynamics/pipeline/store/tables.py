"""Tidy tables as parquet files: columns checked against their declaration, the stamp in the file's own metadata."""

import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.store.stamps import KEY, check_made_from, reading
from learning_dynamics.tidy import Column, Settings

# why the metrics of a sweep's runs cannot be one table; {0} is the column
CLASH = "the metrics have a column `{0}` that is not the swept setting `{0}`; rename it"
NUMBERS = ("index", "value", "predicted")  # columns that do not say where in a table of metrics a row is
BATCH = 2**15  # rows that are in memory together where few of a table are wanted
BUFFER = 2**16  # bytes of a column that are read from a file together
TYPES = {"int": pa.int64(), "float": pa.float64(), "str": pa.string(), "bool": pa.bool_()}


def arrow_schema(declared: tuple[Column, ...]) -> pa.Schema:
    """Return the parquet schema of declared columns: types, and as field metadata descriptions and draw columns."""
    fields = [
        pa.field(
            column.name,
            TYPES[column.type],
            column.nullable,
            {"description": column.description, "draw": str(column.draw)},
        )
        for column in declared
    ]
    return pa.schema(fields)


def draw_columns_of(schema: pa.Schema) -> tuple[str, ...]:
    """Return the draw columns of a table of this schema."""
    return tuple(field.name for field in schema if (field.metadata or {}).get(b"draw") == b"True")


def added_columns_of(schema: pa.Schema) -> list[str]:
    """Return the columns that no metrics function declares: a bundle's swept settings (`add_settings`)."""
    return [field.name for field in schema if (field.metadata or {}).get(b"swept") == b"True"]


def add_settings(arrow: pa.Table, settings: Mapping[str, Any], types: Mapping[str, str]) -> pa.Table:
    """Return a table with a column for each setting that is not one of its columns yet, the same value in every row.

    Raises
    ------
    ProjectError
        If a setting is one of the columns and has other values there.
    """
    # `types` has the type of each setting's column, as `tidy.Column` has it
    for key, value in settings.items():
        kind = TYPES[types[key]]
        if types[key] == "str" and value is not None and not isinstance(value, str):
            value = json.dumps(value)  # a list, say
        column = pa.repeat(pa.scalar(value, kind), arrow.num_rows)
        if key not in arrow.column_names:
            arrow = arrow.append_column(pa.field(key, kind, True, {"description": "swept", "swept": "True"}), column)
        elif not arrow[key].cast(kind).equals(pa.chunked_array([column])):
            raise ProjectError(CLASH.format(key))
    return arrow


def write_table(path: str | Path, table: pd.DataFrame, declared: tuple[Column, ...], record: Mapping[str, Any]) -> None:
    """Write a table with the columns declared, whole or not at all; see `to_arrow` for the errors."""
    write_arrow(path, to_arrow(path, table, declared), record)


def to_arrow(what: str | Path, table: pd.DataFrame, declared: tuple[Column, ...]) -> pa.Table:
    """Return a table as Arrow's, with the columns declared.

    Raises
    ------
    ProjectError
        If columns are missing, undeclared, of another type, or empty where they may not be.
    """
    names = [column.name for column in declared]
    if list(table.columns) != names:
        raise ProjectError(f"{what}: columns are {list(table.columns)}; declared are {names}")
    for column in declared:
        values = table[column.name]
        if not column.nullable and values.isna().any():
            first_row = table.iloc[int(values.isna().argmax())].drop([column.name, *NUMBERS], errors="ignore")
            where = ", ".join(f"{key} {value}" for key, value in first_row.items())
            advice = "declare VALUE_IF_ANY" if column.name == "value" else "declare the column nullable"
            raise ProjectError(
                f"{what}: column {column.name!r} has empty or nan values and may not, first at {where}; if that is "
                f"meant, {advice}"
            )
        if column.type == "float" and np.isinf(values.to_numpy(dtype=float, na_value=np.nan)).any():
            raise ProjectError(f"{what}: column {column.name!r} has infinite values")
    try:
        # from_pandas adds pandas' own metadata, which names its version; without it files are comparable
        arrow = pa.Table.from_pandas(table, schema=arrow_schema(declared), preserve_index=False)
        return arrow.replace_schema_metadata(None)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise ProjectError(f"{what}: {error}") from error


def write_arrow(path: str | Path, arrow: pa.Table, record: Mapping[str, Any]) -> None:
    """Write a table that `to_arrow` returned, with its stamp."""
    # parquet has no checksum of the footer, so that the record begins with one of its own
    text = json.dumps([_footer_crc(arrow.schema, record), record])
    arrow = arrow.replace_schema_metadata({KEY: text})
    with atomic_write(path) as partial:
        pq.write_table(arrow, partial, compression="zstd", write_page_checksum=True)


def read_table(
    path: str | Path, fingerprint: str | None = None, declared: Sequence[Column] | None = None
) -> pd.DataFrame:
    """Read a table written by `write_table`; ``attrs`` hold the settings it was made with, and its draw columns.

    Raises
    ------
    ProjectError
        If the file is missing, damaged, not an output of this project, not the one of this fingerprint, or has not the
        columns declared.
    """
    arrow, record = read_arrow(path)
    if declared is not None and arrow.column_names != [column.name for column in declared]:
        what_to_do = "name another, or delete it and run snakemake again"
        raise ProjectError(f"{path}: has other columns than are looked for here; {what_to_do}")
    table = arrow.to_pandas()
    check_made_from(path, record, fingerprint)
    table.attrs = {"settings": Settings(record["settings"]), "draw": draw_columns_of(arrow.schema)}
    return table


def read_arrow(path: str | Path) -> tuple[pa.Table, dict[str, Any]]:
    """Read a table as `read_table` does, but as an Arrow table and its stamp."""
    # one file, one thread: a sweep's thousands of small files are read side by side
    with reading(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        record = _record_of(file.schema_arrow)
        arrow = file.read(use_threads=False)
        if arrow.num_rows != file.metadata.num_rows:
            raise ValueError("rows are missing")
        return arrow.replace_schema_metadata(None), record


def read_rows(path: str | Path, where: Mapping[str, Any]) -> tuple[pa.Table, np.ndarray, dict[str, Any]]:
    """Read the rows of a table in which columns have the given values, in little more memory than these take.

    Returns
    -------
    (Table, ndarray, dict)
        The rows, the number of each in the file, and the table's stamp. What cannot be compared with a column,
        such as text with numbers, excludes nothing.
    """
    with reading(path), _open_for_batches(path) as file:
        schema = pq.read_schema(path)
        record = _record_of(schema)
        numbers = np.flatnonzero(_rows_that_meet(file, where))
        parts = []
        start = 0
        for batch in file.iter_batches(BATCH, use_threads=False):
            # which of the wanted rows are in this batch
            first, last = np.searchsorted(numbers, [start, start + len(batch)])
            if first < last:
                parts.append(batch.take(pa.array(numbers[first:last] - start)))
            start += len(batch)
        arrow = pa.Table.from_batches(parts, file.schema_arrow).cast(schema)
        return arrow.replace_schema_metadata(None), numbers, record


def values_in(path: str | Path, column: str, where: Mapping[str, Any]) -> list[Any]:
    """Return the different values that a column of a table has in the rows that `read_rows` would return."""
    with reading(path), _open_for_batches(path) as file:
        met = pa.array(_rows_that_meet(file, where))
        return file.read([column], use_threads=False).filter(met).column(0).unique().to_pylist()


def read_columns(path: str | Path) -> pa.Schema:
    """Return the columns of a table, without its rows; see `stamps.reading` for the errors."""
    with reading(path):
        return pq.read_schema(path).remove_metadata()


def _open_for_batches(path: str | Path) -> pq.ParquetFile:
    """Return a file that is to be read batch by batch: text as numbers of its few values, nothing read ahead."""
    texts = [field.name for field in pq.read_schema(path) if pa.types.is_string(field.type)]
    return pq.ParquetFile(
        path, page_checksum_verification=True, read_dictionary=texts, pre_buffer=False, buffer_size=BUFFER
    )


def _rows_that_meet(file: pq.ParquetFile, conditions: Mapping[str, Any]) -> np.ndarray:
    """Return whether each row of a table has the given values in columns, shape (rows,)."""
    met = np.ones(file.metadata.num_rows, dtype=bool)
    for column, value in conditions.items():
        if not _can_equal(file.schema_arrow.field(column).type, value):
            continue
        start = 0
        for batch in file.iter_batches(BATCH, columns=[column], use_threads=False):
            equal = pc.fill_null(pc.equal(batch.column(0), pa.scalar(value)), False)
            met[start : start + len(batch)] &= equal.to_numpy(zero_copy_only=False)
            start += len(batch)
    return met


def read_stamp(path: str | Path) -> dict[str, Any]:
    """Return the stamp in a parquet file's metadata; see `stamps.reading` for the errors."""
    with reading(path):
        return _record_of(pq.read_schema(path))


def _can_equal(kind: pa.DataType, value: Any) -> bool:
    """Whether a value can be compared with those of a column: numbers with numbers, text with text."""
    if isinstance(value, str):
        return pa.types.is_dictionary(kind)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and (pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _record_of(schema: pa.Schema) -> dict[str, Any]:
    expected, record = json.loads(schema.metadata[KEY.encode()])
    if expected != _footer_crc(schema, record):
        raise ValueError("its footer has another CRC")
    return dict(record)


def _footer_crc(schema: pa.Schema, record: Mapping[str, Any]) -> int:
    """Return the CRC-32 of names, types and draw columns of a table, and its record."""
    columns = [[field.name, str(field.type), field.name in draw_columns_of(schema)] for field in schema]
    return zlib.crc32(json.dumps([columns, record]).encode())
