"""Tables as CSV: all of them, as they were measured, with the settings behind each."""

from __future__ import annotations

import json

import pandas as pd


def test_every_table_is_written_as_it_was_measured(workspace):
    said = workspace.stage("csv", "--out", "tables").stdout
    tables = {
        path.relative_to(workspace.folder / "results/toy") for path in workspace.folder.glob("results/toy/**/*.parquet")
    }
    written = workspace.folder / "tables/toy"
    assert {path.relative_to(written).with_suffix(".parquet") for path in written.glob("**/*.csv")} == tables
    assert f"{len(tables)} tables" in said
    for table in tables:
        expected = pd.read_parquet(workspace.folder / "results/toy" / table)
        found = pd.read_csv(written / table.with_suffix(".csv"), dtype=expected.dtypes.to_dict(), keep_default_na=False,
                            na_values=dict.fromkeys(expected.select_dtypes("number"), ""))  # fmt: skip
        pd.testing.assert_frame_equal(found, expected, check_exact=True)
    settings = json.loads((workspace.folder / "tables/toy.json").read_text())
    assert settings["metrics/slow"]["every"] == 1


def test_what_is_not_there_is_said_in_a_line(workspace):
    for arguments, message in (
        (["toi"], "no paper `toi`"),
        (["toy", "--configfile", "a.yaml"], "a.yaml: no such file"),
    ):
        ended = workspace.stage("csv", *arguments, "--out", "tables")
        assert ended.returncode == 1
        assert message in ended.stderr
        assert ended.stderr.count("\n") == 1
