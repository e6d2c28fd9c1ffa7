"""Surroundings of a project: files that editors and systems leave in it, links, homes, clones, other checkouts."""

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

FOLDERS_WITH_SOURCES = (
    "src/learning_dynamics",
    "src/learning_dynamics/pipeline/commands",
    "src/learning_dynamics/pipeline/plan",
    "src/learning_dynamics/pipeline/report",
    "src/learning_dynamics/papers",
    PAPER,
    f"{PAPER}/growth",
    "workflow/config",
    "workflow/rules",
)
# how macOS begins a file of attributes: no text, and no UTF-8
APPLE = b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X        \xff\xfe"


def leave_hidden_files(folder):
    """Write the files that macOS, Emacs, Vim and Jupyter leave beside sources."""
    for suffix in (".py", ".yaml", ".smk", ".html", ".csv"):
        (folder / f"._runs{suffix}").write_bytes(APPLE)
        (folder / f".#runs{suffix}").symlink_to("somebody@host.4711:1700000000")
        (folder / f".runs{suffix}.swp").write_bytes(APPLE)
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints/runs-checkpoint.py").write_bytes(APPLE)
    (folder / ".ipynb_checkpoints/runs.py").write_bytes(APPLE)


def test_files_that_begin_with_a_dot_are_no_modules_and_make_nothing_stale(workspace):
    for folder in FOLDERS_WITH_SOURCES:
        leave_hidden_files(workspace.folder / folder)
    assert "Nothing to be done" in workspace.snakemake("--dry-run").stdout
    checked = workspace.cli("check")
    assert (checked.returncode, checked.stderr) == (0, "")
    # an edit of a module is still seen
    workspace.edit(f"{PAPER}/growth/runs.py", "* (1 + rate)", "* (2 + rate)")
    assert "results/toy/runs/fast.npz" in workspace.would_run()


def test_find_files_sorts_and_leaves_out_names_and_folders_that_begin_with_a_dot(tmp_path):
    for name in ("b.py", "a/b.py", "a/.c.py", ".d/e.py", ".f.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [str(file.relative_to(tmp_path)) for file in find_files(tmp_path, "**/*.py")] == ["a/b.py", "b.py"]


# -- files that a command must not replace -----------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["config.yaml", "workflow/config/toy.yaml", "workflow/../Snakefile", "link.yaml"])
@pytest.mark.parametrize(
    ("command", "reason"),
    [
        pytest.param(
            ["sweep", "toy", "fast", "--vary", "rate=0.1,0.2"],
            "is there, and has no fast_sweep of toy; name another file with --out",
            id="sweep",
        ),
        pytest.param(
            ["verdicts", "results/claims.parquet"],
            "is a file of the project itself and is not replaced; name another",
            id="verdicts",
        ),
    ],
)
def test_no_command_writes_over_a_file_of_the_project(workspace, command, reason, target):
    (workspace.folder / "link.yaml").symlink_to("workflow/config/toy.yaml")
    before = workspace.read(target)
    ended = workspace.cli(*command, "--out", target)
    assert ended.returncode == 1
    assert ended.stderr == f"error: {target}: {reason}\n"
    assert workspace.read(target) == before


# -- links to folders that are gone ------------------------------------------------------------------------------------


@pytest.fixture
def purged(clean, tmp_path):
    """The folder that was deleted, to which `results` of the project `clean` is a link."""
    folder = tmp_path / "scratch/run 1"
    (clean.folder / "results").symlink_to(folder)
    return folder


def test_results_that_are_a_link_to_a_folder_that_is_gone_are_named(clean, purged):
    message = refusal(check_writable, clean.folder)
    assert f"{clean.folder}/results: is a link to {purged}, which is not there" in message
    # `check` says nothing else: figures that are there are not called stale where their results are gone
    checked = clean.cli("check")
    assert checked.returncode == 1
    assert checked.stderr == f"error: {message}\n"


def test_snakemake_says_how_to_make_the_folder_that_is_gone(clean, purged):
    """Once the folder is there it goes on."""
    ended = clean.snakemake("--dry-run", check=False)
    assert f"make it: mkdir -p '{purged}'" in ended.stderr
    assert "Traceback" not in ended.stderr + ended.stdout
    purged.mkdir(parents=True)
    clean.snakemake("results/toy/data/starts.npz")


# -- users without a home, or without a name ---------------------------------------------------------------------------

# code that runs Snakemake for a user whom the system does not know
SNAKEMAKE_WITHOUT_A_USER = """
import pwd, sys
def nobody(number): raise KeyError(f"getpwuid(): uid not found: {number}")
pwd.getpwuid = nobody
sys.argv[0] = "snakemake"
from snakemake.cli import main
main()
"""


def test_a_home_that_cannot_be_written_and_a_user_without_a_name_are_no_hindrance(clean):
    clean.variables |= {"HOME": "/proc/nobody"}  # nothing can be written below /proc
    clean.variables |= {"USER": "", "LOGNAME": "", "LNAME": "", "USERNAME": ""}
    ended = clean.run(sys.executable, "-c", SNAKEMAKE_WITHOUT_A_USER, "--cores", "1", "results/toy/data/starts.npz")
    assert ended.returncode == 0, ended.stderr
    assert (clean.folder / ".cache/snakemake").is_dir()


# -- compiled files that a full disk has cut short ---------------------------------------------------------------------


@pytest.mark.parametrize("module", ["__init__", "environment", "files", "pipeline/plan/config"])
def test_a_compiled_file_that_is_cut_short_is_one_line_with_the_fix(clean, module):
    clean.variables["PYTHONDONTWRITEBYTECODE"] = ""  # write compiled files
    clean.snakemake("--dry-run")
    clean.cli("check")
    package, _, name = f"src/learning_dynamics/{module}".rpartition("/")
    (compiled,) = (clean.folder / package).glob(f"__pycache__/{name}.*.pyc")
    compiled.write_bytes(compiled.read_bytes()[:60])  # its header, 16 bytes, and the beginning of its code
    planned = clean.snakemake("--dry-run", check=False)
    assert planned.returncode == 1
    assert f"error: {CUT_SHORT}" in planned.stdout + planned.stderr
    assert "Traceback" not in planned.stdout + planned.stderr
    if module != "__init__":  # without this file no code of the package can print the line
        assert clean.cli("check").stderr == f"error: {CUT_SHORT}\n"
        in_notebook = clean.python("-c", "import learning_dynamics as ld; ld.paper_names()")
        assert f"ImportError: {CUT_SHORT}" in in_notebook.stderr
    fix = CUT_SHORT.partition("again: ")[2]  # the line ends with a command
    subprocess.run(fix, shell=True, cwd=clean.folder, check=True)
    clean.snakemake("--dry-run")


def test_the_plugin_has_the_same_line_for_a_compiled_file_that_is_cut_short():
    assert snakemake_logger_plugin_lines.CUT_SHORT == CUT_SHORT


# -- clones that convert line ends -------------------------------------------------------------------------------------


def test_scripts_and_tables_keep_their_line_ends_in_a_clone_that_converts_them(tmp_path):
    """Git for Windows converts them unless `.gitattributes` says otherwise."""
    original, clone = tmp_path / "original", tmp_path / "clone"
    original.mkdir()
    for name in (".gitattributes", ".ci/run", "docs/results/claims.csv"):
        (original / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, original / name)
    options = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.autocrlf=true"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        subprocess.run(["git", "-C", str(original), *options, *command], check=True, capture_output=True)
    command = ["git", "clone", "-q", "--config", "core.autocrlf=true", str(original), str(clone)]
    subprocess.run(command, check=True, capture_output=True)
    for name in (".ci/run", "docs/results/claims.csv"):
        assert (clone / name).read_bytes() == (ROOT / name).read_bytes(), name


# -- checkouts and environments ----------------------------------------------------------------------------------------


def test_the_snakefile_of_this_checkout_may_be_named_by_a_link(clean, tmp_path):
    (tmp_path / "link").symlink_to(clean.folder)
    clean.snakemake("--dry-run", "--snakefile", str(tmp_path / "link/Snakefile"))


def test_the_snakefile_of_another_checkout_than_that_of_the_environment_is_refused(clean):
    clean.variables["PYTHONPATH"] = str(ROOT / "src")
    ended = clean.snakemake("--dry-run", check=False)
    assert ended.returncode == 1
    assert f"error: {clean.folder}: this environment runs the code of {ROOT}; activate" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_an_older_snakemake_says_which_version_is_needed():
    """It reads the version before it meets words that it does not know."""
    text = (ROOT / "Snakefile").read_text(encoding="utf-8")
    assert text.index("min_version(") < text.index("include:")
    # Snakemake parses a whole file before it runs its first line, so these words are in included files
    assert not re.search(r"^(pathvars|inputflags|resource_scopes):", text, re.MULTILINE)
