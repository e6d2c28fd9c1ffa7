"""A copy of the project in which Snakemake really runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from learning_dynamics.pipeline.config import load_config
from tests.support import ROOT, SMOKE

PROJECT = ("Snakefile", "config.yaml", "workflow", "profiles", "src")
OVERLAY = ("--configfile", "workflow/config/smoke.yaml")
# enough of two papers to see what an edit, a mistake or a kill does
CUT = {"spectral_bias": ("fig1a", "fig4"), "deep_linear": ("line_integral",)}


@dataclass
class Workspace:
    """A project folder and the command that builds in it."""

    folder: Path
    overlay: tuple[str, ...] = ()

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "snakemake", "--cores", "2", *arguments, *self.overlay]

    @property
    def environment(self) -> dict[str, str]:
        # as a person's shell: none of the test runner's variables
        return {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "COV"))}

    def snakemake(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess:
        ended = subprocess.run(
            self.command(*arguments), cwd=self.folder, env=self.environment, capture_output=True, text=True
        )
        assert not check or ended.returncode == 0, ended.stdout + ended.stderr
        return ended

    def would_run(self, *targets: str) -> set[str]:
        """Return the first output of every job that a run would execute (localrules without output left out)."""
        planned = self.snakemake("--dry-run", *targets).stdout
        return {match.split(",")[0].strip() for match in re.findall(r"^    output: (.*)$", planned, re.MULTILINE)}

    def read(self, path: str) -> str:
        return (self.folder / path).read_text()

    def edit(self, path: str, old: str, new: str) -> None:
        text = self.read(path)
        assert old in text
        (self.folder / path).write_text(text.replace(old, new))

    def configure(self, *path: str, value: Any) -> None:
        """Set one value of config.yaml."""
        config = load_config(self.folder / "config.yaml")
        block = config
        for key in path[:-1]:
            block = block[key]
        block[path[-1]] = value
        (self.folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))

    def copy(self, folder: Path) -> Workspace:
        shutil.copytree(self.folder, folder, symlinks=True)  # keeps modification times
        return Workspace(folder, self.overlay)


def fresh(folder: Path) -> Workspace:
    """Return the project as it is shipped, to be run with the smoke overlay."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in PROJECT:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy2(ROOT / name, folder / name)
    return Workspace(folder, OVERLAY)


def cut(folder: Path) -> Workspace:
    """Return the project with a configuration at smoke scale that is cut down to a few figures."""
    workspace = fresh(folder)
    config = load_config(*SMOKE)
    config["papers"] = {paper: _cut_paper(config["papers"][paper], figures) for paper, figures in CUT.items()}
    config["papers"]["spectral_bias"]["sensitivity"] = [
        {"run": "small_scale", "setting": "width", "values": [24], "claims": ["corollary_3_1"]}
    ]
    (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    return Workspace(workspace.folder)


def _cut_paper(paper: dict[str, Any], figures: tuple[str, ...]) -> dict[str, Any]:
    runs = {run for figure in figures for run in paper["figures"][figure]["runs"]}
    needed = runs | {paper["runs"][run]["like"] for run in runs if "like" in paper["runs"][run]}
    claims = {
        name: block
        for name, block in paper["claims"].items()
        if block["runs"] and set(block["runs"]) <= runs and block.get("figure") in figures
    }
    assert claims
    return paper | {
        "runs": {name: block for name, block in paper["runs"].items() if name in needed},
        "figures": {name: paper["figures"][name] for name in figures},
        "claims": claims,
        "sensitivity": [],
    }


@pytest.fixture(scope="session")
def whole(tmp_path_factory) -> Workspace:
    """Every figure of every paper, the page and the verdicts at smoke scale, built once; not to be changed."""
    workspace = fresh(tmp_path_factory.mktemp("whole") / "project")
    workspace.snakemake()
    return workspace


@pytest.fixture(scope="session")
def built(tmp_path_factory) -> Workspace:
    """The project cut down to a few figures, built once; not to be changed."""
    workspace = cut(tmp_path_factory.mktemp("built") / "project")
    workspace.snakemake()
    return workspace


@pytest.fixture
def workspace(built, tmp_path) -> Workspace:
    """A copy of the built project, to be changed freely."""
    return built.copy(tmp_path / "project")
