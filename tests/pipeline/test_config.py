"""The configuration: mistakes are refused with file, key and mend; sweeps and inheritance resolve."""

from __future__ import annotations

import copy
import math

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.config import Project, load_config, sweep_members
from tests.support import ROOT, SCHEMA, project

RAW = load_config(ROOT / "config.yaml")
BIAS = ("papers", "spectral_bias")
LARGE = (*BIAS, "runs", "large_scale")


def changed(path, value):
    raw = copy.deepcopy(RAW)
    block = raw
    for key in path[:-1]:
        block = block.setdefault(key, {})
    block[path[-1]] = value
    return raw


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("seeed",), 1, "top level: unknown key `seeed`; did you mean `seed`?"),
        (("seed",), "x", "seed: must be of type integer (is 'x')"),
        ((*BIAS, "rnus"), {}, "papers.spectral_bias: unknown key `rnus`; did you mean `runs`?"),
        ((*LARGE, "widht"), 3, "runs.large_scale.widht: unknown setting of `linear_flow`; did you mean `width`?"),
        ((*LARGE, "width"), -3, "runs.large_scale.width: must be 1 or more (is -3)"),
        ((*LARGE, "width"), 2.5, "runs.large_scale.width: must be a whole number (is 2.5)"),
        ((*LARGE, "gamma"), 0.0, "runs.large_scale.gamma: must be above 0.0 (is 0.0)"),
        ((*LARGE, "gamma"), -1.0, "runs.large_scale.gamma: must be above 0.0 (is -1.0)"),
        ((*LARGE, "gamma"), math.nan, "runs.large_scale.gamma: must be a finite number (is nan)"),
        ((*LARGE, "gamma"), "1e-4", "runs.large_scale.gamma: must be a number (YAML reads 1e-4 as text: write 1.0e-4)"),
        ((*LARGE, "init"), "zero", "runs.large_scale.init: must be 'orthogonal' or 'gaussian' (is 'zero')"),
        ((*LARGE, "kind"), "linear_flaw", "no function `linear_flaw` in papers/spectral_bias/runs; did you mean"),
        ((*LARGE, "data"), "regression", "papers.spectral_bias.data: no data set `regression`; did you mean"),
        ((*BIAS, "runs", "small_scale", "like"), "big", "papers.spectral_bias.runs: no run `big`"),
        ((*BIAS, "runs", "small_scale", "like"), "small_scale", "refers back to itself"),
        ((*BIAS, "figures", "fig1a", "runs"), ["tiny_scale"], "figures.fig1a.runs: no run `tiny_scale`"),
        ((*BIAS, "figures", "fig9"), {"runs": []}, "figures.fig9: no function `fig9`"),
        ((*BIAS, "claims", "lemma_3_2", "expected"), "fine", "claims.lemma_3_2.expected: must be one of reproduced"),
        ((*BIAS, "claims", "lemma_3_2", "expected"), ["reproduced", "fine"], "expected.1: must be one of reproduced"),
        ((*BIAS, "claims", "lemma_9"), {"runs": [], "expected": "untested"}, "claims.lemma_9: no function `lemma_9`"),
        ((*BIAS, "provenance", "width"), "guessed", "papers.spectral_bias.provenance.width"),
        ((*BIAS, "data", "vector_regression", "source"), "regresion.gaussian", "no module `regresion`"),
        (("papers", "spectral_bais"), RAW["papers"]["spectral_bias"], "papers.spectral_bais: unknown paper"),
    ],
)
def test_a_mistake_is_one_line_with_file_key_and_mend(path, value, message):
    with pytest.raises(ProjectError) as refused:
        Project(changed(path, value), SCHEMA, file="config.yaml")
    assert message in str(refused.value)
    assert str(refused.value).startswith("config.yaml: ")
    assert "\n" not in str(refused.value)


def test_a_setting_without_provenance_is_refused():
    raw = copy.deepcopy(RAW)
    del raw["papers"]["spectral_bias"]["provenance"]["width"]
    with pytest.raises(ProjectError, match=r"width: where does it come from\? add it to .*provenance"):
        Project(raw, SCHEMA)


def test_a_missing_setting_is_named():
    raw = copy.deepcopy(RAW)
    del raw["papers"]["spectral_bias"]["runs"]["large_scale"]["horizon"]
    with pytest.raises(ProjectError, match=r"large_scale\.horizon: missing; add it"):
        Project(raw, SCHEMA)


def test_inheritance_keeps_what_is_not_said_again():
    run = Project(RAW, SCHEMA).run("spectral_bias", "small_scale")
    large = Project(RAW, SCHEMA).run("spectral_bias", "large_scale")
    assert run["settings"] == {**large["settings"], "gamma": 1.0e-4}


def test_the_root_seed_reaches_every_run_and_data_set_that_draws():
    project = Project(changed(("seed",), 77), SCHEMA)
    assert project.run("spectral_bias", "large_scale")["settings"]["seed"] == 77
    assert project.data("spectral_bias", "vector_regression")["settings"]["seed"] == 77


def test_a_sweep_is_the_product_of_its_values():
    members = sweep_members("flow", {"width": [20, 40], "gamma": [1.0, 0.5]})
    assert [name for name, _ in members] == [
        "flow--width-20--gamma-1.0",
        "flow--width-20--gamma-0.5",
        "flow--width-40--gamma-1.0",
        "flow--width-40--gamma-0.5",
    ]
    assert members[1][1] == {"width": 20, "gamma": 0.5}


def test_a_swept_run_is_expanded_for_figures_and_checked_member_by_member():
    sweep = {"like": "small_scale", "sweep": {"width": [20, 40]}}
    raw = changed((*BIAS, "runs", "widths"), sweep)
    raw["papers"]["spectral_bias"]["figures"]["fig1a"]["runs"] = ["widths"]
    project = Project(raw, SCHEMA)
    assert project.figure_runs("spectral_bias", "fig1a") == ["widths--width-20", "widths--width-40"]
    assert project.run("spectral_bias", "widths--width-40")["settings"]["width"] == 40
    sweep["sweep"]["width"].append(-1)
    with pytest.raises(ProjectError, match="width: must be 1 or more"):
        Project(raw, SCHEMA)


def test_overlays_change_only_what_they_name():
    smoke = load_config(ROOT / "config.yaml", ROOT / "workflow/config/smoke.yaml")
    large = smoke["papers"]["spectral_bias"]["runs"]["large_scale"]
    assert large["width"] == 12
    assert large["gamma"] == RAW["papers"]["spectral_bias"]["runs"]["large_scale"]["gamma"]


@pytest.mark.parametrize("overlay", ["smoke", "full"])
def test_shipped_overlays_are_valid(overlay):
    Project(load_config(ROOT / "config.yaml", ROOT / f"workflow/config/{overlay}.yaml"), SCHEMA)


def test_every_choice_has_a_reason():
    project = Project(RAW, SCHEMA)
    for paper in project.papers:
        for row in project.chosen(paper):
            assert row["reason"] or row["origin"] == "code", row


@pytest.mark.parametrize("overlay", sorted((ROOT / "workflow/config").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_overlay_that_is_shipped_fits(overlay):
    laid_over = project(ROOT / "config.yaml", overlay)
    for paper in laid_over.papers:
        for run in laid_over.runs(paper):
            assert laid_over.run(paper, run)["kind"]
