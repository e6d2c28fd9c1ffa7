"""What a person sees who types `make figures`: how far it is, what is there in the end, and why something is not."""

import os
import re
import shutil
import subprocess

import pytest

from tests.support import ROOT


def run_make(workspace, *arguments):
    """Run make in a workspace, with the environment that runs these tests instead of an installation."""
    shutil.copy(ROOT / "Makefile", workspace.folder)
    workspace.variables["PYTHONPATH"] = str(workspace.folder / "src")
    # a `make test` above these tests would have it announce its folders
    return workspace.run("make", "--no-print-directory", "INSTALLED=", *arguments)


def test_the_end_names_what_is_new_and_where_the_page_is(clean):
    # as `!make figures` in a notebook, in a folder where somebody has tried something
    clean.variables["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    for name in ("random", "statistics", "tempfile"):
        clean.write(f"{name}.py", f"open('was run', 'a').write({name!r})\nraise SystemExit('a scratch file was run')\n")
    ended = run_make(clean, "figures")
    assert ended.returncode == 0, ended.stderr
    # a line for each job, numbered to the last
    jobs = re.findall(r"^ *(\d+)/15  (\w+).* s$", ended.stderr, re.MULTILINE)
    assert [int(number) for number, _ in jobs] == list(range(1, 16))
    assert [rule for _, rule in jobs[-3:]] == ["page", "verdicts", "all"]
    assert len(ended.stderr.splitlines()) < 20
    assert "2 claims: 2 reproduced" in ended.stdout
    assert "2 figures are new:\n  toy: decay, growth\n" in ended.stdout
    assert ended.stdout.splitlines()[-1] == f"the page to read: {clean.folder}/figures/index.html"
    assert not (clean.folder / "was run").exists()
    again = run_make(clean, "figures")
    assert again.returncode == 0, again.stderr
    assert "Nothing to be done" in again.stderr
    assert "0 figures are new" in again.stdout


def test_a_failed_job_shows_its_last_lines_and_what_to_do(workspace):
    workspace.configure("runs", "fast", "rate", value=1.0e300)
    ended = run_make(workspace, "figures")
    assert ended.returncode != 0
    assert "FAILED  run toy fast" in ended.stderr
    assert "error: growth left the finite numbers at step" in ended.stderr
    assert "(all of it: results/toy/logs/run/fast.log)" in ended.stderr
    assert "Traceback" not in ended.stderr
    (command,) = re.findall("again, alone: (.*)", ended.stderr)
    assert command.startswith("python -m learning_dynamics run toy fast --plan .snakemake/plan.jsonl ")
    assert "growth left the finite numbers" in workspace.cli(*command.split()[3:]).stderr
    # a run that fails costs itself and what needs it
    for path in ("runs/slow.npz", "metrics/slow.parquet", "runs/descent.npz", "metrics/descent.parquet"):
        assert (workspace.folder / "results/toy" / path).exists(), path
    # what was there, or could be made, is shown all the same
    assert "2 claims: 2 reproduced" in ended.stdout
    assert "outdated: toy: verdicts of other settings or other code; run: snakemake toy" in ended.stdout
    assert "the page to read (from an earlier run)" in ended.stdout


def test_an_unexpected_verdict_names_its_claim_above_the_page(workspace):
    workspace.configure("claims", "decay", "expected", value="contradicted")
    ended = run_make(workspace, "figures")
    assert ended.returncode != 0
    assert "FAILED  verdicts" in ended.stderr
    assert "error: toy.decay: verdict `reproduced`, expected `contradicted`" in ended.stdout
    assert "record it under claims.decay.expected in workflow/config/toy.yaml" in ended.stdout
    assert ended.stdout.splitlines()[-1].startswith("the page to read: ")
    # so it is where the paper alone is asked for
    ended = workspace.snakemake("toy", check=False)
    assert ended.returncode == 1
    assert "toy.decay: verdict `reproduced`, expected `contradicted`" in ended.stderr + ended.stdout


def test_clean_leaves_the_folders_and_what_they_say_of_themselves(workspace):
    for folder in ("results", "figures"):
        workspace.write(f"{folder}/README.md", "what will be here")
    assert run_make(workspace, "clean").returncode == 0
    for folder in ("results", "figures"):
        assert [path.name for path in (workspace.folder / folder).iterdir()] == ["README.md"], folder
    assert not (workspace.folder / ".snakemake").exists()


def test_some_papers_are_a_variable(clean):
    for papers in ("one other", "one,other", " one, other,"):
        told = run_make(clean, "-n", "figures", f"PAPERS={papers}").stdout
        assert "--config 'papers=[one,other]'" in told, papers
        assert "--papers one other" in " ".join(told.split()), papers
        clean.variables["PAPERS"] = papers
        assert "--config 'papers=[one,other]'" in run_make(clean, "-n", "figures").stdout, papers


# -- where the environment was made ------------------------------------------------------------------------------------


@pytest.fixture
def installed(tmp_path):
    """A folder with the Makefile, and a stamp as an installation leaves it."""
    folder = tmp_path / "checkout"
    for name in ("Makefile", "pyproject.toml", "requirements/base.txt", "requirements/torch.txt", ".venv/.installed"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    shutil.copy(ROOT / "Makefile", folder)
    (folder / ".venv/.installed").write_text(f"{folder}\n")
    return folder


def make(folder, *arguments, **variables):
    command = ["make", "--no-print-directory", *arguments]
    ended = subprocess.run(command, cwd=folder, env=os.environ | variables, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_the_environment_of_a_folder_that_was_moved_is_made_again(installed):
    assert "Nothing to be done" in make(installed, "-n", "install")
    # the same folder by another path
    (installed.parent / "link").symlink_to(installed)
    (installed / ".venv/.installed").write_text(f"{installed.parent}/link\n")
    assert "Nothing to be done" in make(installed, "-n", "install")
    moved = installed.rename(installed.parent / "renamed")
    said = make(moved, "-n", "figures")
    assert f"the environment was made in {installed.parent}/link: it is made again here\n" in said
    assert "-m venv --clear .venv" in said
    assert 'echo "installing into .venv: 1 to 5 minutes, mostly download"' in said


def test_an_environment_that_a_link_leads_to_is_left_as_it_is(installed, tmp_path):
    elsewhere = (installed / ".venv").rename(tmp_path / "elsewhere")
    (elsewhere / ".installed").write_text(f"{tmp_path}\n")
    (installed / ".venv").symlink_to(elsewhere)
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\ntest "$1" = -c || exit 1\n')  # new enough, but makes no environment
    python.chmod(0o755)
    ended = subprocess.run(["make", "install", f"PYTHON={python}"], cwd=installed, capture_output=True, text=True)
    assert ended.returncode != 0
    assert (elsewhere / ".installed").is_file()
    assert not (installed / ".venv").is_symlink()


def test_variables_of_a_shell_that_would_break_an_installation_are_not_handed_on(installed):
    (installed / "Makefile").write_text((installed / "Makefile").read_text() + "\nshow:\n\t@env\n")
    given = {"PIP_USER": "1", "PIP_TARGET": "/elsewhere", "PYTHONOPTIMIZE": "2"}
    lines = make(installed, "show", **given).splitlines()
    shown = dict(line.split("=", 1) for line in lines if "=" in line)
    assert shown["PIP_USER"] == "0"
    assert not {"PIP_TARGET", "PYTHONOPTIMIZE"} & shown.keys()
