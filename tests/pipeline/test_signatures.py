"""Signatures as schemas: what a function's keyword parameters say of its settings."""

import numpy as np
import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.study.signatures import signatures

SOURCE = '''
"""A module."""
from learning_dynamics.settings import Count, Positive
from learning_dynamics.tidy import Table
from typing import Literal


def flow(data, *, width: Count, scales: list[Positive], init: Literal["a", "b"] = "a", seed: int,
         clip: Positive | None = None) -> None:
    """Flow."""


@columns(1)
def drawn(small: Table, large: Sequence[Table], other: Table = None, *, member: int = 0): ...


def _hidden(*, width): ...
'''


def read(tmp_path, source):
    module = tmp_path / "runs.py"
    module.write_text(source)
    return signatures(module)


@pytest.fixture
def found(tmp_path):
    return read(tmp_path, SOURCE)


def test_what_is_public_is_found_with_its_arguments(found):
    assert set(found) == {"flow", "drawn"}
    assert list(found["flow"].arguments) == ["data"]
    assert found["flow"].docstring == "Flow."
    assert found["flow"].takes_seed
    assert found["drawn"].arguments == {"small": "Table", "large": "Sequence[Table]", "other": "Table"}
    assert found["drawn"].optional == {"other"}
    assert found["drawn"].decorators == ("columns",)


def test_good_settings_pass_with_defaults_left_out(found):
    found["flow"].check({"width": 3, "scales": [1.0, 2], "seed": 0}, "here")
    found["flow"].check({"width": 3, "scales": [1.0, 2], "seed": 0, "clip": None, "init": "b"}, "here")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 0, "scales": [1.0], "seed": 0}, "here.width: must be 1 or more"),
        ({"width": 10**300, "scales": [1.0], "seed": 0}, "here.width: must be 10000000000 or less"),
        ({"width": True, "scales": [1.0], "seed": 0}, "here.width: must be a whole number"),
        ({"width": 1, "scales": [1.0, -2.0], "seed": 0}, "here.scales.1: must be above 0"),
        ({"width": 1, "scales": [], "seed": 0}, "here.scales: must not be empty"),
        ({"width": 1, "scales": 1.0, "seed": 0}, "here.scales: must be a list"),
        ({"width": 1, "scales": [1.0]}, "here.seed: missing; add it"),
        ({"width": 1, "scales": [1.0], "seed": 0, "init": "c"}, "here.init: must be 'a' or 'b'"),
        ({"width": 1, "scales": [1.0], "seed": 0, "clip": float("inf")}, "here.clip: must be a finite number"),
        ({"width": 1, "scales": [1.0], "seed": 0, "scale": 1}, "here.scale: unknown setting of `flow`; did you mean"),
    ],
)
def test_bad_settings_name_the_key_and_the_mend(found, settings, message):
    with pytest.raises(ProjectError) as refused:
        found["flow"].check(settings, "here")
    assert str(refused.value).startswith(message)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize(
    ("kind", "least", "below", "message"),
    [
        ("Count", 1, 0, "must be 1 or more"),
        ("Natural", 0, -1, "must be 0 or more"),
        ("Seed", 0, -1, "must be 0 or more"),
        ("Real", -1e300, float("-inf"), "must be a finite number"),
        ("Positive", 5e-324, 0.0, "must be above 0"),
        ("NonNegative", 0.0, -5e-324, "must be 0.0 or more"),
        ("Fraction", 0.0, -5e-324, "must be 0.0 or more"),
        ("Fraction", 1.0, 1.0000000000000002, "must be 1.0 or less"),
        ("Scale", 1e-24, 1e-25, "must be 1e-24 or more"),
    ],
)
def test_every_kind_of_number_ends_where_it_says(tmp_path, kind, least, below, message):
    model = read(tmp_path, f'"""A module."""\n\n\ndef flow(data, *, gamma: {kind}) -> None: ...\n')["flow"]
    model.check({"gamma": least}, "here")
    with pytest.raises(ProjectError, match=f"here.gamma: {message}"):
        model.check({"gamma": below}, "here")


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        ("Cuont", "unknown type `Cuont`; did you mean `Count`"),
        ("np.ndarray", "not a type of settings"),
        ("", "has no type; annotate it"),
        ("list[Cuont]", "unknown type `Cuont`"),
        ("print(1)", "`print(1)` is not a type of settings"),
    ],
)
def test_an_annotation_that_means_nothing_is_an_error(tmp_path, annotation, message):
    colon = ": " if annotation else ""
    function = read(tmp_path, f"def flow(*, width{colon}{annotation}): ...\n")["flow"]
    with pytest.raises(ProjectError, match=r"runs\.py:1: `flow`: setting `width`: .*") as refused:
        function.check({"width": 1}, "here")
    assert message in str(refused.value)


CLASS = """from dataclasses import dataclass
from learning_dynamics.trajectories import Trajectory as Path

DECORATOR
class Limit:
    horizon: Positive
    points: KIND = 3


def flow(*, limit: Limit): ...
def other(*, path: Path): ...
"""


def test_a_class_of_settings_is_one_with_defaults(tmp_path):
    source = CLASS.replace("DECORATOR", "@dataclass(frozen=True)").replace("KIND", "Count")
    flow = read(tmp_path, source)["flow"]
    assert flow.settings == {"limit"}
    assert set(flow.fields) == {"limit.horizon", "limit.points"}
    flow.check({"limit": {"horizon": np.float64(1.0)}}, "here")


@pytest.mark.parametrize(
    ("decorator", "kind", "message"),
    [
        ("@dataclass", "Count", "runs.py:5: class `Limit` holds settings; make it a dataclass(frozen=True)"),
        ("@dataclass(frozen=True)", "Cuont", "runs.py:7: `Limit`: setting `points`: unknown type `Cuont`; did you"),
        ("@dataclass(frozen=True)", "list[Limit]", "runs.py:7: `Limit`: setting `points`: unknown type `Limit`"),
    ],
)
def test_a_class_that_holds_no_settings_is_an_error(tmp_path, decorator, kind, message):
    found = read(tmp_path, CLASS.replace("DECORATOR", decorator).replace("KIND", kind))
    with pytest.raises(ProjectError) as refused:
        found["flow"].check({"limit": {"horizon": 1.0}}, "here")
    assert message in str(refused.value)
    with pytest.raises(ProjectError, match=r"trajectories\.py:\d+: class `Trajectory` holds settings"):
        found["other"].check({"path": {}}, "here")


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"small": "a"}, "here.runs.large: missing; name the run that is the large of `drawn`"),
        ({"small": "a", "large": ["b"], "larg": "c"}, "here.runs.larg: `drawn` has no such role; did you mean `large`"),
        ({"small": ["a"], "large": ["b"]}, "here.runs.small: must be one run"),
        ({"small": "a", "large": "b"}, "here.runs.large: must be a list of runs"),
        ({"large": "a", "small": ["b"]}, "must be"),
    ],
)
def test_missing_misspelt_and_swapped_roles_are_refused(found, roles, message):
    with pytest.raises(ProjectError) as refused:
        found["drawn"].check_roles(roles, "here")
    assert message in str(refused.value)


def test_roles_are_by_name_and_the_optional_may_be_absent(found):
    found["drawn"].check_roles({"large": ["b"], "small": "a"}, "here")
    found["drawn"].check_roles({"small": "a", "large": ["b"], "other": "c"}, "here")


def test_a_syntax_error_is_named_with_its_line(tmp_path):
    with pytest.raises(ProjectError, match=r"runs\.py:1: .*mend the syntax"):
        read(tmp_path, "def broken(:\n")


def test_an_edited_module_is_read_again(tmp_path):
    assert set(read(tmp_path, "def one(): ...\n")) == {"one"}
    assert set(read(tmp_path, "def two(): ...\n")) == {"two"}
