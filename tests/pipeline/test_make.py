"""The Makefile: what `make figures` prints, and in which environment it runs."""

import os
import re
import shutil
import subprocess

import pytest

from tests.pipeline.conftest import toy
from tests.support import ROOT


def run_make(workspace, *arguments):
    """Run make in a workspace, in the environment that runs these tests: without an installation."""
    shutil.copy(ROOT / "Makefile", workspace.folder)
    workspace.variables["PYTHONPATH"] = str(workspace.folder / "src")
    # below a `make test` make would print the folders that it enters
    return workspace.run("make", "--no-print-directory", "INSTALLED=", *arguments)


N_JOBS = 16  # a data set, four runs and their metrics, two figures, claims, texts, the page, the verdicts and `all`
# lines of Snakemake's own that may come with the jobs'; chosen: it writes which profile it uses, and few others
MAX_OTHER_LINES = 4


def numbered_jobs(output):
    """Return number and rule of each line on a job, such as " 3/16  run toy fast  1 s"."""
    lines = re.findall(rf"^ *(\d+)/{N_JOBS}  (\w+).* s$", output, re.MULTILINE)
    return [(int(number), rule) for number, rule in lines]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A workspace after `make figures` of the made-up paper, and the process that ended; tests change a copy of it."""
    workspace = toy(tmp_path_factory.mktemp("made") / "project")
    # as `!make figures` in a notebook, in a folder where somebody has files with names of standard modules
    workspace.variables["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    for name in ("random", "statistics", "tempfile"):
        workspace.write(f"{name}.py", f"open('was run', 'a').write({name!r})\nraise SystemExit('was imported')\n")
    ended = run_make(workspace, "figures")
    assert ended.returncode == 0, ended.stderr
    return workspace, ended


def test_each_job_is_a_line_with_its_number(made):
    _, ended = made
    assert [number for number, _ in numbered_jobs(ended.stderr)] == list(range(1, N_JOBS + 1)), ended.stderr


def test_the_last_jobs_are_the_page_the_verdicts_and_the_target(made):
    _, ended = made
    assert [rule for _, rule in numbered_jobs(ended.stderr)[-3:]] == ["page", "verdicts", "all"], ended.stderr


def test_hardly_any_line_is_about_something_else_than_a_job(made):
    _, ended = made
    assert len(ended.stderr.splitlines()) <= N_JOBS + MAX_OTHER_LINES, ended.stderr


def test_the_end_counts_verdicts_names_new_figures_and_says_where_the_page_is(made):
    workspace, ended = made
    assert "2 claims: 2 reproduced" in ended.stdout
    assert "2 figures are new:\n  toy: decay, growth\n" in ended.stdout
    assert ended.stdout.splitlines()[-1] == f"the page to read: {workspace.folder}/figures/index.html"


def test_files_with_names_of_standard_modules_in_the_folder_are_not_imported(made):
    workspace, _ = made
    assert not (workspace.folder / "was run").exists()


def test_a_second_make_does_nothing_and_names_no_new_figures(made, tmp_path):
    workspace, _ = made
    again = run_make(workspace.copy(tmp_path / "project"), "figures")
    assert again.returncode == 0, again.stderr
    assert "Nothing to be done" in again.stderr
    assert re.search(r"^0 figures are new", again.stdout, re.MULTILINE)


@pytest.fixture(scope="module")
def failed(built, tmp_path_factory):
    """A copy of the built made-up paper after a `make figures` in which a run failed, and how that ended."""
    workspace = built.copy(tmp_path_factory.mktemp("failed") / "project")
    workspace.configure("runs", "fast", "rate", value=1.0e300)  # (1 + 1e300)^2 is no finite number
    ended = run_make(workspace, "figures")
    assert ended.returncode != 0
    return workspace, ended


def test_a_failed_job_shows_its_last_lines_and_its_log(failed):
    _, ended = failed
    assert "FAILED  run toy fast" in ended.stderr
    assert "error: growth left the finite numbers at step" in ended.stderr
    assert "(all of it: results/toy/logs/run/fast.log)" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_failed_job_shows_a_command_that_repeats_it(failed):
    workspace, ended = failed
    (command,) = re.findall("again, alone: (.*)", ended.stderr)
    assert command.startswith("python -m learning_dynamics run toy fast --plan .snakemake/plan.jsonl ")
    arguments = command.removeprefix("python -m learning_dynamics ").split()
    assert "growth left the finite numbers" in workspace.cli(*arguments).stderr


@pytest.mark.parametrize(
    "path", ["runs/slow.npz", "metrics/slow.parquet", "runs/descent.npz", "metrics/descent.parquet"]
)
def test_what_does_not_need_a_failed_run_is_there(failed, path):
    workspace, _ = failed
    assert (workspace.folder / "results/toy" / path).exists()


def test_after_a_failed_job_earlier_verdicts_and_the_earlier_page_are_called_so(failed):
    _, ended = failed
    assert "2 claims: 2 reproduced" in ended.stdout
    assert "outdated: toy: verdicts of other settings or other code; run: snakemake toy" in ended.stdout
    assert "the page to read (from an earlier run)" in ended.stdout


UNEXPECTED = "toy.decay: verdict `reproduced`, expected `contradicted`"


def test_an_unexpected_verdict_names_its_claim_above_the_page(workspace):
    workspace.configure("claims", "decay", "expected", value="contradicted")
    ended = run_make(workspace, "figures")
    assert ended.returncode != 0
    assert "FAILED  verdicts" in ended.stderr
    assert f"error: {UNEXPECTED}" in ended.stdout
    assert "record it under claims.decay.expected in workflow/config/toy.yaml" in ended.stdout
    assert ended.stdout.splitlines()[-1].startswith("the page to read: ")


def test_an_unexpected_verdict_fails_the_target_of_its_paper(workspace):
    workspace.configure("claims", "decay", "expected", value="contradicted")
    ended = workspace.snakemake("toy", check=False)
    assert ended.returncode == 1
    assert UNEXPECTED in ended.stderr + ended.stdout


def test_clean_leaves_the_folders_with_their_readmes(workspace):
    for folder in ("results", "figures"):
        workspace.write(f"{folder}/README.md", "what will be here")
    assert run_make(workspace, "clean").returncode == 0
    for folder in ("results", "figures"):
        assert [path.name for path in (workspace.folder / folder).iterdir()] == ["README.md"], folder
    assert not (workspace.folder / ".snakemake").exists()


@pytest.mark.parametrize("papers", ["one other", "one,other", " one, other,"])
def test_some_papers_are_named_by_a_variable_of_make(clean, papers):
    commands = run_make(clean, "-n", "figures", f"PAPERS={papers}").stdout
    assert "--config 'papers=[one,other]'" in commands  # of Snakemake
    assert "--papers one other" in " ".join(commands.split())  # of the summary at the end


@pytest.mark.parametrize("papers", ["one other", "one,other", " one, other,"])
def test_some_papers_are_named_by_a_variable_of_the_environment(clean, papers):
    clean.variables["PAPERS"] = papers
    assert "--config 'papers=[one,other]'" in run_make(clean, "-n", "figures").stdout


# -- where the environment was made ------------------------------------------------------------------------------------


@pytest.fixture
def installed(tmp_path):
    """A folder with the Makefile and an environment, whose stamp names the folder that it was made in."""
    folder = tmp_path / "checkout"
    for name in ("Makefile", "pyproject.toml", "requirements/base.txt", "requirements/torch.txt", ".venv/.installed"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    shutil.copy(ROOT / "Makefile", folder)
    (folder / ".venv/.installed").write_text(f"{folder}\n")
    return folder


def output_of_make(folder, *arguments, **variables):
    """Run make in a folder with an environment of its own; return its standard output."""
    command = ["make", "--no-print-directory", *arguments]
    ended = subprocess.run(command, cwd=folder, env=os.environ | variables, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_an_environment_that_was_made_here_is_up_to_date(installed):
    assert "Nothing to be done" in output_of_make(installed, "-n", "install")


@pytest.fixture
def installed_by_link(installed):
    """The same folder, whose environment was made when a link led to it."""
    link = installed.parent / "link"
    link.symlink_to(installed)
    (installed / ".venv/.installed").write_text(f"{link}\n")
    return installed


def test_an_environment_that_was_made_here_by_another_path_is_up_to_date(installed_by_link):
    assert "Nothing to be done" in output_of_make(installed_by_link, "-n", "install")


def test_the_environment_of_a_folder_that_was_moved_is_made_again(installed_by_link):
    moved = installed_by_link.rename(installed_by_link.parent / "renamed")
    commands = output_of_make(moved, "-n", "figures")
    assert f"the environment was made in {moved.parent}/link: it is made again here\n" in commands
    assert "-m venv --clear .venv" in commands
    assert 'echo "installing into .venv: 1 to 5 minutes, mostly download"' in commands


def test_where_venv_is_a_link_only_the_link_is_removed(installed, tmp_path):
    """The environment that it leads to is kept."""
    elsewhere = (installed / ".venv").rename(tmp_path / "elsewhere")
    (elsewhere / ".installed").write_text(f"{tmp_path}\n")  # made in another folder: a new one is made here
    (installed / ".venv").symlink_to(elsewhere)
    python = tmp_path / "python"
    # its version, asked for by `-c`, is new enough; it fails to make an environment
    python.write_text('#!/bin/sh\ntest "$1" = -c || exit 1\n')
    python.chmod(0o755)
    ended = subprocess.run(["make", "install", f"PYTHON={python}"], cwd=installed, capture_output=True, text=True)
    assert ended.returncode != 0
    assert (elsewhere / ".installed").is_file()
    assert not (installed / ".venv").is_symlink()


def test_variables_of_a_shell_that_would_break_an_installation_are_not_handed_on(installed):
    # a target that prints the variables that commands of the Makefile have
    (installed / "Makefile").write_text((installed / "Makefile").read_text() + "\nshow:\n\t@env\n")
    given = {"PIP_USER": "1", "PIP_TARGET": "/elsewhere", "PYTHONOPTIMIZE": "2"}
    lines = output_of_make(installed, "show", **given).splitlines()
    shown = dict(line.split("=", 1) for line in lines if "=" in line)
    assert shown["PIP_USER"] == "0"
    assert not {"PIP_TARGET", "PYTHONOPTIMIZE"} & shown.keys()
