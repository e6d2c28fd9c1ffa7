"""Members of a sweep that one job runs and measures: the same numbers, told apart, and none lost with another."""

import json

import yaml

from learning_dynamics.pipeline.store.tables import read_provenance
from learning_dynamics.pipeline.config.sweeps import sweep_tables
from tests.pipeline.conftest import Workspace

METRICS = "results/toy/metrics"
RATES = [0.01, 0.02, 0.03, 0.04, 0.05]
SCAN = {"like": "slow", "sweep": {"rate": [0.1, 0.2]}, "bundle": 2}


def sweep(workspace: Workspace, bundle: int | None, **axes) -> list[str]:
    """Write `scan.yaml`, a sweep of the run `slow`, and return Snakemake's arguments for it."""
    scan = {"like": "slow", "sweep": axes} | ({} if bundle is None else {"bundle": bundle})
    workspace.write("scan.yaml", yaml.safe_dump({"changes": {"toy": {"runs": {"scan": scan}}}}, sort_keys=False))
    return ["--configfile", "scan.yaml", "--", "toy_scan"]


def read(workspace: Workspace) -> str:
    """Return the sweep's table, as one process of the folder reads it."""
    code = """
from pathlib import Path
from learning_dynamics.pipeline.config.config import load
from learning_dynamics.pipeline.config.project import Plan
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


def test_bundles_hold_what_their_members_would(clean):
    axes = {"rate": RATES, "every": [1, 4]}
    clean.snakemake(*sweep(clean, None, **axes))
    alone = read(clean)
    assert "'draw': ('seed',)" in alone
    assert len(made(clean)) == 10
    log = clean.folder / "steps.log"
    clean.variables["GROWTH_LOG"] = str(log)
    clean.snakemake(*sweep(clean, 4, **axes))
    assert made(clean)[-3:] == [f"scan@000{number}" for number in (1, 2, 3)]
    assert read(clean) == alone
    # a trajectory serves all members that differ in measuring alone; none is kept
    assert len(log.read_text().splitlines()) == len(RATES) * 40
    assert clean.stage("check", "--configfile", "scan.yaml").returncode == 0
    assert "Nothing to be done" in clean.snakemake("--dry-run", *sweep(clean, 4, **axes)).stdout
    # whoever reads it verifies it
    (clean.folder / METRICS / "scan@0002.parquet").write_bytes(
        (clean.folder / METRICS / "scan@0001.parquet").read_bytes()
    )
    ended = clean.stage("check", "--configfile", "scan.yaml")
    assert ended.returncode == 1
    assert "scan@0002.parquet" in ended.stderr


def test_a_changed_value_reruns_its_bundle_alone(clean):
    clean.snakemake(*sweep(clean, 2, rate=RATES))
    changed = sweep(clean, 2, rate=[*RATES[:2], 0.035, *RATES[3:]])
    assert clean.would_run(*changed) == {f"{METRICS}/scan@0002.parquet"}


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


def test_figures_and_claims_read_bundles(clean):
    sweep(clean, 2, rate=[0.01, 0.02, 0.03])
    overlay = yaml.safe_load(clean.read("scan.yaml"))
    overlay["changes"]["toy"]["figures"] = {"growth": {"runs": {"slow": "scan", "fast": "fast"}}}
    overlay["scale"] = "scanned"
    clean.write("scan.yaml", yaml.safe_dump(overlay))
    clean.snakemake("--configfile", "scan.yaml", "--", "figures/scanned/toy/growth.png")
    made_of = read_provenance(clean.folder / "results/scanned/toy/metrics/scan@0002.parquet")
    assert (made_of["stage"], made_of["name"], len(made_of["members"])) == ("bundle", "scan@0002", 1)


def test_one_of_a_bundle_leaves_no_trajectory(clean):
    clean.configure("runs", "scan", value={**SCAN, "provenance": {"rate": {"chosen": "a scan"}}})
    code = "import learning_dynamics as ld; ld.trajectory('toy', 'scan--rate-0.1')"
    assert "bundles leave no trajectories" in clean.python("-c", code).stderr


def test_the_command_that_writes_sweeps_writes_bundles(built):
    ended = built.stage("sweep", "toy", "slow", "--vary", "steps=1:100:100", "--bundle", "30")
    assert ended.stdout.startswith("# 100 runs like slow of toy, 30 to a job")
    assert yaml.safe_load(ended.stdout)["changes"]["toy"]["runs"]["slow_sweep"]["bundle"] == 30
    ended = built.stage("sweep", "toy", "slow", "--vary", "steps=1:100:100", "--bundle", "-3")
    assert (ended.returncode, "--vary" in ended.stderr) == (1, True)


def test_tables_of_a_sweep():
    tables = sweep_tables("scan", {"rate": RATES}, 2)
    assert [len(members) for members in tables.values()] == [2, 2, 1]
    assert [differing["rate"] for members in tables.values() for _, differing in members] == RATES
    assert list(sweep_tables("scan", {"rate": RATES})) == [f"scan--rate-{rate}" for rate in RATES]


SPEC = {
    "kind": "growth.growth", "data": "starts", "settings": {"rate": 0.01, "steps": 4}, "measure": {"every": 1},
    "sweep": "scan", "axes": ["rate"], "members": [[0.1], [0.2]],
}  # fmt: skip


def test_orders_written_by_hand_are_refused_in_one_line(workspace):
    for changes, message in (
        ({"axes": ["data"], "members": [["other"]]}, "--data: the data set `other` is not among the files"),
        ({"axes": ["rtae"]}, "unknown setting of `growth`; did you mean `rate`?"),
        ({"members": [["fast"]]}, "--spec: scan--rate-fast: settings.rate: must be a number"),
    ):
        command = ["bundle", "toy", "scan@0001", "--data", "results/toy/data/starts.npz", "--out", "made/x.parquet"]
        ended = workspace.stage(*command, "--spec", json.dumps(SPEC | changes))
        assert ended.returncode == 1
        (line,) = ended.stderr.splitlines()
        assert message in line
        assert not (workspace.folder / "made/x.parquet").exists()
