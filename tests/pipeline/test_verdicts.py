"""`verdicts`, the last job: it writes the table of claims, or fails if a verdict is not the expected one."""

import pandas as pd
import pytest

from learning_dynamics.pipeline.commands import verdicts
from learning_dynamics.pipeline.store.records import COLUMNS
from learning_dynamics.pipeline.store.tables import write_table


def claims_file(folder, verdict, expected):
    """Write the table of one claim, other columns blank, and return its file."""
    blank = {"float": 0.0, "int": 0, "str": ""}
    row = {column.name: blank[column.type] for column in COLUMNS}
    row |= {"claim": "paper.lemma", "verdict": verdict, "expected": expected}
    path = folder / "claims.parquet"
    write_table(path, pd.DataFrame([row]), COLUMNS, {"settings": {}})
    return path


@pytest.mark.parametrize(
    "expected", [pytest.param("reproduced", id="the expected one"), pytest.param("", id="none is expected")]
)
def test_a_verdict_that_is_expected_is_written(expected, tmp_path):
    assert verdicts.execute(claims_file(tmp_path, "reproduced", expected), out=tmp_path / "table.txt") == 0
    table = (tmp_path / "table.txt").read_text()
    assert "1 claims: 1 reproduced" in table
    assert "(expected" not in table


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        ("contradicted", "reproduced"),
        ("reproduced", "not reproduced"),  # which contains the word "reproduced"
    ],
)
def test_another_verdict_than_the_expected_one_is_named_and_no_table_is_written(verdict, expected, tmp_path, capsys):
    assert verdicts.execute(claims_file(tmp_path, verdict, expected), out=tmp_path / "table.txt") == 1
    assert f"paper.lemma: verdict `{verdict}`, expected `{expected}`" in capsys.readouterr().err
    assert not (tmp_path / "table.txt").exists()
