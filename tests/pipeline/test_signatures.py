"""Signatures as schemas: keyword parameters are settings, positional ones are roles of tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pytest
from annotated_types import MultipleOf

from learning_dynamics import settings as setting_types
from learning_dynamics.pipeline.plan.signatures import Signature
from learning_dynamics.settings import Count, Positive
from learning_dynamics.tidy import Table, columns
from tests.pipeline.conftest import refusal

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
    data,
    *,
    width: Count,
    scales: list[Positive],
    init: Start = "a",
    seed: int,
    clip: Positive | None = None,
    pairs: Even = 2,
) -> None:
    """Flow."""


@columns()  # leaves an attribute `columns`
def figure(small: Table, large: Sequence[Table], other: Table = None, *, limit: Limit): ...


SETTINGS = {"width": 3, "scales": [1.0, 2], "seed": 0}  # what `flow` needs


def test_a_function_says_what_it_takes():
    assert list(Signature(flow).arguments) == ["data"]
    assert list(Signature(figure).arguments) == ["small", "large", "other"]
    assert Signature(figure).defaults == {"other": None}
    assert Signature(figure).has("columns")
    assert not Signature(flow).has("columns")
    assert Signature(figure).settings == {"limit"}
    assert set(Signature(figure).fields) == {"limit.rtol", "limit.horizon", "limit.points"}
    assert [one.name for one in Signature(Limit).lineage] == ["Limit", "Accuracy"]


def test_settings_and_roles_that_fit_are_accepted():
    """Numbers of numpy as well as Python's, and roles in any order."""
    Signature(flow).check(SETTINGS | {"clip": None, "init": "b", "pairs": 4}, "here")
    Signature(flow).check({"width": np.int64(3), "scales": (np.float32(1), np.float64(2)), "seed": 0}, "here")
    Signature(figure).check({"limit": {"horizon": np.float64(1.0), "rtol": 1}}, "here")
    Signature(figure).check_roles({"large": ["b"], "small": "a"}, "here")
    Signature(figure).check_roles({"small": "a", "large": ["b"], "other": "c"}, "here")


def test_a_single_run_is_refused_where_a_list_is_taken():
    assert "here.runs.large: must be a list of runs" in refusal(
        Signature(figure).check_roles, {"small": "a", "large": "b"}, "here"
    )


def test_bad_settings_name_the_key_and_the_fix():
    # a value of `...` leaves a setting out
    for change, words in (
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
    ):
        settings = {key: value for key, value in (SETTINGS | change).items() if value is not ...}
        assert refusal(Signature(flow).check, settings, "here").startswith(words), change
    for limit, words in (
        ({"horizon": 1.0, "rtol": 0.0}, "here.limit.rtol: must be above 0"),
        ({"horizon": 1.0, "rtlo": 1.0}, "here.limit.rtlo: unknown setting of `Limit`; did you mean `rtol`?"),
        ({"horizon": 1.0}, "here.limit.rtol: missing"),
        (3, "here.limit: must be a mapping"),
    ):
        assert refusal(Signature(figure).check, {"limit": limit}, "here").startswith(words), limit


def test_a_renamed_setting_is_refused_with_its_new_name_where_the_function_has_that():
    """Here `rare`, an old name of `exceptions` (`RENAMED` of `plan.validation`)."""

    def judged(*, exceptions: Positive): ...

    assert refusal(Signature(judged).check, {"rare": 0.1}, "here").endswith("`judged`; it is now `exceptions`")
    assert "it is now" not in refusal(Signature(flow).check, SETTINGS | {"rare": 0.1}, "here")


# of a kind of number the last that is accepted, the first beyond, and what is said of that
ENDS = (
    ("Count", 1, 0, "must be 1 or more"),
    ("Natural", 0, -1, "must be 0 or more"),
    ("Seed", 0, -1, "must be 0 or more"),
    ("Count", 10**10, 10**10 + 1, "must be 10000000000 or less"),
    ("Natural", 10**10, 10**10 + 1, "must be 10000000000 or less"),
    ("Seed", 2**63 - 1, 2**63, "must be 9223372036854775807 or less"),
    ("Real", -1e300, float("-inf"), "must be a finite number"),
    ("Positive", 5e-324, 0.0, "must be above 0"),
    ("NonNegative", 0.0, -5e-324, "must be 0.0 or more"),
    ("Fraction", 0.0, -5e-324, "must be 0.0 or more"),
    ("Fraction", 1.0, 1.0000000000000002, "must be 1.0 or less"),
    ("Scale", 1e-24, 1e-25, "must be 1e-24 or more"),
)


@pytest.mark.parametrize(("kind", "last", "beyond", "words"), ENDS)
def test_a_kind_of_number_ends_where_it_says(kind, last, beyond, words):
    def run(*, gamma): ...

    run.__annotations__["gamma"] = getattr(setting_types, kind)
    Signature(run).check({"gamma": last}, "here")
    assert refusal(Signature(run).check, {"gamma": beyond}, "here").startswith(f"here.gamma: {words}")


def test_every_kind_of_number_is_tried_at_its_ends():
    assert {kind for kind, *_ in ENDS} == set(setting_types.__all__)


def test_an_annotation_that_cannot_be_read_names_the_file_and_the_function():
    def run(*, width): ...

    for annotations, words in (
        ({}, "has no type"),
        ({"width": "Cuont"}, "'Cuont' is not defined"),
        ({"width": np.ndarray}, "ndarray"),
    ):
        run.__annotations__ = annotations
        # `Signature` itself may refuse
        said = refusal(lambda: Signature(run).check({"width": 1}, "here"))
        assert "test_signatures.py: `run`: " in said, annotations
        assert words in said, annotations


def test_a_module_that_cannot_be_imported_names_the_file_and_the_line(configured, sources_of_toy):
    """Loading the made-up paper's configuration imports its runs; all tests share its sources, to be put back."""
    file = sources_of_toy / "src/learning_dynamics/papers/toy/growth/runs.py"
    source = file.read_text()
    file.write_text(source + "\n1 / 0\n")
    try:
        line = len(source.splitlines()) + 2
        assert f"growth/runs.py:{line}: ZeroDivisionError" in refusal(configured)
    finally:
        file.write_text(source)
