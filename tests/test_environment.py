"""What a process is started in must not change what it computes or records.

That is: variables which libraries read at import, files in the working folder, other checkouts, git repositories around
the sources, and the versions of packages.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from learning_dynamics import environment
from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.store import stamps
from tests.support import ROOT

SOURCES = str(ROOT / "src")
MISSING = "module://missing.backend"  # as a notebook's, which is not installed with the project


def python(*arguments, folder, **variables):
    """Run Python in a folder, with further environment variables, and return how it ended."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONSAFEPATH", "PYTHONPATH")}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=kept | variables, capture_output=True, text=True)


# -- variables ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("backend", "used"), [("module://there", "module://there"), (MISSING, "agg")])
def test_the_backend_of_a_notebook_is_replaced_only_where_its_module_is_missing(backend, used, tmp_path):
    code = "import learning_dynamics as ld, os; ld.paper_names(); print(os.environ['MPLBACKEND'])"
    (tmp_path / "there.py").touch()
    ended = python("-c", code, folder=tmp_path, MPLBACKEND=backend, PYTHONPATH=str(tmp_path))
    assert ended.stdout.strip() == used, ended.stderr


# under each of these, unless it is reset, matplotlib draws nothing, or numba does not start or does not compile
FOREIGN = {
    "a notebook's backend": {"MPLBACKEND": MISSING},
    "a window's backend": {"MPLBACKEND": "tkagg"},
    "an empty backend": {"MPLBACKEND": ""},
    "a user's matplotlibrc": {"MATPLOTLIBRC": "matplotlibrc"},
    "numba without threads": {"NUMBA_NUM_THREADS": "0"},
    "numba with many threads": {"NUMBA_NUM_THREADS": "many"},
    "numba that compiles nothing": {"NUMBA_DISABLE_JIT": "1"},
}


@pytest.mark.parametrize("variables", FOREIGN.values(), ids=FOREIGN)
def test_commands_draw_without_a_window_and_compile_whatever_a_shell_has_set(variables, tmp_path):
    (tmp_path / "matplotlibrc").write_text("backend: tkagg\n")
    code = (
        "from learning_dynamics.environment import set_variables_of_commands; set_variables_of_commands();"
        "import matplotlib.pyplot as plt, numba; plt.figure(); print(plt.get_backend(), numba.config.DISABLE_JIT)"
    )
    ended = python("-c", code, folder=tmp_path, **variables)
    assert ended.stderr == ""
    backend, numba_is_disabled = ended.stdout.split()
    assert backend == "agg"
    assert numba_is_disabled == "0"


@pytest.mark.parametrize("before", [None, "0", "1"])
def test_numba_is_disabled_within_the_context_and_as_before_after_it(before, monkeypatch):
    variable = environment.NO_JIT_VARIABLE
    monkeypatch.delenv(variable, raising=False)
    if before is not None:
        monkeypatch.setenv(variable, before)
    with environment.numba_disabled():
        assert os.environ[variable] == "1"
    assert os.environ.get(variable) == before


def test_a_dry_run_compiles_nothing(tmp_path):
    # Snakemake checks the configuration, and imports the functions that it names
    command = ["snakemake", "-n", "--snakefile", str(ROOT / "Snakefile"), "figures/spectral_bias/fig1a.pdf"]
    ended = python("-m", *command, folder=tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "compiled"))
    assert "1 figure" in ended.stdout, ended.stderr  # one job of the rule `figure` is planned
    assert not (tmp_path / "compiled").exists()


# -- the working folder ------------------------------------------------------------------------------------------------

SHADOWED = ("random", "typing", "json", "numpy", "queue")
SCRIPT = str(Path(sys.executable).with_name("learning-dynamics"))


@pytest.mark.parametrize("command", [[SCRIPT], ["-m", "learning_dynamics"]], ids=["script", "module"])
def test_files_in_the_working_folder_are_not_run(command, tmp_path):
    for name in SHADOWED:
        (tmp_path / f"{name}.py").write_text("raise SystemExit(f'{__name__} of the working folder was run')\n")
    # an empty entry, as `PYTHONPATH=$PYTHONPATH:...` leaves, is the working folder as well
    for path in ("", f":{ROOT / 'src'}"):
        ended = python(*command, "summary", folder=tmp_path, PYTHONPATH=path)
        # the command has started, with the modules of Python and NumPy, and found that there is nothing to summarise
        assert "neither results nor figures lie here" in ended.stderr, path


@pytest.fixture
def inside_another(tmp_path):
    """A folder inside another checkout, `tmp_path`."""
    (tmp_path / "src/learning_dynamics").mkdir(parents=True)
    (tmp_path / "Snakefile").touch()
    inside = tmp_path / "docs/notebooks"
    inside.mkdir(parents=True)
    return inside


def test_code_of_this_checkout_is_refused_in_a_folder_of_another(inside_another, tmp_path, monkeypatch):
    monkeypatch.chdir(inside_another)
    with pytest.raises(ProjectError, match=rf"the code of {ROOT}, and the working folder belongs to {tmp_path};"):
        environment.check_checkout()


def test_code_of_a_checkout_is_accepted_in_its_own_folders(inside_another, tmp_path, monkeypatch):
    monkeypatch.chdir(inside_another)
    environment.check_checkout(tmp_path)  # raises where it refuses


def test_a_folder_without_a_snakefile_is_no_checkout(inside_another, tmp_path, monkeypatch):
    (tmp_path / "Snakefile").unlink()
    (tmp_path / "results").mkdir()
    monkeypatch.chdir(inside_another)
    environment.check_checkout()  # raises where it refuses


def test_a_command_in_another_checkout_ends_with_one_line_and_writes_nothing(inside_another, tmp_path):
    ended = python("-m", "learning_dynamics", "new", "begun", folder=inside_another)
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
    assert f"belongs to {tmp_path}" in ended.stderr
    for checkout in (ROOT, tmp_path):
        assert not (checkout / "workflow/config/begun.yaml").exists(), checkout


def test_the_package_cannot_be_used_from_python_in_another_checkout(inside_another, tmp_path):
    ended = python("-c", "import learning_dynamics as ld; ld.paper_names()", folder=inside_another)
    assert ended.returncode == 1
    assert f"belongs to {tmp_path}" in ended.stderr


def test_a_link_to_the_checkout_is_the_checkout(tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(ROOT)
    monkeypatch.chdir(tmp_path / "link")
    environment.check_checkout()  # raises where it refuses


@pytest.fixture
def two_paths(tmp_path, monkeypatch):
    """Return two paths of one checkout, neither of which is a link, as under a bind mount or an automounter.

    Files under the second path have the device and inode of those under the first.
    """
    for name in ("one", "two"):
        (tmp_path / name / "src/learning_dynamics").mkdir(parents=True)
        (tmp_path / name / "Snakefile").touch()
    stat = os.stat

    def same(path, **options):
        text = os.fspath(path)
        return stat(text.replace(f"{tmp_path}/two", f"{tmp_path}/one") if isinstance(text, str) else text, **options)

    monkeypatch.setattr(os, "stat", same)
    return tmp_path / "one", tmp_path / "two"


def test_a_checkout_is_recognised_under_its_other_path(two_paths, monkeypatch):
    one, two = two_paths
    monkeypatch.chdir(two)
    # either raises where it refuses
    environment.check_checkout(one)
    environment.check_snakefile(two, one)


def test_the_snakefile_of_another_checkout_is_refused(two_paths):
    one, _ = two_paths
    with pytest.raises(ProjectError, match=r"this environment runs the code of .*; activate the environment of this"):
        environment.check_snakefile(ROOT, one)


def test_a_copy_of_the_package_without_its_checkout_says_how_to_install_the_checkout(tmp_path):
    packages = tmp_path / "site-packages"
    without = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src/learning_dynamics", packages / "learning_dynamics", ignore=without)
    for folder in (tmp_path, ROOT):
        for command in (
            ["-m", "learning_dynamics", "summary"],
            ["-c", "import learning_dynamics as ld; ld.paper_names()"],
        ):
            ended = python(*command, folder=folder, PYTHONPATH=str(packages))
            assert ended.returncode == 1, (folder, command)
            assert "is a copy of the package, installed without its configuration" in ended.stderr, (folder, command)
            assert "pip install --editable ." in ended.stderr, (folder, command)


def test_python_that_drops_docstrings_is_refused(tmp_path):
    ended = python("-m", "learning_dynamics", "summary", folder=tmp_path, PYTHONOPTIMIZE="2", PYTHONPATH=SOURCES)
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
    assert "type: unset PYTHONOPTIMIZE" in ended.stderr


def test_jobs_keep_their_docstrings(monkeypatch):
    monkeypatch.setattr(os, "environ", {"PATH": "", "PYTHONOPTIMIZE": "2"})
    environment.set_variables_of_jobs()
    assert "PYTHONOPTIMIZE" not in os.environ


# -- commits -----------------------------------------------------------------------------------------------------------


def git(folder, *arguments):
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


def commit_all(folder):
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "all", "--allow-empty")
    return subprocess.check_output(["git", "-C", str(folder), "rev-parse", "HEAD"], text=True).strip()


def commit_of(folder, monkeypatch):
    """Return the commit that the package would record if it ran from this folder, and whether sources are edited.

    Both are None without a repository. What the package has cached of its own folder is not used.
    """
    monkeypatch.setattr(stamps, "__file__", str(folder / "src/learning_dynamics/pipeline/store/stamps.py"))
    return stamps._commit.__wrapped__()


@pytest.fixture
def unpacked(tmp_path):
    """A folder with one source of the package, as from an archive: neither it nor one around it is a repository."""
    folder = tmp_path / "thesis/code"
    store = folder / "src/learning_dynamics/pipeline/store"
    store.mkdir(parents=True)
    shutil.copy(ROOT / "src/learning_dynamics/pipeline/store/stamps.py", store)
    return folder


def test_without_a_repository_there_is_no_commit(unpacked, monkeypatch):
    assert commit_of(unpacked, monkeypatch) == (None, None)


def test_a_checkout_is_dirty_where_its_sources_are_edited(unpacked, monkeypatch):
    commit = commit_all(unpacked)
    (unpacked / "notes").touch()
    assert commit_of(unpacked, monkeypatch) == (commit, False)
    (unpacked / "src/learning_dynamics/pipeline/store/stamps.py").write_text("edited")
    assert commit_of(unpacked, monkeypatch) == (commit, True)


def test_a_worktree_and_a_link_to_a_checkout_have_its_commit(unpacked, monkeypatch):
    commit = commit_all(unpacked)
    git(unpacked, "worktree", "add", "../tree")
    (unpacked.parent / "link").symlink_to(unpacked)
    for folder in ("tree", "link"):
        assert commit_of(unpacked.parent / folder, monkeypatch) == (commit, False), folder


@pytest.mark.parametrize(
    ("repository", "ignored"),
    [("..", "code"), ("..", ""), (".", "src")],
    ids=["around it, ignoring it", "around it", "its own, without its sources"],
)
def test_a_repository_that_does_not_hold_it_is_not_its_own(unpacked, monkeypatch, repository, ignored):
    (unpacked / repository / ".gitignore").write_text(f"{ignored}\n")
    commit_all(unpacked / repository)
    assert commit_of(unpacked, monkeypatch) == (None, None)


@pytest.mark.parametrize(
    ("variable", "place"),
    [
        ("GIT_DIR", ".git"),
        ("GIT_WORK_TREE", ""),
        ("GIT_INDEX_FILE", ".git/index"),
        ("GIT_OBJECT_DIRECTORY", ".git"),
    ],
)
def test_a_variable_that_names_another_repository_is_dropped(unpacked, monkeypatch, tmp_path, variable, place):
    other = tmp_path / "other"
    other.mkdir()
    commit_all(other)
    commit = commit_all(unpacked)
    monkeypatch.setenv(variable, str(other / place))
    assert commit_of(unpacked, monkeypatch) == (commit, False)


# -- the pinned environment --------------------------------------------------------------------------------------------

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BASE = ("cluster", "docs", "test", "lint")  # the extras that `make` installs with the project itself


def pinned_packages(group):
    """Return the names of the packages in a file of requirements."""
    text = (ROOT / f"requirements/{group}.txt").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z0-9-]+)==", text, re.MULTILINE))


def package_of(dependency):
    """Return the name of a dependency's package, as requirements spell it: `ruamel-yaml` of `ruamel.yaml>=0.18`."""
    name = re.split(r"[\[<>=!~ ;]", dependency)[0]
    return name.lower().replace("_", "-").replace(".", "-")


@pytest.mark.parametrize("extra", sorted(PROJECT["optional-dependencies"]))
def test_every_dependency_is_pinned(extra):
    dependencies = {package_of(each) for each in [*PROJECT["dependencies"], *PROJECT["optional-dependencies"][extra]]}
    pinned = pinned_packages("base") | pinned_packages("torch")
    if extra not in BASE:
        pinned |= pinned_packages(extra)
    assert dependencies - pinned == set(), "run .ci/lock"


@pytest.mark.parametrize("extra", sorted(set(PROJECT["optional-dependencies"]) - set(BASE)))
def test_no_package_is_pinned_twice(extra):
    twice = pinned_packages(extra) & (pinned_packages("base") | pinned_packages("torch"))
    assert not twice, "base.txt or torch.txt has these already: run .ci/lock"
