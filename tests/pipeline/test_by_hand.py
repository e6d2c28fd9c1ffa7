"""Commands and files that a person gives in place of Snakemake: held to what the configuration would be held to."""

import json

import pytest

from learning_dynamics.pipeline.commands import cli

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
