"""What has passed its checks is not checked again, until anything that they look at is another."""

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.study import passed, reasons, sources
from learning_dynamics.pipeline.study.config import Configuration
from learning_dynamics.pipeline.study.passed import Passport
from tests.support import SMOKE, project

PAPER = "spectral_bias"


@pytest.fixture
def checks(tmp_path, monkeypatch):
    """Let nothing have passed, and note the papers that are checked."""
    monkeypatch.setattr(passed, "PASSED", tmp_path / "passed")
    monkeypatch.setattr(passed.sys, "dont_write_bytecode", False)
    passed._first_sources.cache_clear()
    papers, check = [], reasons.check_reasons
    monkeypatch.setattr(reasons, "check_reasons", lambda study, paper: papers.append(paper) or check(study, paper))
    return papers


def test_the_same_configuration_is_checked_once_and_means_the_same(checks):
    first, second = project(SMOKE, papers=[PAPER]), project(SMOKE, papers=[PAPER])
    assert checks == [PAPER]
    assert first.study.runs == second.study.runs
    assert first.outputs == second.outputs


def test_another_one_is_checked(checks):
    project(SMOKE, papers=[PAPER])
    project(SMOKE, papers=[PAPER], seed=5)
    project(papers=[PAPER])
    assert checks == [PAPER] * 3
    project(SMOKE, papers=[PAPER])  # what passed before others did
    assert checks == [PAPER] * 3


def test_a_mistake_is_one_every_time(checks):
    wrong = {"scale": "wrong", "changes": {PAPER: {"runs": {"small_scale": {"gama": 1.0}}}}}
    for _ in range(2):
        with pytest.raises(ProjectError, match=r"gama: unknown setting"):
            project(SMOKE, papers=[PAPER], **wrong)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\n", b"0" * 64 + b"\n"])
def test_what_is_kept_and_cannot_be_read_is_nothing(checks, content):
    passed.PASSED.write_bytes(content)
    project(SMOKE, papers=[PAPER])
    assert checks == [PAPER]


def test_a_python_that_writes_nothing_beside_sources_keeps_nothing(checks, monkeypatch):
    monkeypatch.setattr(passed.sys, "dont_write_bytecode", True)
    project(SMOKE, papers=[PAPER])
    assert not passed.PASSED.exists()


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Return the folder of a package without sources."""
    monkeypatch.setattr(sources, "SOURCE_ROOT", tmp_path)
    folder = tmp_path / sources.PACKAGE
    folder.mkdir()
    return folder


def test_every_source_counts(root, tmp_path):
    configuration = Configuration(0, None, {})
    digests = [Passport(configuration).digest]
    for name, text in (("a.py", "x = 1"), ("a.py", "x = 2"), ("b.py", ""), ("b.py", "x = 2")):
        (root / name).write_text(text)
        digests.append(Passport(configuration).digest)
    (root / "b.py").rename(root / "c.py")
    digests += [Passport(configuration).digest, Passport(configuration.with_seed(1)).digest]
    linked = tmp_path / "elsewhere"
    linked.mkdir()
    (root / "topic").symlink_to(linked)
    for text in ("", "x = 1"):
        (linked / "runs.py").write_text(text)
        digests.append(Passport(configuration).digest)
    assert len(set(digests)) == len(digests)


def test_what_is_no_source_is_passed_over(root):
    before = Passport(Configuration(0, None, {})).digest
    (root / ".#a.py").symlink_to("me@here.1")  # as editors leave beside a file that is not saved
    (root / "b.py").mkdir()
    (root / "round").symlink_to(root)
    assert Passport(Configuration(0, None, {})).digest == before


def test_what_is_edited_while_it_is_checked_is_checked_again(checks, monkeypatch):
    check, edits = reasons.check_reasons, iter([b"edited"])
    digest = passed._digest_of_sources
    state = []

    def edit(study, paper):
        check(study, paper)
        state.extend(edits)

    monkeypatch.setattr(passed, "_digest_of_sources", lambda: digest() + b"".join(state))
    monkeypatch.setattr(reasons, "check_reasons", edit)
    for _ in range(3):
        project(SMOKE, papers=[PAPER])
    # once before the edit, and then each time: this process may know the sources as they were
    assert checks == [PAPER] * 3
