"""`new` writes the skeleton of a paper: it overwrites nothing, and refuses names that the project cannot use.

That the skeleton builds is tested in test_adding_a_figure.py.
"""

import pytest

from learning_dynamics.pipeline.commands import new
from tests.pipeline.conftest import refusal


def contents_of(folder):
    """Return the content of every file of a folder, by path."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_paper_that_exists_is_not_overwritten(tmp_path):
    new.execute("begun", tmp_path)
    # a person has changed the skeleton: writing it again would lose this
    (tmp_path / "src/learning_dynamics/papers/begun/decay/runs.py").write_text("mine = 1\n")
    before = contents_of(tmp_path)
    assert "is there already; choose another name" in refusal(new.execute, "begun", tmp_path)
    assert contents_of(tmp_path) == before


@pytest.mark.parametrize(
    "name",
    [
        *("Begun", "be-gun", "be gun", "1begun", "_x", "ünder", "../begun", "toy/x"),
        pytest.param("class", id="class, a word of Python"),
        pytest.param("null", id="null, a word of YAML"),
        pytest.param("", id="empty"),
    ],
)
def test_a_name_other_than_small_letters_digits_and_underscores_is_refused(name, tmp_path):
    assert "a paper's name is small letters, digits and underscores" in refusal(new.execute, name, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["all", "run", "page", "robustness", "scratch_run"])
def test_the_name_of_a_rule_of_snakemake_is_refused(name, tmp_path):
    assert "is the name of a rule" in refusal(new.execute, name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_name_of_a_target_of_another_paper_is_refused(tmp_path):
    new.execute("begun", tmp_path)
    # `snakemake begun_metrics` makes the metrics of all runs of `begun`
    assert "is the name of a rule" in refusal(new.execute, "begun_metrics", tmp_path)
