"""Files that editors, systems and disks leave beside the project's: none of them is taken for a part of it."""

import errno

import pytest

from learning_dynamics.files import atomic_write, check_writable, find_files
from tests.pipeline.conftest import PAPER, refusal

FOLDERS = (
    *("src/learning_dynamics", "src/learning_dynamics/pipeline/plan", "src/learning_dynamics/pipeline/report"),
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
    # an edit is seen as before
    workspace.edit(f"{PAPER}/growth/runs.py", "* (1 + rate)", "* (2 + rate)")
    assert "results/toy/runs/fast.npz" in workspace.would_run()


def test_what_is_found_is_sorted_and_has_no_dot_in_any_folder(tmp_path):
    for name in ("b.py", "a/b.py", "a/.c.py", ".d/e.py", ".f.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [str(file.relative_to(tmp_path)) for file in find_files(tmp_path, "**/*.py")] == ["a/b.py", "b.py"]
