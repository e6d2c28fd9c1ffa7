"""A copy of the project in which Snakemake really runs: all five papers, or one small made-up paper of two topics."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from learning_dynamics import papers
from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.plan import digests, signatures, sources
from learning_dynamics.pipeline.plan.config_files import load, merge, read_yaml
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.starter import ONE_THREAD
from tests.pipeline.warm import warm_python
from tests.support import ROOT, SHARED, WHOLE

PROJECT = ("Snakefile", "config.yaml", "workflow", "profiles", "src")
OVERLAY = ("--configfile", "workflow/config/smoke.yaml")
TOY = Path(__file__).parent / "toy"
PAPER = "src/learning_dynamics/papers/toy"  # the folder of the made-up paper, in a project's folder


@dataclass
class Workspace:
    """A project folder and the command that builds in it."""

    folder: Path
    overlay: tuple[str, ...] = ()  # options that end every command of Snakemake
    variables: dict[str, str] = field(default_factory=dict)  # of the environment, besides those of the test run

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "snakemake", "--cores", "2", *arguments, *self.overlay]

    @property
    def environment(self) -> dict[str, str]:
        # as in a person's shell: without the test runner's variables, and without its path of imports
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "COV", "PYTHONPATH"))}
        # this folder's code, not the installed package
        return kept | ONE_THREAD | {"PYTHONPATH": "src"} | self.variables

    def run(self, *command: str) -> subprocess.CompletedProcess:
        return subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True)

    def snakemake(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess:
        """Run Snakemake to its end, for all targets if none is given; it must succeed unless `check` is false."""
        ended = self.run(self.quick_python, *self.command(*arguments)[1:])
        assert not check or ended.returncode == 0, ended.stdout + ended.stderr
        return ended

    def cli(self, *arguments: str) -> subprocess.CompletedProcess:
        """Run ``python -m learning_dynamics`` of this folder."""
        return self.python("-m", "learning_dynamics", *arguments)

    def python(self, *arguments: str) -> subprocess.CompletedProcess:
        """Run Python with this folder's package."""
        return self.run(self.quick_python, *arguments)

    def values(self, *expressions: str, code: str = "") -> list[Any]:
        """Return the values of expressions after some code, as JSON has them; `ld` is this folder's package."""
        program = f"import json\nimport learning_dynamics as ld\n{code}\nprint(json.dumps([{', '.join(expressions)}]))"
        ended = self.python("-c", program)
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout)

    @property
    def quick_python(self) -> str:
        """The path of a `python` that has imported the libraries; the usual one if `variables` has some of Python's."""
        return sys.executable if any(name.startswith("PYTHON") for name in self.variables) else warm_python()

    def start(self, *arguments: str) -> subprocess.Popen:
        """Start Snakemake in a process group of its own."""
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.folder,
            env=self.environment,
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def would_run(self, *targets: str) -> set[str]:
        """Return the first output of every job that Snakemake would run; jobs without outputs are left out."""
        return set(self.reasons(*targets))

    def reasons(self, *targets: str) -> dict[str, str]:
        """Return why Snakemake would run each job, by the job's first output."""
        planned = self.snakemake("--dry-run", *targets).stdout
        # a job is a line such as `figure    figures/toy/growth.pdf    new`
        return dict(re.findall(r"^\w+ +((?:results|figures)/\S+) +(.*)$", planned, re.MULTILINE))

    def read(self, path: str) -> str:
        return (self.folder / path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> None:
        (self.folder / path).write_text(text, encoding="utf-8")

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a text of a file, which must be there, by another."""
        text = self.read(path)
        assert old in text
        self.write(path, text.replace(old, new))

    def configure(self, *path: str, value: Any, file: str = "workflow/config/toy.yaml") -> None:
        """Set the value at the end of a path of keys, in a configuration file of this folder."""
        config = read_yaml(self.folder / file)
        block = config
        for key in path[:-1]:
            block = block.setdefault(key, {})
        block[path[-1]] = value
        self.write(file, yaml.safe_dump(config, sort_keys=False))

    def copy(self, folder: Path) -> Workspace:
        shutil.copytree(self.folder, folder, symlinks=True)  # keeps modification times
        return Workspace(folder, self.overlay, dict(self.variables))


def fresh(folder: Path) -> Workspace:
    """Return the project as it is shipped, to be run with the smoke overlay."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in PROJECT:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy2(ROOT / name, folder / name)
    return Workspace(folder, OVERLAY)


def toy(folder: Path) -> Workspace:
    """Return the project with one paper: the skeleton that `new` writes, and a topic with data and a resume point."""
    workspace = fresh(folder)
    ended = workspace.cli("new", "toy")
    assert ended.returncode == 0, ended.stderr
    shutil.rmtree(folder / "tests")
    shutil.copy(TOY / "starts.py", folder / PAPER)
    shutil.copytree(TOY / "growth", folder / PAPER / "growth", ignore=shutil.ignore_patterns("__pycache__"))
    config = read_yaml(folder / "workflow/config/toy.yaml")
    merge(config, read_yaml(TOY / "toy.yaml"))
    workspace.write("workflow/config/toy.yaml", yaml.safe_dump(config, sort_keys=False))
    workspace.write("config.yaml", "seed: 2023\npapers: [toy]\nseeds_of: [toy]\n")
    return Workspace(folder)


def shared_workspace(folder: str, make: Callable[[Path], Workspace]) -> Workspace:
    """Return a workspace that all processes of a test run share, built by the first that asks."""
    project = Path(os.environ[SHARED], folder)
    project.parent.mkdir(parents=True, exist_ok=True)
    with open(project.parent / "lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (project.parent / "built").exists():
            shutil.rmtree(project, ignore_errors=True)
            make(project).snakemake()
            (project.parent / "built").touch()
    return Workspace(project, OVERLAY if make is fresh else ())


@pytest.fixture(scope="session")
def whole() -> Workspace:
    """Every figure of every paper, the page and the verdicts at smoke scale, built once; not to be changed."""
    return shared_workspace(WHOLE, fresh)


@pytest.fixture(scope="session")
def built() -> Workspace:
    """The made-up paper, built once; not to be changed."""
    return shared_workspace("toy/project", toy)


@pytest.fixture
def workspace(built, tmp_path) -> Workspace:
    """A copy of the built made-up paper, to be changed freely."""
    return built.copy(tmp_path / "project")


@pytest.fixture
def clean(tmp_path) -> Workspace:
    """The made-up paper before anything is built."""
    return toy(tmp_path / "project")


@pytest.fixture(scope="session")
def sources_of_toy(tmp_path_factory) -> Path:
    """The made-up paper's project folder, not to be changed."""
    return toy(tmp_path_factory.mktemp("sources") / "project").folder


def forget() -> None:
    """Forget the made-up paper's sources: their digests and signatures, and the modules that were imported."""
    digests.forget()
    signatures.forget()
    for name in [name for name in sys.modules if name.startswith("learning_dynamics.papers.toy")]:
        del sys.modules[name]


def set_at(block: Any, path: Sequence[str], value: Any) -> None:
    """Set the entry of a configuration at the end of a path of keys and list positions; the value `...` deletes it."""
    *keys, last = path
    for key in keys:
        block = block[int(key)] if isinstance(block, list) else block.setdefault(key, {})
    if value is ...:
        del block[last]
    else:
        block[last] = value


@pytest.fixture
def configured(sources_of_toy, tmp_path, monkeypatch) -> Callable[..., Plan]:
    """Return a function that changes the made-up paper's configuration and returns its plan.

    Later calls change the configuration that earlier calls have left.
    """
    monkeypatch.setattr(sources, "SOURCE_ROOT", sources_of_toy / "src")
    monkeypatch.setattr(papers, "__path__", [str(sources_of_toy / "src/learning_dynamics/papers")])
    forget()
    shutil.copytree(sources_of_toy / "workflow/config", tmp_path / "workflow/config")
    (tmp_path / "config.yaml").write_text("seed: 2023\npapers: [toy]\nseeds_of: [toy]\n")
    file = tmp_path / "workflow/config/toy.yaml"

    def change(
        path: str | Mapping[str, Any] = "", value: Any = None, *, files: Sequence[Path] = (), **given: Any
    ) -> Plan:
        """Set the value at a dotted path of keys, or those of a mapping by path, or delete with `...`; then load.

        `files` are overlays, and `given` is what the command line gives.
        """
        if path:
            values = path if isinstance(path, Mapping) else {path: value}
            config = read_yaml(file)
            for dotted_path, new_value in values.items():
                set_at(config, dotted_path.split("."), new_value)
            file.write_text(yaml.safe_dump(config, sort_keys=False, allow_unicode=True), encoding="utf-8")
        return Plan(load(files, given, root=tmp_path))

    yield change
    forget()


LONGEST_MESSAGE = 700  # characters: a few lines of a terminal, and no listing of everything that is there


def refusal(action: Callable[..., Any], *arguments: Any, **settings: Any) -> str:
    """Return the message of the `ProjectError` with which a call is refused, which is short."""
    message = ""
    try:
        action(*arguments, **settings)
    except ProjectError as error:
        message = str(error)
    assert message, f"{arguments} {settings}: accepted"
    assert len(message) < LONGEST_MESSAGE, f"{arguments} {settings}: {message}"
    return message


@pytest.fixture
def refuses(configured, tmp_path) -> Callable[..., None]:
    """Return a function that takes rows (path, value, words).

    It sets each path of the made-up paper's configuration to its value, alone, and asserts that loading this is refused
    with a message that contains the words.
    """
    file = tmp_path / "workflow/config/toy.yaml"

    def check(*rows: tuple[str, Any, str]) -> None:
        before = file.read_text(encoding="utf-8")
        for path, value, words in rows:
            message = refusal(configured, path, value)
            assert words in message, f"{path}: {value!r}: {message}"
            file.write_text(before, encoding="utf-8")

    return check
