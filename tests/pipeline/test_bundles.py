"""Runs of a sweep that one job simulates and measures: the same numbers, told apart, and none lost with another."""

from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
import yaml

from learning_dynamics.pipeline.store.tables import read_stamp
from tests.pipeline.conftest import Workspace

METRICS = "results/toy/metrics"
RATES = [0.01, 0.02, 0.03, 0.04, 0.05]


def sweep(workspace: Workspace, bundle: int | None, **axes) -> list[str]:
    """Write `scan.yaml`, a sweep of the run `slow`, and return Snakemake's arguments for it."""
    scan: dict = {"extends": "slow", "sweep": axes}
    if bundle is not None:
        scan["bundle"] = bundle
    figure = {"function": "growth.growth", "runs": {"slow": "scan", "fast": "fast"}}
    changes = {"runs": {"scan": scan}, "figures": {"scanned": figure}}
    workspace.write("scan.yaml", yaml.safe_dump({"changes": {"toy": changes}}, sort_keys=False))
    return ["--configfile", "scan.yaml", "--", "toy_scan"]


def sweep_table(workspace: Workspace) -> str:
    """Return the sweep's table, as one process of the folder reads it."""
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


def names_of_tables(workspace: Workspace) -> list[str]:
    return sorted(path.stem for path in (workspace.folder / METRICS).glob("scan*.parquet"))


def tables_of(workspace: Workspace) -> list[str]:
    """Return the names of the sweep's tables of metrics in the order of its runs, those of no run last."""
    names = {path.stem: read_stamp(path).get("contents", {}) for path in results(workspace, "metrics")}
    return sorted(names, key=lambda name: min(map(rate_of, names[name]), default=1000))


def results(workspace: Workspace, folder: str) -> list[Path]:
    return sorted((workspace.folder / "results/toy" / folder).glob("scan*.parquet"))


def rate_of(run: str) -> float:
    return float(run.split("--rate-")[1].partition("--")[0])


def steps_by_rate(workspace: Workspace, *arguments: str) -> dict[float, int]:
    """Run Snakemake; return how many steps were made for each rate."""
    log = workspace.folder / "steps.log"
    log.unlink(missing_ok=True)
    workspace.variables["GROWTH_LOG"] = str(log)
    workspace.snakemake(*arguments)
    if not log.exists():
        return {}
    return dict(Counter(float(line.split()[0]) for line in log.read_text().splitlines()))


def test_bundles_hold_what_their_runs_would_and_are_read_as_they(clean):
    axes = {"rate": RATES, "every": [1, 4]}
    clean.snakemake(*sweep(clean, None, **axes))
    alone = sweep_table(clean)
    assert "'draw': ('seed',)" in alone
    assert len(names_of_tables(clean)) == 10
    arguments = sweep(clean, 4, **axes)
    # a trajectory serves all runs that differ in measuring alone; none is kept, and `fast` has its own already
    steps = steps_by_rate(clean, *arguments, "figures/toy/scanned.png")
    assert {rate: steps[rate] for rate in RATES} == dict.fromkeys(RATES, 40)
    bundles = [name for name in tables_of(clean) if "@" in name]
    assert len(bundles) == 3
    assert sweep_table(clean) == alone
    for table in results(clean, "metrics"):
        if "--rate" in table.name:
            table.unlink()
    assert clean.cli("check", "--configfile", "scan.yaml").returncode == 0
    assert "Nothing to be done" in clean.snakemake("--dry-run", *arguments).stdout
    record = read_stamp(clean.folder / METRICS / f"{bundles[2]}.parquet")
    assert (record["stage"], record["name"], len(record["contents"])) == ("bundle", bundles[2], 2)
    # whoever reads a bundle verifies it
    first, second = (clean.folder / METRICS / f"{name}.parquet" for name in bundles[:2])
    second.write_bytes(first.read_bytes())
    ended = clean.cli("check", "--configfile", "scan.yaml")
    assert ended.returncode == 1
    assert second.name in ended.stderr


def test_a_run_of_a_bundle_is_found_by_its_values(clean):
    assert steps_by_rate(clean, *sweep(clean, 4, rate=RATES)) == dict.fromkeys(RATES, 40)
    before = tables_of(clean)
    # values in front and at the end: every bundle has other runs now, and no value is simulated again
    more = [0.005, 0.007, *RATES, 0.06]
    assert steps_by_rate(clean, *sweep(clean, 4, rate=more)) == {0.005: 40, 0.007: 40, 0.06: 40}
    assert len(tables_of(clean)) == 2
    assert not set(before) & set(tables_of(clean))
    assert "Nothing to be done" in clean.snakemake("--dry-run", "--configfile", "scan.yaml", "--", "toy_scan").stdout
    extended = sweep_table(clean)
    # as many in front as make a bundle leave the others as they are
    fewer = [0.001, 0.002, 0.003, 0.004]
    assert steps_by_rate(clean, *sweep(clean, 4, rate=[*fewer, *more])) == dict.fromkeys(fewer, 40)
    # of two settings, one of whose values all runs had, the others are new
    both = sweep(clean, 4, rate=[*fewer, *more], steps=[40, 10])
    assert steps_by_rate(clean, *both) == dict.fromkeys(fewer + more, 10)
    assert results(clean, "resume") == []
    runs = [name for file in results(clean, "metrics") for name in read_stamp(file)["contents"]]
    assert len(runs) == len(set(runs)) == 24
    # a table is that of a sweep that was made at once
    sweep(clean, 4, rate=more)
    clean.snakemake("--configfile", "scan.yaml", "--", "toy_scan")
    assert sweep_table(clean) == extended
    for file in results(clean, "metrics"):
        file.unlink()
    steps_by_rate(clean, "--configfile", "scan.yaml", "--", "toy_scan")
    assert sweep_table(clean) == extended


def test_a_bundle_says_of_each_row_what_was_swept(clean):
    clean.snakemake(*sweep(clean, 2, rate=[0.01, 1, 2.5], every=[1, 4]))
    frames = [pd.read_parquet(file) for file in results(clean, "metrics")]
    together = pd.concat(frames).sort_values(["rate", "every", "seed", "time"])
    kinds = {(frame["rate"].dtype.name, frame["every"].dtype.name) for frame in frames}
    assert kinds == {("float64", "int64")}  # whatever values a bundle has
    pairs = together[["rate", "every"]].drop_duplicates().itertuples(index=False, name=None)
    assert list(pairs) == [(rate, every) for rate in (0.01, 1, 2.5) for every in (1, 4)]
    last = together[(together["seed"] == 0) & (together["time"] == 40)].drop_duplicates("rate")
    growth = (last["value"] / last["value"].iloc[0]).tolist()
    assert growth == pytest.approx([((1 + rate) / 1.01) ** 40 for rate in last["rate"]])


def test_a_run_that_fails_leaves_the_others_alone(clean):
    ended = clean.snakemake(*sweep(clean, 4, rate=[0.01, 1e300, 0.02, 0.03]), check=False)
    assert ended.returncode == 1
    assert "1 of 4 runs failed" in ended.stdout + ended.stderr
    assert "scan--rate-1e+300: growth left the finite numbers" in ended.stdout + ended.stderr
    assert names_of_tables(clean) == []
    assert set(steps_by_rate(clean, *sweep(clean, 4, rate=[0.01, 0.5, 0.02, 0.03]))) == {0.5}
    assert len(names_of_tables(clean)) == 1
    assert results(clean, "resume") == []
