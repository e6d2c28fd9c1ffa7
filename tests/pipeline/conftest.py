"""A copy of the project in which Snakemake really runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import ROOT

PROJECT = ("Snakefile", "config.yaml", "workflow", "profiles", "src")
SMOKE = ("--configfile", "workflow/config/smoke.yaml")


@dataclass
class Workspace:
    """A project folder and the command that builds in it."""

    folder: Path

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "snakemake", "--cores", "2", *arguments, *SMOKE]

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

    def copy(self, folder: Path) -> Workspace:
        shutil.copytree(self.folder, folder, symlinks=True)  # keeps modification times
        return Workspace(folder)


def fresh(folder: Path) -> Workspace:
    folder.mkdir(parents=True, exist_ok=True)
    for name in PROJECT:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy2(ROOT / name, folder / name)
    return Workspace(folder)


@pytest.fixture(scope="session")
def built(tmp_path_factory) -> Workspace:
    """Every figure, the page and the verdicts at smoke scale, built once; tests must not change it."""
    workspace = fresh(tmp_path_factory.mktemp("built") / "project")
    workspace.snakemake()
    return workspace


@pytest.fixture
def workspace(built, tmp_path) -> Workspace:
    """A copy of the built project, to be changed freely."""
    return built.copy(tmp_path / "project")
