"""Runs of a sweep may be bundled: one job simulates and measures several, with one table for all of them.

The sweep is of the made-up paper's run `slow`, under the name `scan`.
"""

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
import yaml

from learning_dynamics.pipeline.commands import bundle
from learning_dynamics.pipeline.store.tables import read_stamp, write_arrow
from tests.pipeline.conftest import Workspace, toy
from tests.pipeline.test_check import files_named

RATES = [0.01, 0.02, 0.03, 0.04, 0.05]
STEPS = 40  # of every run, as `slow` has it
OVERLAY = ("--configfile", "scan.yaml")
NOTHING = "Nothing to be done"


def sweep(workspace: Workspace, *, bundle: int | None, **axes: list) -> list[str]:
    """Write `scan.yaml`, a sweep over the values of `axes` and its figure; return Snakemake's arguments for the sweep.

    A job has `bundle` runs, or with None each run has jobs of its own.
    """
    scan: dict[str, Any] = {"extends": "slow", "sweep": axes}
    if bundle is not None:
        scan["bundle"] = bundle
    figure = {"function": "growth.growth", "runs": {"slow": "scan", "fast": "fast"}}
    changes = {"runs": {"scan": scan}, "figures": {"scanned": figure}}
    workspace.write("scan.yaml", yaml.safe_dump({"changes": {"toy": changes}}, sort_keys=False))
    return [*OVERLAY, "--", "toy_scan"]


def sweep_table(workspace: Workspace) -> str:
    """Return the table of the whole sweep as text, after a line with its attributes."""
    code = """
from pathlib import Path
from learning_dynamics.pipeline.plan.config_files import load
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.commands.roles import load_table
plan = Plan(load([Path("scan.yaml")]))
table = load_table(Path("results/toy/metrics"), plan.describe_run("toy", "scan"))
print(table.attrs)
print(table.to_csv())
"""
    ended = workspace.python("-c", code)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def results(workspace: Workspace, folder: str) -> list[Path]:
    """Return the sweep's files in a folder of the results, such as `metrics`, sorted by name."""
    return sorted((workspace.folder / "results/toy" / folder).glob("scan*.parquet"))


def bundles(workspace: Workspace) -> dict[Path, list[str]]:
    """Return the names of the runs in each bundle's table; the tables are in the order of their smallest rate."""
    tables = [path for path in results(workspace, "metrics") if "@" in path.name]  # as scan@0123abcd.parquet
    runs = {path: list(read_stamp(path)["contents"]) for path in tables}
    return {path: runs[path] for path in sorted(tables, key=lambda path: min(map(rate_of, runs[path])))}


def rate_of(run: str) -> float:
    """Return the rate that a run's name has: 0.01 of `scan--rate-0.01--every-4`."""
    return float(run.split("--rate-")[1].partition("--")[0])


def snakemake_and_count_steps(workspace: Workspace, *arguments: str) -> dict[float, int]:
    """Run Snakemake; return how many steps it simulated at each rate."""
    log = workspace.folder / "steps.log"
    log.write_text("", encoding="utf-8")
    workspace.variables["GROWTH_LOG"] = str(log)
    workspace.snakemake(*arguments)
    del workspace.variables["GROWTH_LOG"]
    return steps_in_log(workspace)


def steps_in_log(workspace: Workspace) -> dict[float, int]:
    """Return how many steps were simulated at each rate when they were last counted."""
    lines = workspace.read("steps.log").splitlines()  # a line is a rate and the number of a step
    return dict(Counter(float(line.split()[0]) for line in lines))


# -- bundles compared with single runs ---------------------------------------------------------------------------------

AXES = {"rate": RATES, "every": [1, 4]}  # ten runs; `every` is a setting of the metrics alone


@pytest.fixture(scope="module")
def single(tmp_path_factory) -> Workspace:
    """A project that has made the sweep with jobs of its own for each run; not to be changed."""
    workspace = toy(tmp_path_factory.mktemp("single") / "project")
    workspace.snakemake(*sweep(workspace, bundle=None, **AXES))
    return workspace


@pytest.fixture(scope="module")
def bundled(single, tmp_path_factory) -> Workspace:
    """The same project after the sweep was made in bundles of four, and drawn; not to be changed."""
    workspace = single.copy(tmp_path_factory.mktemp("bundled") / "project")
    snakemake_and_count_steps(workspace, *sweep(workspace, bundle=4, **AXES), "figures/toy/scanned.png")
    return workspace


def test_without_bundles_each_run_has_a_table(single):
    assert len(results(single, "metrics")) == 10


def test_bundles_of_four_hold_ten_runs_in_three_tables(bundled):
    assert [len(runs) for runs in bundles(bundled).values()] == [4, 4, 2]


def test_a_bundle_simulates_runs_that_differ_only_in_the_metrics_once(bundled):
    # each rate once, for both values of `every`; `fast`, which the figure draws too, was there already
    assert steps_in_log(bundled) == dict.fromkeys(RATES, STEPS)


def test_bundles_have_the_table_of_single_runs(single, bundled):
    assert "'draw': ('seed',)" in sweep_table(single)  # attributes are compared as well
    assert sweep_table(bundled) == sweep_table(single)


def test_a_bundle_records_its_stage_and_its_name(bundled):
    for path in bundles(bundled):
        record = read_stamp(path)
        assert (record["stage"], record["name"]) == ("bundle", path.stem)


def test_bundles_do_not_need_the_tables_of_single_runs(bundled, tmp_path):
    workspace = bundled.copy(tmp_path / "project")
    for table in results(workspace, "metrics"):
        if "@" not in table.name:
            table.unlink()
    assert workspace.cli("check", *OVERLAY).returncode == 0
    assert NOTHING in workspace.snakemake("--dry-run", *OVERLAY, "--", "toy_scan", "figures/toy/scanned.png").stdout


def test_check_names_a_bundle_that_was_replaced_by_another(bundled, tmp_path):
    workspace = bundled.copy(tmp_path / "project")
    first, second, _ = bundles(workspace)
    shutil.copy(first, second)
    checked = workspace.cli("check", *OVERLAY)
    assert checked.returncode == 1
    # the tables of single runs are named as well, since no run has its own table any more
    assert [file for file in files_named(checked) if "@" in file] == [f"results/toy/metrics/{second.name}"]


# -- sweeps that are extended ------------------------------------------------------------------------------------------

EXTENDED = [0.005, 0.007, *RATES, 0.06]  # with values in front and at the end: every bundle has other runs


@pytest.fixture(scope="module")
def before_extension(tmp_path_factory) -> Workspace:
    """A project that has made the sweep over `RATES` in bundles of four; not to be changed."""
    workspace = toy(tmp_path_factory.mktemp("extended") / "project")
    assert snakemake_and_count_steps(workspace, *sweep(workspace, bundle=4, rate=RATES)) == dict.fromkeys(RATES, STEPS)
    return workspace


@pytest.fixture
def extended(before_extension, tmp_path) -> Workspace:
    """A copy of this project, after its sweep was extended."""
    workspace = before_extension.copy(tmp_path / "project")
    workspace.snakemake(*sweep(workspace, bundle=4, rate=EXTENDED))
    return workspace


def test_an_extended_sweep_simulates_only_its_new_values(before_extension, tmp_path):
    workspace = before_extension.copy(tmp_path / "project")
    steps = snakemake_and_count_steps(workspace, *sweep(workspace, bundle=4, rate=EXTENDED))
    assert steps == {0.005: STEPS, 0.007: STEPS, 0.06: STEPS}
    assert NOTHING in workspace.snakemake("--dry-run", *OVERLAY, "--", "toy_scan").stdout


def test_an_extended_sweep_leaves_no_outdated_bundles(before_extension, extended):
    assert [len(runs) for runs in bundles(extended).values()] == [4, 4]
    names = {path.name for path in bundles(extended)}
    assert names.isdisjoint(path.name for path in bundles(before_extension))


def test_an_extended_sweep_has_the_table_of_one_that_was_made_at_once(extended):
    table = sweep_table(extended)
    for file in results(extended, "metrics"):
        file.unlink()
    extended.snakemake(*OVERLAY, "--", "toy_scan")
    assert sweep_table(extended) == table


def test_values_in_front_that_fill_a_bundle_leave_the_other_bundles_as_they_are(extended):
    before = list(bundles(extended))
    in_front = [0.001, 0.002, 0.003, 0.004]
    steps = snakemake_and_count_steps(extended, *sweep(extended, bundle=4, rate=[*in_front, *EXTENDED]))
    assert steps == dict.fromkeys(in_front, STEPS)
    assert list(bundles(extended))[1:] == before


def test_a_table_that_another_bundle_puts_away_meanwhile_is_kept(tmp_path, monkeypatch):
    in_results, resume = tmp_path / "metrics/scan@before.parquet", tmp_path / "resume"
    in_resume = resume / in_results.name
    write_arrow(in_results, pa.table({"value": [1.0]}), {"contents": {"scan--rate-0.03": ["fingerprint of 0.03", 1]}})

    def read_before_it_is_moved(file):
        stamp = read_stamp(file)
        if file == in_results:  # the other bundle's job moves it now
            resume.mkdir()
            in_results.replace(in_resume)
        return stamp

    monkeypatch.setattr(bundle, "read_stamp", read_before_it_is_moved)
    bundle._put_away(tmp_path / "metrics/scan@now.parquet", resume, {"scan--rate-0.01": ["fingerprint of 0.01", 1]})
    assert in_resume.exists()


def test_a_table_whose_runs_are_all_in_the_new_one_is_deleted(tmp_path):
    contents = {"scan--rate-0.01": ["fingerprint of 0.01", 1]}
    before = tmp_path / "metrics/scan@before.parquet"
    write_arrow(before, pa.table({"value": [1.0]}), {"contents": contents})
    bundle._put_away(tmp_path / "metrics/scan@now.parquet", tmp_path / "resume", contents)
    assert list(tmp_path.glob("*/scan@before.parquet")) == []


def test_a_second_axis_with_the_value_of_all_runs_simulates_only_its_other_value(extended):
    table = sweep_table(extended)
    steps = snakemake_and_count_steps(extended, *sweep(extended, bundle=4, rate=EXTENDED, steps=[STEPS, 10]))
    assert steps == dict.fromkeys(EXTENDED, 10)
    runs = [run for names in bundles(extended).values() for run in names]
    assert len(runs) == len(set(runs)) == 2 * len(EXTENDED)
    assert results(extended, "resume") == []  # where tables of other bundles are kept meanwhile
    # without that axis the sweep has its previous table
    extended.snakemake(*sweep(extended, bundle=4, rate=EXTENDED))
    assert sweep_table(extended) == table


# -- tables and failures -----------------------------------------------------------------------------------------------


@pytest.fixture
def swept_rows(clean) -> list[pd.DataFrame]:
    """The tables of bundles of two, of a sweep over three rates and two values of `every`."""
    clean.snakemake(*sweep(clean, bundle=2, rate=[0.01, 1, 2.5], every=[1, 4]))
    return [pd.read_parquet(file) for file in results(clean, "metrics")]


def test_each_row_of_a_bundle_has_the_values_of_what_was_swept(swept_rows):
    # whatever values a bundle has: a rate of 1 is real as well
    types = {(table["rate"].dtype.name, table["every"].dtype.name) for table in swept_rows}
    assert types == {("float64", "int64")}
    pairs = pd.concat(swept_rows)[["rate", "every"]].drop_duplicates().itertuples(index=False, name=None)
    assert sorted(pairs) == [(0.01, 1), (0.01, 4), (1, 1), (1, 4), (2.5, 1), (2.5, 4)]


def test_the_rows_of_a_bundle_are_of_the_runs_whose_values_they_have(swept_rows):
    table = pd.concat(swept_rows)
    at_end = table[(table["seed"] == 0) & (table["time"] == STEPS)].drop_duplicates("rate").set_index("rate")["value"]
    for rate in (1, 2.5):
        # from one start x_n = (1 + rate)^n x_0
        assert at_end[rate] / at_end[0.01] == pytest.approx(((1 + rate) / 1.01) ** STEPS), rate


def test_a_run_that_fails_leaves_the_other_runs_of_its_bundle_alone(clean):
    # (1 + 1e300)^2 is no finite number
    ended = clean.snakemake(*sweep(clean, bundle=4, rate=[0.01, 1e300, 0.02, 0.03]), check=False)
    assert ended.returncode == 1
    assert "1 of 4 runs failed" in ended.stdout + ended.stderr
    assert "scan--rate-1e+300: growth left the finite numbers" in ended.stdout + ended.stderr
    assert results(clean, "metrics") == []
    # once the rate is correct, only this run is simulated
    steps = snakemake_and_count_steps(clean, *sweep(clean, bundle=4, rate=[0.01, 0.5, 0.02, 0.03]))
    assert steps == {0.5: STEPS}
    assert len(results(clean, "metrics")) == 1  # the bundle of all four
    assert results(clean, "resume") == []  # where the rows of the three were kept
