"""Files that editors, systems and disks leave beside the project's: none of them is taken for a part of it."""

import re
import shutil
import subprocess
import sys

import pytest

import snakemake_logger_plugin_lines
from learning_dynamics import CUT_SHORT
from learning_dynamics.files import check_writable, find_files
from tests.pipeline.conftest import PAPER, refusal
from tests.support import ROOT

FOLDERS = (
    *(
        "src/learning_dynamics",
        "src/learning_dynamics/pipeline/commands",
        "src/learning_dynamics/pipeline/plan",
        "src/learning_dynamics/pipeline/report",
    ),
    *("src/learning_dynamics/papers", PAPER, f"{PAPER}/growth", "workflow/config", "workflow/rules"),
)
APPLE = b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X        \xff\xfe"  # how macOS begins a file of attributes


def litter(folder):
    """Leave what macOS, Emacs, Vim and Jupyter leave beside files of Python and YAML."""
    for suffix in (".py", ".yaml", ".smk", ".html", ".csv"):
        (folder / f"._runs{suffix}").write_bytes(APPLE)
        (folder / f".#runs{suffix}").symlink_to("somebody@host.4711:1700000000")
        (folder / f".runs{suffix}.swp").write_bytes(APPLE)
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints/runs-checkpoint.py").write_bytes(APPLE)
    (folder / ".ipynb_checkpoints/runs.py").write_bytes(APPLE)


def test_files_that_begin_with_a_dot_are_no_modules_and_change_nothing(workspace):
    for folder in FOLDERS:
        litter(workspace.folder / folder)
    assert "Nothing to be done" in workspace.snakemake("--dry-run").stdout
    checked = workspace.cli("check")
    assert (checked.returncode, checked.stderr) == (0, "")
    # an edit is seen as before
    workspace.edit(f"{PAPER}/growth/runs.py", "* (1 + rate)", "* (2 + rate)")
    assert "results/toy/runs/fast.npz" in workspace.would_run()


def test_what_is_found_is_sorted_and_has_no_dot_in_any_folder(tmp_path):
    for name in ("b.py", "a/b.py", "a/.c.py", ".d/e.py", ".f.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [str(file.relative_to(tmp_path)) for file in find_files(tmp_path, "**/*.py")] == ["a/b.py", "b.py"]


# -- files that a command must not replace -----------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["config.yaml", "workflow/config/toy.yaml", "workflow/../Snakefile", "link.yaml"])
def test_no_command_writes_over_a_file_of_the_project(workspace, target):
    (workspace.folder / "link.yaml").symlink_to("workflow/config/toy.yaml")
    before = workspace.read(target)
    ended = workspace.cli("sweep", "toy", "fast", "--vary", "rate=0.1,0.2", "--out", target)
    assert (ended.returncode, ended.stderr.count("\n"), workspace.read(target)) == (1, 1, before)
    ended = workspace.cli("verdicts", "results/claims.parquet", "--out", target)
    assert ended.stderr == f"error: {target}: is a file of the project itself and is not replaced; name another\n"
    assert (ended.returncode, workspace.read(target)) == (1, before)


# -- links whose end is gone -------------------------------------------------------------------------------------------


def test_results_that_are_a_link_to_a_purged_folder_are_named_with_what_to_type(clean, tmp_path):
    (clean.folder / "results").symlink_to(tmp_path / "scratch/run 1")
    said = refusal(check_writable, clean.folder)
    assert f"{clean.folder}/results: is a link to {tmp_path}/scratch/run 1, which is not there" in said
    ended = clean.snakemake("--dry-run", check=False)
    assert "Traceback" not in ended.stderr + ended.stdout
    assert f"make it: mkdir -p '{tmp_path}/scratch/run 1'" in ended.stderr
    checked = clean.cli("check")  # figures that are there are of results that are gone: they are not called stale
    assert (checked.returncode, checked.stderr) == (1, f"error: {said}\n")
    (tmp_path / "scratch/run 1").mkdir(parents=True)
    clean.snakemake("results/toy/data/starts.npz")


# -- users without a home, or without a name ---------------------------------------------------------------------------

NAMELESS = """
import pwd, sys
def nobody(number): raise KeyError(f"getpwuid(): uid not found: {number}")
pwd.getpwuid = nobody
sys.argv[0] = "snakemake"
from snakemake.cli import main
main()
"""


def test_a_home_that_cannot_be_written_and_a_user_without_a_name_are_no_hindrance(clean):
    clean.variables |= {"HOME": "/proc/nobody", "USER": "", "LOGNAME": "", "LNAME": "", "USERNAME": ""}
    ended = clean.run(sys.executable, "-c", NAMELESS, "--cores", "1", "results/toy/data/starts.npz")
    assert ended.returncode == 0, ended.stderr
    assert (clean.folder / ".cache/snakemake").is_dir()


# -- compiled files that a full disk has cut short ---------------------------------------------------------------------


@pytest.mark.parametrize("module", ["__init__", "environment", "files", "pipeline/plan/config"])
def test_a_compiled_file_that_is_cut_short_is_one_line_with_the_fix(clean, module):
    assert snakemake_logger_plugin_lines.CUT_SHORT == CUT_SHORT
    clean.variables["PYTHONDONTWRITEBYTECODE"] = ""
    clean.snakemake("--dry-run")
    clean.cli("check")
    package, _, name = f"src/learning_dynamics/{module}".rpartition("/")
    (compiled,) = (clean.folder / package).glob(f"__pycache__/{name}.*.pyc")
    compiled.write_bytes(compiled.read_bytes()[:60])
    started = clean.snakemake("--dry-run", check=False)
    assert started.returncode == 1
    assert f"error: {CUT_SHORT}" in started.stdout + started.stderr
    assert "Traceback" not in started.stdout + started.stderr
    if module != "__init__":  # without which no command of the package can say anything
        assert clean.cli("check").stderr == f"error: {CUT_SHORT}\n"
        ended = clean.python("-c", "import learning_dynamics as ld; ld.paper_names()")
        assert f"ImportError: {CUT_SHORT}" in ended.stderr
    subprocess.run(CUT_SHORT.partition("again: ")[2], shell=True, cwd=clean.folder, check=True)
    clean.snakemake("--dry-run")


# -- clones that turn line ends ----------------------------------------------------------------------------------------


def test_scripts_start_in_a_clone_that_turns_line_ends(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    for name in (".gitattributes", ".ci/run", "docs/results/claims.csv"):
        (first / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, first / name)
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.autocrlf=true"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        subprocess.run(["git", "-C", str(first), *identity, *command], check=True, capture_output=True)
    clone = ["git", "clone", "-q", "--config", "core.autocrlf=true", str(first), str(second)]
    subprocess.run(clone, check=True, capture_output=True)
    for name in (".ci/run", "docs/results/claims.csv"):
        assert (second / name).read_bytes() == (ROOT / name).read_bytes(), name


# -- checkouts and environments ----------------------------------------------------------------------------------------


def test_the_snakefile_of_another_checkout_is_refused_and_a_link_to_it_is_not(clean, tmp_path):
    (tmp_path / "link").symlink_to(clean.folder)
    clean.snakemake("--dry-run", "--snakefile", str(tmp_path / "link/Snakefile"))
    clean.variables["PYTHONPATH"] = str(ROOT / "src")
    ended = clean.snakemake("--dry-run", check=False)
    assert ended.returncode == 1
    assert f"error: {clean.folder}: this environment runs the code of {ROOT}; activate" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_nothing_that_an_older_snakemake_does_not_know_comes_before_the_version_that_is_needed():
    text = (ROOT / "Snakefile").read_text(encoding="utf-8")
    assert text.index("min_version(") < text.index("include:")
    assert not re.search(r"^(pathvars|inputflags|resource_scopes):", text, re.MULTILINE)
