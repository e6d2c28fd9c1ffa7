"""A paper is begun only where nothing lies, under a name; that it builds is in test_adding_a_figure.py."""

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands import new
from tests.pipeline.conftest import refusal


def test_what_is_there_is_not_overwritten(tmp_path):
    new.execute("begun", tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(ProjectError, match="is there already; choose another name"):
        new.execute("begun", tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_name_that_is_none_is_refused(tmp_path):
    for name in ("Begun", "be-gun", "../begun", "", "1begun", "be gun", "class", "toy/x", "_x", "ünder"):
        assert "a paper's name" in refusal(new.execute, name, tmp_path), name
    for name in ("all", "run", "page", "robustness", "scratch_run"):
        assert "is the name of a rule" in refusal(new.execute, name, tmp_path), name
    assert not list(tmp_path.iterdir())


def test_the_name_of_a_target_of_another_paper_is_refused(tmp_path):
    new.execute("begun", tmp_path)
    assert "is the name of a rule" in refusal(new.execute, "begun_metrics", tmp_path)
