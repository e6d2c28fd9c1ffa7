"""Every command that README and docs print can be typed: targets exist, options are known, dry runs plan something."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from learning_dynamics.pipeline.commands import cli
from learning_dynamics.pipeline.plan.sources import papers
from tests.pipeline.test_adding_a_figure import apply_diffs, remove_waves
from tests.pipeline.warm import warm_python
from tests.support import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
KINDS = ("make", "snakemake", "python -m learning_dynamics")
PLACEHOLDERS = re.compile(r"\.\.\.|<|NAME|FILE|\bA\.yaml")
COPIED = ("Snakefile", "Makefile", "pyproject.toml", "requirements", "config.yaml", "workflow", "profiles", "src")


def commands() -> list[str]:
    """Return every command once, in the order of the pages; those with placeholders are left out."""
    found: dict[str, None] = {}  # a set that keeps its order
    for page in PAGES:
        for line in lines_of_code(page.read_text(encoding="utf-8")):
            without_comment = re.split(r"\s+#\s", line)[0]
            for part in re.split(r"\s+&&\s+", without_comment):
                command = part.strip()
                if command.startswith(tuple(f"{kind} " for kind in KINDS)) and not PLACEHOLDERS.search(command):
                    found[command] = None
    return list(found)


def lines_of_code(text: str) -> list[str]:
    """Return the lines of a page's blocks of code, continued lines as one, and what is between single backticks."""
    blocks = re.findall(r"```(?:sh)?\n(.*?)```", text, re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return lines + re.findall(r"`([^`\n]+)`", prose)


def distinct_dry_runs() -> list[str]:
    """Return Snakemake's commands; of those that plan the same, one with cores and one without, the longest."""
    longest: dict[frozenset, str] = {}
    for command in commands_of_kind("snakemake"):
        plan = re.sub(r" (-n|--dry-run|--cores \S+|--resources gpu=\d+|--)(?= |$)", "", command)
        key = frozenset(shlex.split(plan))
        longest[key] = max(longest.get(key, ""), command, key=len)
    return list(longest.values())


def commands_of_kind(kind: str) -> list[str]:
    return [command for command in commands() if command.startswith(kind + " ")]


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A copy of the project, with the diffs applied and the files that earlier commands would have made."""
    folder = tmp_path_factory.mktemp("docs")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy2(ROOT / name, folder)
    remove_waves(folder)
    for command in commands_of_kind("python -m learning_dynamics"):
        if " new " in command:
            ended = run_typed(command, folder)
            assert ended.returncode == 0, ended.stderr
    for page in ("README.md", "CONTRIBUTING.md"):
        apply_diffs(folder, page)
    for command in commands_of_kind("python -m learning_dynamics"):
        if " sweep " in command:
            ended = run_typed(command, folder)
            assert ended.returncode == 0, ended.stderr
    rates = folder / "results/full/neural_collapse/learning_rates.yaml"
    rates.parent.mkdir(parents=True)
    rates.write_text("changes: {}\n")
    return folder


def run_typed(command: str, folder: Path) -> subprocess.CompletedProcess:
    """Run a command in a copy of the project, with Python and Snakemake from a process that has imported them."""
    words = shlex.split(command)
    if words[0] == "snakemake":
        words[:1] = [warm_python(), "-m", "snakemake"]
    elif words[0] == "python":
        words[0] = warm_python()
    environment = os.environ | {"PYTHONPATH": str(folder / "src")}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("command", commands_of_kind("make"))
def test_the_target_of_every_make_command_exists(command, project):
    # every target begins with the installation, which is left out
    installed = "" if ".installed" in command else " INSTALLED="
    ended = run_typed(f"{command} --dry-run{installed}", project)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("command", commands_of_kind("python -m learning_dynamics"))
def test_every_command_of_the_package_is_parsed_and_names_a_paper_that_exists(command):
    words = shlex.split(command)[3:]  # after `python -m learning_dynamics`
    if "--help" in words:
        with pytest.raises(SystemExit, match="0"):
            cli.parse(words)
        return
    _, options = cli.parse(words)  # raises on an unknown option
    # `new` makes its paper, some commands take none, and PAPER stands for any
    if words[0] != "new" and "paper" in options:
        assert options["paper"] in [*papers(), "PAPER"]


@pytest.mark.parametrize("command", distinct_dry_runs())
def test_every_snakemake_command_can_be_planned(command, project):
    if shutil.which("sbatch") is None and "--slurm-" in command:
        pytest.skip("an option of the Slurm executor")
    # options are added in front: at the end they would be values of an option that takes several
    ended = run_typed(command.replace("snakemake ", "snakemake --dry-run --quiet all ", 1), project)
    if re.search(r"--(report|rulegraph|lint)", command):
        # these plan nothing, and a report fails without results: only their options are checked
        assert "unrecognized arguments" not in ended.stderr
        return
    assert ended.returncode == 0, ended.stdout + ended.stderr
