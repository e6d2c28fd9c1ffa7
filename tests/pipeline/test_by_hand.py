"""Commands and files that a person gives in place of Snakemake: held to what the configuration would be held to."""

import json
from pathlib import Path

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands import cli
from learning_dynamics.pipeline.commands.replication import claim_fingerprints
from learning_dynamics.pipeline.store.tables import write_table
from learning_dynamics.pipeline.study.config import load
from learning_dynamics.pipeline.study.project import Project
from learning_dynamics.pipeline.study.stale_outputs import joined_of_other_versions
from tests.pipeline.test_parquet import COLUMNS, table

PAPER = "softmax_dynamics"


def refused(capsys, *arguments: str) -> str:
    assert cli.main(arguments) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


# -- settings --------------------------------------------------------------------------------------------------------

DRAWN = {"samples": 5, "inputs": 10, "outputs": 3, "teacher": 1.0, "seeds": 2, "seed": 1}
FLOW = {
    "width": 20, "gamma": 0.1, "seed": 1,
    "integration": {"horizon": 1.0, "points": 3, "residual": 0.1, "patience": 10.0, "rtol": 1e-3, "atol": 1e-3},
}  # fmt: skip


@pytest.mark.parametrize(
    ("given", "mend"),
    [
        ({"samples": -1}, "--spec: settings.samples: must be 1 or more (is -1)"),
        ({"samples": 2.5}, "must be a whole number"),
        ({"samples": True}, "must be a whole number"),
        ({"teacher": float("nan")}, "--spec: settings.teacher: must be a finite number"),
        ({"seed": -5}, "--spec: settings.seed: must be 0 or more"),
        ({"smples": 5}, "settings.smples: unknown setting of `gaussian`; did you mean `samples`?"),
    ],
)
def test_settings_of_a_data_set_are_checked(tmp_path, capsys, given, mend):
    spec = json.dumps({"source": "problems.gaussian", "settings": DRAWN | given})
    assert mend in refused(capsys, "data", "spectral_bias", "x", "--spec", spec, "--out", str(tmp_path / "x.npz"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("kind", "settings", "mend"),
    [
        ("flow.linear_flow", FLOW | {"gamma": "x"}, "--spec: settings.gamma: must be a number"),
        ("flow.linear_flow", FLOW | {"width": 0}, "--spec: settings.width: must be 1 or more"),
        ("flow.linear_flow", {}, "missing; add it"),
        ("flow.linear_flow", FLOW, "--data: `flow.linear_flow` takes a data set; name its .npz"),
    ],
)
def test_settings_of_a_run_are_checked_and_so_is_whether_it_takes_data(tmp_path, capsys, kind, settings, mend):
    spec = json.dumps({"kind": kind, "settings": settings})
    assert mend in refused(capsys, "run", "spectral_bias", "x", "--spec", spec, "--out", str(tmp_path / "x.npz"))


# -- seeds -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def judged(tmp_path, monkeypatch) -> Project:
    """Claims of the configured seed, in ``results``."""
    monkeypatch.chdir(tmp_path)
    project = Project(load((), {"papers": [PAPER]}))
    record = {"settings": {}, "name": "claims", "fingerprint": project.fingerprint("claims", PAPER, "claims")}
    write_table(f"results/{PAPER}/claims.parquet", table(), COLUMNS, record)
    return project


CONFIG = {"files": [], "given": {}}


def test_claims_are_of_the_seed_under_which_they_are_compared(judged):
    made = claim_fingerprints({str(judged.study.seed): "results"}, [PAPER], CONFIG)
    assert list(made) == [f"{judged.study.seed}/{PAPER}"]
    with pytest.raises(ProjectError, match=r"claims of seed 7: .* was made by other settings"):
        claim_fingerprints({"7": "results"}, [PAPER], CONFIG)
    Path("smoke.yaml").write_text("scale: smoke\noverlays: [workflow/config/smoke]\n")
    with pytest.raises(ProjectError, match="was made by other settings"):
        claim_fingerprints({str(judged.study.seed): "results"}, [PAPER], {"files": ["smoke.yaml"], "given": {}})


@pytest.mark.parametrize(
    ("folders", "papers", "mend"),
    [
        ({}, [PAPER], "at least one seed"),
        ({"2023": "results"}, [PAPER, PAPER], "each paper once"),
        ({"x": "results"}, [PAPER], "seed 'x': write a whole number"),
        ({"02023": "results"}, [PAPER], "write a whole number"),
        ({"2023": 3}, [PAPER], "and its folder of results"),
        ({"2023": "nowhere"}, [PAPER], "no such file"),
        ({"2023": "results"}, ["softmax"], "did you mean `softmax_dynamics`?"),
    ],
)
def test_folders_that_hold_no_seeds_claims_are_refused(judged, folders, papers, mend):
    with pytest.raises(ProjectError) as error:
        claim_fingerprints(folders, papers, CONFIG)
    assert mend in str(error.value)


def test_verdicts_under_seeds_are_told_to_be_of_other_versions(judged):
    made = {f"{judged.study.seed}/{PAPER}": judged.fingerprint("claims", PAPER, "claims")}
    for told, wrong in ((made, False), ({f"7/{PAPER}": "other"}, True), ({"7/gone": "other"}, True), (None, True)):
        settings = {} if told is None else {"made": told}
        write_table("results/replication.parquet", table(), COLUMNS, {"settings": settings, "name": "replication"})
        assert (joined_of_other_versions(judged, Path("results/replication.parquet")) is not None) == wrong
