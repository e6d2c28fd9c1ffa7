"""Tables of swept runs: one table, members in order, swept settings as columns."""

import shutil

import pandas as pd
import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands.roles import load_table, load_tables
from learning_dynamics.pipeline.store.provenance import digest
from learning_dynamics.pipeline.store.tables import write_table
from learning_dynamics.tidy import QUANTITY, SEED, VALUE

DECLARED = (SEED, QUANTITY, VALUE)


def write(folder, name, rows, **settings):
    table = pd.DataFrame({"seed": range(rows), "quantity": ["loss"] * rows, "value": [float(rows)] * rows})
    write_table(folder / f"{name}.parquet", table, DECLARED, {"settings": settings, "fingerprint": f"of {name}"})


def test_a_swept_run_is_one_table(tmp_path):
    for rows, gamma in ((2, 1e-4), (3, 1)):
        for width in (10, 20):
            write(tmp_path, f"scan--gamma-{gamma}--width-{width}", rows, gamma=gamma, width=width, init="orthogonal")
    write(tmp_path, "alone", 1, gamma=2.0)
    sweep = {"gamma": [1e-4, 1], "width": [10, 20]}
    roles = {"scan": {"name": "scan", "sweep": sweep}, "others": [{"name": "alone", "fingerprint": "of alone"}]}
    tables = load_tables(tmp_path, roles)
    scan = tables["scan"]
    assert list(scan.columns) == ["seed", "quantity", "value", "gamma", "width"]
    assert scan["gamma"].tolist() == [1e-4] * 4 + [1.0] * 6
    assert scan["width"].tolist() == [10, 10, 20, 20, 10, 10, 10, 20, 20, 20]
    assert scan["value"].tolist() == [2.0] * 4 + [3.0] * 6
    assert scan.attrs == {"settings": {"init": "orthogonal", **sweep}, "draw": ("seed",), "run": "scan"}
    assert tables["others"][0].attrs["settings"] == {"gamma": 2.0}


def test_a_missing_member_is_named(tmp_path):
    write(tmp_path, "scan--gamma-1", 1, gamma=1)
    with pytest.raises(ProjectError, match=r"scan--gamma-2\.parquet: no such file; run snakemake"):
        load_tables(tmp_path, {"run": {"name": "scan", "sweep": {"gamma": [1, 2]}}})


def test_a_swept_setting_may_not_hide_a_column_unless_it_says_the_same(tmp_path):
    write(tmp_path, "scan--value-1", 1, value=1)
    write(tmp_path, "scan--value-3", 2, value=3)
    assert load_tables(tmp_path, {"run": {"name": "scan", "sweep": {"value": [1]}}})["run"]["value"].tolist() == [1]
    with pytest.raises(ProjectError, match="column `value` that is not the swept setting `value`; rename it"):
        load_tables(tmp_path, {"run": {"name": "scan", "sweep": {"value": [1, 3]}}})


def test_a_swept_seed_leaves_the_members_of_each_run_as_draws(tmp_path):
    for seed in (5, 6):
        write(tmp_path, f"scan--seed-{seed}", 2, seed=seed)
    run = {"name": "scan", "sweep": {"seed": [5, 6]}}
    with pytest.raises(ProjectError, match="raise `seeds` instead"):  # claims would take all members for one draw
        load_tables(tmp_path, {"run": run})
    table = load_table(tmp_path, run, members_as="draw")
    assert table["seed"].tolist() == [5, 5, 6, 6]
    assert table["draw"].tolist() == [0, 1, 0, 1]
    assert table.attrs["draw"] == ("seed", "draw")


def test_a_swapped_file_is_refused_alone_and_in_a_sweep(tmp_path):
    for gamma in (1, 2):
        write(tmp_path, f"scan--gamma-{gamma}", 1, gamma=gamma)
    expected = digest(["of scan--gamma-1", "of scan--gamma-2"])
    roles = {"run": {"name": "scan", "sweep": {"gamma": [1, 2]}, "fingerprint": expected}}
    assert len(load_tables(tmp_path, roles)["run"]) == 2
    shutil.copy(tmp_path / "scan--gamma-1.parquet", tmp_path / "scan--gamma-2.parquet")
    with pytest.raises(ProjectError, match="was made by other settings"):
        load_tables(tmp_path, roles)
    with pytest.raises(ProjectError, match=r"scan--gamma-2\.parquet: was made by other settings"):
        load_tables(tmp_path, {"run": {"name": "scan--gamma-2", "fingerprint": "of scan--gamma-2"}})
