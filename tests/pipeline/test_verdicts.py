"""The last job: the table of claims, and the exit status that says whether all is as expected."""

import pandas as pd

from learning_dynamics.pipeline.commands import verdicts
from learning_dynamics.pipeline.store.records import COLUMNS
from learning_dynamics.pipeline.store.tables import write_table


def claims_file(folder, verdict, expected):
    blank = {"float": 0.0, "int": 0, "str": ""}
    row = {column.name: blank[column.type] for column in COLUMNS}
    row |= {"claim": "paper.lemma", "verdict": verdict, "expected": expected}
    path = folder / "claims.parquet"
    write_table(path, pd.DataFrame([row]), COLUMNS, {"settings": {}})
    return path


def test_verdicts_as_expected_are_written_and_another_one_fails_and_is_named(tmp_path, capsys):
    # "not reproduced" holds the letters of "reproduced"
    for verdict, expected in (("contradicted", "reproduced"), ("reproduced", "not reproduced")):
        assert verdicts.execute(claims_file(tmp_path, verdict, expected), out=tmp_path / "table.txt") == 1, verdict
        assert f"paper.lemma: verdict `{verdict}`, expected `{expected}`" in capsys.readouterr().err, verdict
        assert not (tmp_path / "table.txt").exists(), verdict
    for expected in ("reproduced", ""):
        assert verdicts.execute(claims_file(tmp_path, "reproduced", expected), out=tmp_path / "table.txt") == 0, (
            expected
        )
        assert "1 claims: 1 reproduced" in (tmp_path / "table.txt").read_text(), expected
        assert "(expected" not in (tmp_path / "table.txt").read_text(), expected
