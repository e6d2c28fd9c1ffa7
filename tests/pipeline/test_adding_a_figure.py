"""What README and CONTRIBUTING say of adding a figure, a topic and a paper works as printed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

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


def assert_linted(folder: Path, files: list[str]) -> None:
    """Assert that the files that were touched pass the linter and the formatter."""
    python = [file for file in files if not file.endswith(".yaml")]
    for command in (["check"], ["format", "--check"]):
        ended = subprocess.run(["ruff", *command, *python], cwd=folder, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.fixture
def copy(tmp_path) -> Workspace:
    """The project as it is shipped, whose jobs run the code beside it."""
    workspace = fresh(tmp_path / "project")
    (workspace.folder / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    return Workspace(workspace.folder, ("--configfile", "workflow/config/smoke.yaml"))


def test_the_readme_example_draws_its_figure(copy):
    config, module = apply_diffs(copy.folder, "README.md")
    assert config == "workflow/config/spectral_bias.yaml"
    assert_linted(copy.folder, [module])
    only = ("--config", "papers=[spectral_bias]")
    copy.snakemake("figures/smoke/spectral_bias/limits_against_scale.pdf", *only)
    assert (copy.folder / "figures/smoke/spectral_bias/limits_against_scale.png").stat().st_size > 5_000
    function = re.findall(r"^\+(.*)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(function) <= 25


def test_a_paper_and_its_second_topic_run_as_contributing_says(copy):
    begun = copy.cli("new", "waves")
    assert begun.returncode == 0, begun.stderr
    assert "next: snakemake --cores all waves" in begun.stdout
    assert_linted(copy.folder, ["src/learning_dynamics/papers/waves", "tests/papers/waves"])
    files = apply_diffs(copy.folder, "CONTRIBUTING.md")
    assert "waves]" in copy.read("config.yaml")
    assert_linted(copy.folder, files)
    copy.overlay = ("--config", "papers=[waves]")
    copy.snakemake("waves")
    for figure in ("decay", "momentum"):
        assert (copy.folder / f"figures/waves/{figure}.png").stat().st_size > 5_000, figure
    claims = read_table(copy.folder / "results/waves/claims.parquet").set_index("claim")
    assert dict(claims["verdict"]) == {"waves.decay": "reproduced", "waves.rate": "reproduced"}
    # and its test passes
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/papers/waves"]
    copy.variables["PYTHONPATH"] = f"{copy.folder}/src:{copy.folder}"
    ended = copy.run(*command)
    assert ended.returncode == 0, ended.stdout + ended.stderr
