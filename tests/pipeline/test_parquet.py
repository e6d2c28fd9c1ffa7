"""Parquet tables: checked when written, plain pandas when read."""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.store.tables import read_provenance, read_table, write_table
from learning_dynamics.tidy import Column

COLUMNS = (
    Column("seed", "int", "ensemble member", draw=True),
    Column("name", "str", "what it is", draw=True),
    Column("value", "float", "measured"),
    Column("predicted", "float", "theory", nullable=True),
)
RECORD = {"settings": {"gamma": 0.5}, "commit": "abc", "fingerprint": "abc"}


def table(**changes):
    good = {"seed": [0, 1], "name": ["a", "b"], "value": [0.5, 1.5], "predicted": [np.nan, 1.0]}
    return pd.DataFrame(good | changes)


def test_it_is_read_by_plain_pandas_and_keeps_its_provenance(tmp_path):
    write_table(tmp_path / "t.parquet", table(), COLUMNS, RECORD)
    plain = pd.read_parquet(tmp_path / "t.parquet")
    assert list(plain.columns) == ["seed", "name", "value", "predicted"]
    np.testing.assert_array_equal(plain["predicted"], [np.nan, 1.0])
    assert read_provenance(tmp_path / "t.parquet") == RECORD
    assert read_table(tmp_path / "t.parquet").attrs == {"settings": {"gamma": 0.5}, "draw": ("seed", "name")}


def test_a_table_that_breaks_its_declaration_is_refused_and_not_written(tmp_path):
    for bad, message in (
        (table().drop(columns="seed"), "columns are"),
        (table(extra=1), "columns are"),
        (table(value=[0.5, np.nan]), "column 'value' has empty or nan values"),
        (table(value=[0.5, np.inf]), "column 'value' has infinite values"),
        (table(seed=[0.5, 1.5]), "seed|truncated"),
        (table(name=[None, "b"]), "column 'name' has empty"),
    ):
        with pytest.raises(ProjectError, match=message):
            write_table(tmp_path / "t.parquet", bad, COLUMNS, RECORD)
        assert not list(tmp_path.iterdir())


def test_the_same_table_gives_the_same_bytes(tmp_path):
    for name in ("a.parquet", "b.parquet"):
        write_table(tmp_path / name, table(), COLUMNS, RECORD)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_a_table_of_another_fingerprint_is_refused(tmp_path):
    write_table(tmp_path / "t.parquet", table(), COLUMNS, RECORD)
    assert len(read_table(tmp_path / "t.parquet", "abc")) == 2
    with pytest.raises(ProjectError, match=r"t\.parquet: was made by other settings or other code"):
        read_table(tmp_path / "t.parquet", "def")
