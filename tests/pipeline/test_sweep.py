"""A generated sweep is a configuration that the project accepts, of as many runs as were asked for."""

import pytest
import yaml

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline import cli
from learning_dynamics.pipeline.config import Project, _overlay, load_config
from learning_dynamics.pipeline.stages.sweep import axis
from tests.support import ROOT, SCHEMA


def test_ten_thousand_runs_from_one_line(capsys):
    assert (
        cli.main(["sweep", "spectral_bias", "small_scale", "--vary", "gamma=1e-6:1:100:log", "width=100:199:100"]) == 0
    )
    config = load_config(ROOT / "config.yaml")
    before = len(Project(config, SCHEMA).runs("spectral_bias"))
    _overlay(config, yaml.safe_load(capsys.readouterr().out))
    project = Project(config, SCHEMA)
    assert len(project.runs("spectral_bias")) == before + 10_000
    settings = project.run("spectral_bias", "small_scale_sweep--gamma-1e-06--width-150")["settings"]
    assert (settings["gamma"], settings["width"]) == (1e-6, 150)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("gamma=1e-6:1:7:log", [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0]),
        ("width=10:50:5", [10, 20, 30, 40, 50]),
        ("gamma=0.0:1:3", [0.0, 0.5, 1.0]),
        ("init=orthogonal,gaussian", ["orthogonal", "gaussian"]),
        ("gamma=1e-4,2", [1e-4, 2]),
    ],
)
def test_axis(text, values):
    setting, found = axis(text)
    assert setting == text.partition("=")[0]
    assert found == values
    assert [type(value) for value in found] == [type(value) for value in values]


@pytest.mark.parametrize(
    "text", ["gamma", "gamma=", "gamma=1:2", "gamma=1:2:3:exp", "gamma=0:1:3:log", "width=1:2:3:4:5"]
)
def test_malformed_axes_name_the_grammar(text):
    with pytest.raises(ProjectError, match="SETTING=FIRST:LAST:COUNT"):
        axis(text)


def test_values_that_round_to_the_same_are_refused():
    with pytest.raises(ProjectError, match="the same"):
        axis("width=1:3:10")
