"""The examples of README.md (a figure) and CONTRIBUTING.md (a paper, a topic, a claim) work as printed."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from learning_dynamics.pipeline.store.tables import read_table
from tests.pipeline.conftest import Workspace, fresh
from tests.support import ROOT


def apply_diffs(folder: Path, page: str) -> list[str]:
    """Apply a page's diffs to a folder, as `git apply` does; return the files that they touch."""
    text = (ROOT / page).read_text(encoding="utf-8")
    touched = []
    for diff in re.findall(r"```diff\n(.*?)```", text, re.DOTALL):
        command = ["git", "apply", "--verbose", "-"]
        ended = subprocess.run(command, cwd=folder, input=diff, capture_output=True, text=True)
        assert ended.returncode == 0, f"{page}:\n{diff}\n{ended.stderr}"
        touched += re.findall(r"^\+\+\+ b/(.*)$", diff, re.MULTILINE)
    return touched


def remove_waves(folder: Path) -> None:
    """Remove the paper `waves` from a copy of a project in which somebody has added it, as CONTRIBUTING.md shows."""
    shutil.rmtree(folder / "src/learning_dynamics/papers/waves", ignore_errors=True)
    for config in ("waves.yaml", "smoke/waves.yaml"):
        (folder / "workflow/config" / config).unlink(missing_ok=True)
    text = (folder / "config.yaml").read_text(encoding="utf-8")
    (folder / "config.yaml").write_text(text.replace(", waves", ""), encoding="utf-8")


def assert_linted(folder: Path, files: list[str]) -> None:
    """Assert that the Python files among some that were added or edited pass the linter and the formatter."""
    python = [file for file in files if not file.endswith(".yaml")]
    for command in (["check"], ["format", "--check"]):
        ended = subprocess.run(["ruff", *command, *python], cwd=folder, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stdout + ended.stderr


def assert_has_curves(picture: Path) -> None:
    """Assert that a figure's PNG has coloured pixels: curves have colours, axes and words are grey."""
    with Image.open(picture) as image:
        channels = np.asarray(image.convert("RGB")).astype(int)  # shape (height, width, 3)
    is_coloured = channels.max(axis=2) - channels.min(axis=2) > 50  # of 255
    assert is_coloured.sum() > 1000, picture  # a curve is wider than a pixel, and hundreds long


def project_with_rules_of_the_linter(folder: Path) -> Workspace:
    """Return the project as it is shipped, with the file in which the linter has its rules."""
    workspace = fresh(folder)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return workspace


# -- README: a figure --------------------------------------------------------------------------------------------------


def test_the_readme_example_draws_its_figure(tmp_path):
    workspace = project_with_rules_of_the_linter(tmp_path / "project")
    config, module = apply_diffs(workspace.folder, "README.md")
    assert config == "workflow/config/spectral_bias.yaml"
    assert_linted(workspace.folder, [module])
    workspace.snakemake("figures/smoke/spectral_bias/limits_against_scale.pdf", "--config", "papers=[spectral_bias]")
    assert_has_curves(workspace.folder / "figures/smoke/spectral_bias/limits_against_scale.png")


def test_the_readme_example_adds_at_most_20_lines():
    diffs = re.findall(r"```diff\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    lines = [line for diff in diffs for line in diff.splitlines()]
    added = [line for line in lines if line.startswith("+") and not line.startswith("+++")]  # which names a file
    assert 0 < len(added) <= 20


# -- CONTRIBUTING: the paper `waves` with a second topic and a claim of it ---------------------------------------------


@pytest.fixture(scope="module")
def begun(tmp_path_factory) -> Workspace:
    """The project after the command `new waves`; not to be changed."""
    workspace = project_with_rules_of_the_linter(tmp_path_factory.mktemp("begun") / "project")
    remove_waves(workspace.folder)
    ended = workspace.cli("new", "waves")
    assert ended.returncode == 0, ended.stderr
    assert "next: snakemake --cores all waves" in ended.stdout
    return workspace


@pytest.fixture(scope="module")
def edited(begun, tmp_path_factory) -> Workspace:
    """A copy of this project after the diffs of CONTRIBUTING.md; not to be changed."""
    workspace = begun.copy(tmp_path_factory.mktemp("edited") / "project")
    workspace.overlay = ("--config", "papers=[waves]")
    assert_linted(workspace.folder, apply_diffs(workspace.folder, "CONTRIBUTING.md"))
    return workspace


@pytest.fixture(scope="module")
def made(edited, tmp_path_factory) -> Workspace:
    """A copy of this project after Snakemake has made `waves`; not to be changed."""
    workspace = edited.copy(tmp_path_factory.mktemp("made") / "project")
    workspace.snakemake("waves")
    return workspace


def test_a_new_paper_is_in_the_configuration(begun):
    assert "waves]" in begun.read("config.yaml")  # the last of the list `papers`


def test_the_files_of_a_new_paper_are_linted(begun):
    assert_linted(begun.folder, ["src/learning_dynamics/papers/waves", "tests/papers/waves"])


@pytest.mark.parametrize("figure", ["decay", "momentum"])
def test_the_figures_of_both_topics_are_drawn(made, figure):
    assert_has_curves(made.folder / f"figures/waves/{figure}.png")


def test_the_claims_of_both_topics_are_reproduced(made):
    claims = read_table(made.folder / "results/waves/claims.parquet").set_index("claim")
    assert dict(claims["verdict"]) == {"waves.decay": "reproduced", "waves.rate": "reproduced"}


def test_the_tests_of_the_new_paper_pass(edited):
    variables = {"PYTHONPATH": f"{edited.folder}/src:{edited.folder}"}
    workspace = Workspace(edited.folder, variables=variables)
    ended = workspace.run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/papers/waves")
    assert ended.returncode == 0, ended.stdout + ended.stderr
