"""Tables as CSV: all of them, as they were measured, with the settings behind each."""

import json

import pandas as pd
import pytest


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


def test_it_replaces_what_it_wrote_and_nothing_else(workspace):
    tables = workspace.folder / "tables"
    assert workspace.stage("csv", "--out", "tables").returncode == 0
    # of a table that is gone no copy stays; a file of one's own does
    (workspace.folder / "results/toy/metrics/fast.parquet").unlink()
    (tables / "toy/notes.csv").write_text("mine\n")
    assert workspace.stage("csv", "--out", "tables").returncode == 0
    assert not (tables / "toy/metrics/fast.csv").exists()
    assert (tables / "toy/notes.csv").read_text() == "mine\n"
    for name, text in (("toy.json", '{"../x": {}}'), ("toy.json", "mine"), ("toy/claims.csv", "mine\n")):
        (tables / "toy.json").unlink(missing_ok=True)
        (tables / name).write_text(text)
        ended = workspace.stage("csv", "--out", "tables")
        assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
        assert f"tables/{name}: is there, and was not written by this command" in ended.stderr
        assert (tables / name).read_text() == text


def test_tables_of_other_settings_are_told_by_no_other_name(workspace):
    workspace.configure("runs", "fast", "rate", value=0.5)
    for command in (["csv", "--out", "tables"], ["tex", "toy"]):
        ended = workspace.stage(*command)
        assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
        assert "other settings" in ended.stderr


@pytest.mark.parametrize("folder", ["results", "results/toy", "figures/x", "a/../results"])
def test_results_are_no_place_for_copies(workspace, folder):
    ended = workspace.stage("csv", "--out", folder)
    assert f"--out {folder}: lies in results or figures" in ended.stderr
