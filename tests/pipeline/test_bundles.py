"""Members of a sweep that one job runs and measures: the same numbers, told apart, and none lost with another."""

import yaml

from learning_dynamics.pipeline.store.tables import read_provenance
from tests.pipeline.conftest import Workspace

METRICS = "results/toy/metrics"
RATES = [0.01, 0.02, 0.03, 0.04, 0.05]


def sweep(workspace: Workspace, bundle: int | None, **axes) -> list[str]:
    """Write `scan.yaml`, a sweep of the run `slow`, and return Snakemake's arguments for it."""
    scan = {"extends": "slow", "sweep": axes} | ({} if bundle is None else {"bundle": bundle})
    figure = {"function": "growth.growth", "runs": {"slow": "scan", "fast": "fast"}}
    changes = {"runs": {"scan": scan}, "figures": {"scanned": figure}}
    workspace.write("scan.yaml", yaml.safe_dump({"changes": {"toy": changes}}, sort_keys=False))
    return ["--configfile", "scan.yaml", "--", "toy_scan"]


def read(workspace: Workspace) -> str:
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


def made(workspace: Workspace) -> list[str]:
    return sorted(path.stem for path in (workspace.folder / METRICS).glob("scan*.parquet"))


def test_bundles_hold_what_their_members_would_and_are_read_as_they(clean):
    axes = {"rate": RATES, "every": [1, 4]}
    clean.snakemake(*sweep(clean, None, **axes))
    alone = read(clean)
    assert "'draw': ('seed',)" in alone
    assert len(made(clean)) == 10
    log = clean.folder / "steps.log"
    clean.variables["GROWTH_LOG"] = str(log)
    arguments = sweep(clean, 4, **axes)
    clean.snakemake(*arguments, "figures/toy/scanned.png")
    assert made(clean)[-3:] == [f"scan@000{number}" for number in (1, 2, 3)]
    assert read(clean) == alone
    # a trajectory serves all members that differ in measuring alone; none is kept, and `fast` has its own already
    steps = [line.split()[0] for line in log.read_text().splitlines()]
    assert {rate: steps.count(str(rate)) for rate in RATES} == dict.fromkeys(RATES, 40)
    assert clean.stage("check", "--configfile", "scan.yaml").returncode == 0
    assert "Nothing to be done" in clean.snakemake("--dry-run", *arguments).stdout
    record = read_provenance(clean.folder / METRICS / "scan@0003.parquet")
    assert (record["stage"], record["name"], len(record["members"])) == ("bundle", "scan@0003", 2)
    # a value that changes makes its own bundle again
    changed = sweep(clean, 4, rate=[*RATES[:4], 0.055], every=[1, 4])
    assert clean.would_run(*changed) == {f"{METRICS}/scan@0003.parquet"}
    # whoever reads a bundle verifies it
    (clean.folder / METRICS / "scan@0002.parquet").write_bytes(
        (clean.folder / METRICS / "scan@0001.parquet").read_bytes()
    )
    ended = clean.stage("check", "--configfile", "scan.yaml")
    assert ended.returncode == 1
    assert "scan@0002.parquet" in ended.stderr


def test_a_member_that_fails_leaves_the_others_alone(clean):
    log = clean.folder / "steps.log"
    clean.variables["GROWTH_LOG"] = str(log)
    ended = clean.snakemake(*sweep(clean, 4, rate=[0.01, 1e300, 0.02, 0.03]), check=False)
    assert ended.returncode == 1
    assert "1 of 4 members failed" in ended.stdout + ended.stderr
    assert "scan--rate-1e+300: growth left the finite numbers" in ended.stdout + ended.stderr
    assert made(clean) == []
    log.unlink()
    clean.snakemake(*sweep(clean, 4, rate=[0.01, 0.5, 0.02, 0.03]))
    assert {line.split()[0] for line in log.read_text().splitlines()} == {"0.5"}
    assert made(clean) == ["scan@0001"]
    assert not list((clean.folder / "results/toy/resume").glob("*.parquet"))
