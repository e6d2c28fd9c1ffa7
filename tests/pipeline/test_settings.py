"""Signatures as schemas."""

from __future__ import annotations

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.settings import signatures

SOURCE = '''
"""A module."""
from learning_dynamics.settings import Count, Positive
from typing import Literal


def flow(data, *, width: Count, scales: list[Positive], init: Literal["a", "b"] = "a", seed: int) -> None:
    """Flow."""


def _hidden(*, width): ...
'''


@pytest.fixture
def flow(tmp_path):
    module = tmp_path / "runs.py"
    module.write_text(SOURCE)
    assert set(signatures(module)) == {"flow"}
    return signatures(module)["flow"]


def test_arguments_docstring_and_seed(flow):
    assert flow.arguments == ("data",)
    assert flow.docstring == "Flow."
    assert flow.takes_seed


def test_good_settings_pass_with_defaults_left_out(flow):
    flow.check({"width": 3, "scales": [1.0, 2], "seed": 0}, "here")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 0, "scales": [1.0], "seed": 0}, "here.width: must be 1 or more"),
        ({"width": True, "scales": [1.0], "seed": 0}, "here.width: must be a whole number"),
        ({"width": 1, "scales": [1.0, -2.0], "seed": 0}, "here.scales.1: must be above 0"),
        ({"width": 1, "scales": 1.0, "seed": 0}, "here.scales: must be a list"),
        ({"width": 1, "scales": [1.0]}, "here.seed: missing; add it"),
        ({"width": 1, "scales": [1.0], "seed": 0, "init": "c"}, "here.init: must be 'a' or 'b'"),
        ({"width": 1, "scales": [1.0], "seed": 0, "scale": 1}, "here.scale: unknown setting of `flow`; did you mean"),
    ],
)
def test_bad_settings_name_the_key_and_the_mend(flow, settings, message):
    with pytest.raises(ProjectError) as refused:
        flow.check(settings, "here")
    assert str(refused.value).startswith(message)


def test_a_syntax_error_is_named_with_its_line(tmp_path):
    module = tmp_path / "runs.py"
    module.write_text("def broken(:\n")
    with pytest.raises(ProjectError, match=r"runs\.py:1: .*mend the syntax"):
        signatures(module)


def test_an_edited_module_is_read_again(tmp_path):
    module = tmp_path / "runs.py"
    module.write_text("def one(): ...\n")
    assert set(signatures(module)) == {"one"}
    module.write_text("def two(): ...\n")
    assert set(signatures(module)) == {"two"}
