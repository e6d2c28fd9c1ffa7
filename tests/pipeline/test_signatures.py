"""Signatures as schemas: what a function's keyword parameters say of its settings."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pytest
from annotated_types import MultipleOf

from learning_dynamics import settings as setting_types
from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.study.signatures import Signature
from learning_dynamics.settings import Count, Positive
from learning_dynamics.tidy import Table, columns
from tests.support import ROOT

Start = Literal["a", "b"]
Even = Annotated[int, MultipleOf(2)]


@dataclass(frozen=True)
class Accuracy:
    rtol: Positive


@dataclass(frozen=True)
class Limit(Accuracy):
    horizon: Positive
    points: Count = 3


def flow(
    data, *, width: Count, scales: list[Positive], init: Start = "a", seed: int, clip: Positive | None = None,
    pairs: Even = 2,
) -> None:  # fmt: skip
    """Flow."""


@columns()
def figure(small: Table, large: Sequence[Table], other: Table = None, *, limit: Limit): ...


SETTINGS = {"width": 3, "scales": [1.0, 2], "seed": 0}


def test_what_a_function_takes_is_read_from_it():
    assert list(Signature(flow).arguments) == ["data"]
    assert Signature(flow).docstring == "Flow."
    assert Signature(flow).takes_seed
    assert list(Signature(figure).arguments) == ["small", "large", "other"]
    assert Signature(figure).optional == {"other"}
    assert Signature(figure).has("columns")
    assert Signature(figure).settings == {"limit"}
    assert set(Signature(figure).fields) == {"limit.rtol", "limit.horizon", "limit.points"}
    assert [parent.name for parent in Signature(Limit).ancestors] == ["Accuracy"]


def test_good_settings_pass_with_defaults_left_out():
    Signature(flow).check(SETTINGS, "here")
    Signature(flow).check(SETTINGS | {"clip": None, "init": "b", "pairs": 4}, "here")
    Signature(flow).check({"width": np.int64(3), "scales": (np.float32(1), np.float64(2)), "seed": 0}, "here")
    Signature(figure).check({"limit": {"horizon": np.float64(1.0), "rtol": 1}}, "here")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 0}, "here.width: must be 1 or more"),
        ({"width": 10**300}, "here.width: must be 10000000000 or less"),
        ({"width": True}, "here.width: must be a whole number"),
        ({"width": 3.0}, "here.width: must be a whole number"),
        ({"scales": [1.0, -2.0]}, "here.scales.1: must be above 0"),
        ({"scales": []}, "here.scales: must not be empty"),
        ({"scales": 1.0}, "here.scales: must be a list"),
        ({"seed": ...}, "here.seed: missing; add it"),
        ({"init": "c"}, "here.init: must be 'a' or 'b'"),
        ({"clip": float("inf")}, "here.clip: must be a finite number"),
        ({"clip": "1"}, "here.clip: must be a number"),
        ({"pairs": 3}, "here.pairs: Input should be a multiple of 2"),
        ({"seed": ..., "sead": 1}, "here.sead: unknown setting of `flow`; did you mean `seed`?"),
    ],
)
def test_bad_settings_name_the_key_and_the_fix(change, message):
    settings = {key: value for key, value in (SETTINGS | change).items() if value is not ...}
    with pytest.raises(ProjectError) as refused:
        Signature(flow).check(settings, "here")
    assert str(refused.value).startswith(message)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ({"horizon": 1.0, "rtol": 0.0}, "here.limit.rtol: must be above 0"),
        ({"horizon": 1.0, "rtlo": 1.0}, "here.limit.rtlo: unknown setting of `Limit`; did you mean `rtol`?"),
        ({"horizon": 1.0}, "here.limit.rtol: missing"),
        (3, "here.limit: must be a mapping"),
    ],
)
def test_settings_of_a_class_are_named_with_it(limit, message):
    with pytest.raises(ProjectError, match=message):
        Signature(figure).check({"limit": limit}, "here")


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
def test_every_kind_of_number_ends_where_it_says(kind, least, below, message):
    def run(*, gamma): ...

    run.__annotations__["gamma"] = getattr(setting_types, kind)
    Signature(run).check({"gamma": least}, "here")
    with pytest.raises(ProjectError, match=f"here.gamma: {message}"):
        Signature(run).check({"gamma": below}, "here")


@pytest.mark.parametrize(
    ("annotation", "message"), [("Cuont", "'Cuont' is not defined"), (np.ndarray, "ndarray"), (None, "has no type")]
)
def test_an_annotation_that_means_nothing_names_the_file_and_the_function(annotation, message):
    def run(*, width): ...

    if annotation is not None:
        run.__annotations__["width"] = annotation
    with pytest.raises(ProjectError, match=rf"test_signatures\.py: `run`: .*{message}"):
        Signature(run).check({"width": 1}, "here")


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"small": "a"}, "here.runs.large: missing; name the run that is the large of `figure`"),
        (
            {"small": "a", "large": ["b"], "larg": "c"},
            "here.runs.larg: `figure` has no such role; did you mean `large`",
        ),
        ({"small": ["a"], "large": ["b"]}, "here.runs.small: must be one run"),
        ({"small": "a", "large": "b"}, "here.runs.large: must be a list of runs"),
        ({"large": "a", "small": ["b"]}, "must be"),
    ],
)
def test_missing_misspelt_and_swapped_roles_are_refused(roles, message):
    with pytest.raises(ProjectError) as refused:
        Signature(figure).check_roles(roles, "here")
    assert message in str(refused.value)


def test_roles_are_by_name_and_the_optional_may_be_absent():
    Signature(figure).check_roles({"large": ["b"], "small": "a"}, "here")
    Signature(figure).check_roles({"small": "a", "large": ["b"], "other": "c"}, "here")


def test_a_module_that_cannot_be_imported_is_named_with_its_line(configured, sources_of_toy):
    file = sources_of_toy / "src/learning_dynamics/papers/toy/growth/runs.py"
    source = file.read_text()
    file.write_text(source + "\n1 / 0\n")
    try:
        with pytest.raises(ProjectError, match=rf"growth/runs\.py:{len(source.splitlines()) + 2}: ZeroDivisionError"):
            configured()
    finally:
        file.write_text(source)


def test_checking_every_configuration_imports_no_torch():
    """A start would take seconds longer."""
    code = (
        "import sys; from learning_dynamics.pipeline.study.config import load;"
        "from learning_dynamics.pipeline.study.project import Project; Project(load()); print('torch' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert ended.stdout == "False\n", ended.stderr
