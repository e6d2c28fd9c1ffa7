"""A paper begun by the skeleton builds, passes its own test, and is written only where nothing lies."""

import shutil
import sys

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands import new
from learning_dynamics.pipeline.study.config import read_yaml
from tests.pipeline.conftest import fresh
from tests.support import ROOT


def test_a_new_paper_passes_its_own_test_and_the_linters(tmp_path):
    workspace = fresh(tmp_path / "project")
    shutil.copy(ROOT / "pyproject.toml", workspace.folder)
    assert "next: snakemake --cores all begun" in workspace.stage("new", "begun").stdout
    assert read_yaml(workspace.folder / "config.yaml")["papers"][-1] == "begun"
    workspace.variables["PYTHONPATH"] = f"{workspace.folder}/src:{workspace.folder}"
    tested = workspace.run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/papers/begun")
    assert tested.returncode == 0, tested.stdout
    for command in (["check"], ["format", "--check"]):
        linted = workspace.run(
            sys.executable, "-m", "ruff", *command, "--no-cache", "src/learning_dynamics/papers/begun", "tests"
        )
        assert linted.returncode == 0, linted.stdout


def test_what_is_there_is_not_overwritten(tmp_path):
    new.execute("begun", tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(ProjectError, match="is there already; choose another name"):
        new.execute("begun", tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "name", ["Begun", "be-gun", "../begun", "", "1begun", "be gun", "class", "toy/x", "_x", "ünder"]
)
def test_a_name_that_is_none_is_refused(tmp_path, name):
    with pytest.raises(ProjectError, match="a paper's name"):
        new.execute(name, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["all", "run", "page", "robustness", "scratch_run"])
def test_a_name_of_a_rule_is_refused(tmp_path, name):
    with pytest.raises(ProjectError, match="is the name of a rule"):
        new.execute(name, tmp_path)
    assert not list(tmp_path.iterdir())
