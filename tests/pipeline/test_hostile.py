"""What somebody hostile or hurried gives: refused in one line that says what to do, before it costs anything."""

import os

import matplotlib as mpl
import numpy as np
import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands import api, cli
from learning_dynamics.pipeline.report.markdown import prose
from learning_dynamics.pipeline.store.pictures import matplotlib_defaults
from learning_dynamics.pipeline.study.plain_yaml import read_yaml
from learning_dynamics.trajectories import Trajectory

LONG = "x" * 300


def refused(action, *arguments, **settings) -> str:
    with pytest.raises(ProjectError) as error:
        action(*arguments, **settings)
    said = str(error.value)
    assert "\n" not in said
    assert len(said) < 700
    return said


# -- configuration ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["like", "sweep", "provenance", "resources", "measure", "measure_resources"])
def test_what_is_no_setting_is_neither_swept_nor_varied(configured, key):
    said = refused(configured, "runs.fast.sweep", {key: ["slow", "fast"]})
    assert f"runs.fast.sweep.{key}: is no setting of a run" in said
    configured("runs.fast.sweep", ...)
    said = refused(configured, "robustness.slow_steps.setting", key)
    assert "is no setting" in said


@pytest.mark.parametrize(
    ("path", "value", "mend"),
    [
        ("runs.fast.sweep", {"resources": [1]}, "is no setting"),
        ("runs.fast.sweep", {"rate": list(range(1, 400)), "steps": list(range(1, 400))}, "runs; sweep fewer values"),
        ("runs.fast.sweep", {"rate": [1.0], "steps": [10**290]}, "is too long for a file's name (313 characters, "),
        ("runs." + LONG, {"like": "slow"}, "must have 80 characters or fewer"),
        ("runs.f\n", {"like": "slow"}, "must match"),
        ("runs.fast.kind", "growth.growth\n", "must match"),
        ("runs.fast.resources", {"runtime": 2_000_000}, "must be 525600 or less"),
        ("runs.fast.resources", {"threads": 10**6}, "must be 1024 or less"),
        ("runs.fast.resources", {"mem_mb": 10**9}, "must be 16000000 or less"),
        ("data.starts.seed", 10**300, "must be 9223372036854775807 or less"),
        ("runs.fast.rate", "x" * 10_000, "must be a number"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_configuration_that_cannot_be_is_one_line(configured, path, value, mend):
    assert mend in refused(configured, path, value)


@pytest.mark.parametrize(
    ("given", "mend"),
    [
        ({"seeds": 300_000}, "seeds: must be 200 or less"),
        ({"seeds": 1.0}, "seeds: must be a whole number"),
        ({"seed": 7.0}, "seed: must be a whole number"),
        ({"seed": 10**300}, "seed: must be 9223372036854775807 or less"),
        ({"scale": "small\n"}, "scale: "),
        ({"scale": LONG}, "must have 80 characters or fewer"),
        ({"scale": "s", "changes": {"toy": {"data": {"more": {}}}}}, "data.more.source: missing; add it"),
        ({"seeds_of": ["toi"]}, "seeds_of: no paper `toi`; did you mean `toy`?"),
        ({"changes": {"toy": {"runs": {"fast": {1: 2}}}}}, "changes.toy.runs.fast: the key 1 is not text"),
    ],
    ids=lambda given: str(given)[:24],
)
def test_values_of_the_command_line_that_cannot_be_are_one_line(configured, given, mend):
    assert mend in refused(configured, **given)


# -- commands --------------------------------------------------------------------------------------------------------

DATA = ("data", "spectral_bias", "x", "--spec", '{"source": "x.y", "settings": {}}', "--out")
JOINED = ("robustness", "--results", "results", "--out", "a.parquet", "--markdown", "a.md", "--csv")
SWEEP = ("sweep", "spectral_bias", "small_scale", "--vary")


@pytest.mark.parametrize(
    ("arguments", "mend"),
    [
        ([*SWEEP, "gamma=1:2:100000000"], "ask for at most 100000"),
        ([*SWEEP, "like=slow,fast"], "the run has no setting `like`"),
        ([*SWEEP, "gamma=1,2", "--called", "f\n"], "must match"),
        ([*SWEEP, "gamma=1,2", "--called", LONG], "must have 80 characters or fewer"),
        ([*SWEEP, "gamma=1,2", "--out", "pipe.yaml"], "is no file that could be replaced"),
        (["verdicts", "table.parquet"], "has other columns than are looked for here"),
        (["compare", "table.parquet"], "has other columns than are looked for here"),
        (["new", "f\n"], "a paper's name"),
        (["new", LONG], "a paper's name"),
        # before anything is computed
        ([*JOINED, "new.csv"], "results: nothing there was judged again; run: snakemake robustness"),
    ],
    ids=lambda arguments: " ".join(arguments)[-24:],
)
def test_a_command_is_refused_in_one_line_and_overwrites_nothing(tmp_path, monkeypatch, capsys, arguments, mend):
    from tests.pipeline.test_parquet import COLUMNS, RECORD, table, write_table

    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "config.yaml").write_text("mine: 1\n")
    write_table("table.parquet", table(), COLUMNS, RECORD)
    for name in ("pipe.yaml", "pipe.parquet"):
        os.mkfifo(name)
    (tmp_path / "folder.npz").mkdir()
    for name in ("mine.npz", "mine.csv"):
        (tmp_path / name).write_text("mine\n")
    assert cli.main(arguments) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert mend in said
    assert (tmp_path / "config.yaml").read_text() == "mine: 1\n"


def test_a_sweep_may_be_written_again_over_its_own_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for values in ("1,2", "2,3"):
        assert cli.main([*SWEEP, f"gamma={values}", "--out", "mine.yaml"]) == 0
    assert read_yaml(tmp_path / "mine.yaml")["changes"]["spectral_bias"]["runs"]["small_scale_sweep"]["sweep"] == {
        "gamma": [2.0, 3.0]
    }


# -- notebooks -------------------------------------------------------------------------------------------------------

RUN = ("spectral_bias", "small_scale")


@pytest.mark.parametrize(
    ("asked", "mend"),
    [
        (lambda: api.table(1, 2), "no paper `1`"),
        (lambda: api.table("spectral_bias", ["x"]), "no run `['x']`"),
        (lambda: api.figure("spectral_bias", "fig1a", look="x"), "no look `x`; known are: paper, talk, thesis"),
        (lambda: api.simulate(*RUN, seeds=0), "seeds: must be 1 or more"),
        (lambda: api.simulate(*RUN, samples=-1), "samples: must be 1 or more"),
        (lambda: api.simulate(*RUN, samples=[[5, 7]]), "samples: must be a whole number"),
        (lambda: api.simulate(*RUN, gamma=float("nan")), "gamma: must be"),
        (lambda: api.measure(*RUN, Trajectory(np.arange(2.0), {"x": np.zeros((1, 2))})), "of nothing known"),
        (
            lambda: api.measure(*RUN, Trajectory(np.arange(2.0), {}, settings={"kind": "noise.ensemble"})),
            "this trajectory is of noise.ensemble",
        ),
    ],
)
def test_a_notebooks_mistake_is_one_line(asked, mend):
    assert mend in refused(asked)


def test_a_seed_is_that_of_data_and_run_and_may_be_numpys():
    few = {"seeds": 1, "width": 12, "samples": 3, "inputs": 6, "integration": {"points": 3, "horizon": 0.1}}
    one, other = (api.simulate(*RUN, **few, seed=seed) for seed in (7, np.int64(8)))
    assert not np.array_equal(one.constants["X"], other.constants["X"])


# -- drawing and words -----------------------------------------------------------------------------------------------


def test_a_matplotlibrc_changes_nothing():
    with mpl.rc_context({"axes.facecolor": "red", "lines.linewidth": 9}):
        with matplotlib_defaults():
            assert mpl.rcParams["axes.facecolor"] == mpl.rcParamsDefault["axes.facecolor"]
            assert mpl.rcParams["lines.linewidth"] == mpl.rcParamsDefault["lines.linewidth"]
        assert mpl.rcParams["axes.facecolor"] == "red"


def test_words_are_no_markup():
    assert prose("<script>x</script> [a](javascript:b)") == r"\<script\>x\</script\> [a\](javascript:b)"
