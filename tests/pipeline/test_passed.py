"""What has passed its checks is not checked again, until anything that they look at is another."""

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.study import passed, reasons, sources
from learning_dynamics.pipeline.study.config import Configuration
from tests.support import SMOKE, project

PAPER = "spectral_bias"


@pytest.fixture
def checks(tmp_path, monkeypatch):
    """Let nothing have passed, and note the papers that are checked."""
    monkeypatch.setattr(passed, "PASSED", tmp_path / "passed")
    monkeypatch.setattr(passed.sys, "dont_write_bytecode", False)
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


def test_every_source_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "SOURCE_ROOT", tmp_path)
    configuration = Configuration(0, None, {})
    root = tmp_path / sources.PACKAGE
    root.mkdir()
    passports = [passed.passport(configuration)]
    for name, text in (("a.py", "x = 1"), ("a.py", "x = 2"), ("b.py", ""), ("b.py", "x = 2")):
        (root / name).write_text(text)
        passports.append(passed.passport(configuration))
    (root / "b.py").rename(root / "c.py")
    passports += [passed.passport(configuration), passed.passport(configuration.with_seed(1))]
    assert len(set(passports)) == len(passports)
