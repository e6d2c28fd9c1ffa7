"""`Signature` reads from a function which settings and tables it takes, and checks a configuration against that.

Keyword-only parameters are settings, positional ones are data or the roles of tables.
"""

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


@columns()  # a decorator, which leaves an attribute `columns`
def figure(small: Table, large: Sequence[Table], other: Table = None, *, limit: Limit): ...


REQUIRED = {"width": 3, "scales": [1.0, 2], "seed": 0}  # settings of `flow` that have no default


def test_positional_parameters_are_arguments():
    assert list(Signature(flow).arguments) == ["data"]
    assert list(Signature(figure).arguments) == ["small", "large", "other"]
    assert Signature(figure).defaults == {"other": None}


def test_keyword_only_parameters_are_settings_and_a_dataclass_has_its_fields_below():
    assert Signature(figure).settings == {"limit"}
    assert set(Signature(figure).fields) == {"limit.rtol", "limit.horizon", "limit.points"}


def test_a_dataclass_descends_from_those_whose_fields_it_inherits():
    assert [signature.name for signature in Signature(Limit).lineage] == ["Limit", "Accuracy"]


def test_attributes_that_a_decorator_leaves_are_known():
    assert Signature(figure).has("columns")
    assert not Signature(flow).has("columns")


# `check` returns nothing; it raises an error that begins with the place, here "here"


@pytest.mark.parametrize(
    ("function", "settings"),
    [
        pytest.param(flow, REQUIRED, id="only those without default"),
        pytest.param(flow, REQUIRED | {"clip": None, "init": "b", "pairs": 4}, id="others in place of defaults"),
        pytest.param(
            flow, {"width": np.int64(3), "scales": (np.float32(1), np.float64(2)), "seed": 0}, id="numbers of numpy"
        ),
        pytest.param(figure, {"limit": {"horizon": np.float64(1.0), "rtol": 1}}, id="a mapping for a dataclass"),
    ],
)
def test_settings_that_fit_are_accepted(function, settings):
    Signature(function).check(settings, "here")


@pytest.mark.parametrize(
    "roles",
    [
        pytest.param({"large": ["b"], "small": "a"}, id="in any order, without the optional one"),
        pytest.param({"small": "a", "large": ["b"], "other": "c"}, id="with the optional one"),
    ],
)
def test_roles_that_fit_are_accepted(roles):
    Signature(figure).check_roles(roles, "here")


def test_a_single_run_is_refused_where_a_list_is_taken():
    assert "here.runs.large: must be a list of runs" in refusal(
        Signature(figure).check_roles, {"small": "a", "large": "b"}, "here"
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"width": 0}, "here.width: must be 1 or more"),
        ({"width": 10**300}, "here.width: must be 10000000000 or less"),
        ({"width": True}, "here.width: must be a whole number"),
        ({"width": 3.0}, "here.width: must be a whole number"),
        ({"scales": [1.0, -2.0]}, "here.scales.1: must be above 0"),
        ({"scales": []}, "here.scales: must not be empty"),
        ({"scales": 1.0}, "here.scales: must be a list"),
        ({"init": "c"}, "here.init: must be 'a' or 'b'"),
        ({"clip": float("inf")}, "here.clip: must be a finite number"),
        ({"clip": "1"}, "here.clip: must be a number"),
        ({"pairs": 3}, "here.pairs: Input should be a multiple of 2"),
    ],
)
def test_a_wrong_value_is_refused_with_its_key_and_the_values_that_are_taken(change, words):
    assert refusal(Signature(flow).check, REQUIRED | change, "here").startswith(words)


def test_a_setting_that_is_missing_is_refused():
    without_seed = {key: value for key, value in REQUIRED.items() if key != "seed"}
    assert refusal(Signature(flow).check, without_seed, "here").startswith("here.seed: missing; add it")
    misspelt = refusal(Signature(flow).check, without_seed | {"sead": 1}, "here")
    assert misspelt.startswith("here.sead: unknown setting of `flow`; did you mean `seed`?")


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ({"horizon": 1.0, "rtol": 0.0}, "here.limit.rtol: must be above 0"),
        ({"horizon": 1.0, "rtlo": 1.0}, "here.limit.rtlo: unknown setting of `Limit`; did you mean `rtol`?"),
        ({"horizon": 1.0}, "here.limit.rtol: missing"),
        (3, "here.limit: must be a mapping"),
    ],
)
def test_a_wrong_field_of_a_dataclass_is_refused_with_the_path_to_it(limit, words):
    assert refusal(Signature(figure).check, {"limit": limit}, "here").startswith(words)


def test_the_old_name_of_a_setting_is_refused_with_the_new_one():
    """`rare` is an old name of `exceptions` (`RENAMED` of `plan.validation`)."""

    def with_exceptions(*, exceptions: Positive): ...

    renamed = refusal(Signature(with_exceptions).check, {"rare": 0.1}, "here")
    assert renamed.endswith("`with_exceptions`; it is now `exceptions`")
    assert "it is now" not in refusal(Signature(flow).check, REQUIRED | {"rare": 0.1}, "here")


# the kind of number, the last that is accepted, one beyond it, and what the message says of that; 5e-324 is the
# smallest positive double, 1.0000000000000002 the next after 1
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
def test_a_kind_of_number_takes_the_last_number_of_its_range_and_none_beyond(kind, last, beyond, words):
    def run(*, gamma): ...

    run.__annotations__["gamma"] = getattr(setting_types, kind)  # as in `gamma: Count`
    Signature(run).check({"gamma": last}, "here")
    assert refusal(Signature(run).check, {"gamma": beyond}, "here").startswith(f"here.gamma: {words}")


def test_every_kind_of_number_is_tried_at_its_ends():
    assert {kind for kind, *_ in ENDS} == set(setting_types.__all__)


@pytest.mark.parametrize(
    ("annotations", "words"),
    [
        pytest.param({}, "has no type", id="none"),
        pytest.param({"width": "Cuont"}, "'Cuont' is not defined", id="misspelt"),
        pytest.param({"width": np.ndarray}, "ndarray", id="of a type that no setting can have"),
    ],
)
def test_an_annotation_that_cannot_be_read_is_refused_with_the_file_and_the_function(annotations, words):
    def run(*, width): ...

    run.__annotations__ = annotations
    # `Signature` itself may refuse, or `check`
    message = refusal(lambda: Signature(run).check({"width": 1}, "here"))
    assert "test_signatures.py: `run`: " in message
    assert words in message


def test_an_error_while_a_papers_module_is_imported_is_refused_with_its_file_and_line(configured, sources_of_toy):
    # loading the made-up paper's configuration imports its runs; all tests share its sources
    file = sources_of_toy / "src/learning_dynamics/papers/toy/growth/runs.py"
    source = file.read_text()
    file.write_text(source + "\n1 / 0\n")
    try:
        line = len(source.splitlines()) + 2  # of `1 / 0`, after an empty one
        assert f"growth/runs.py:{line}: ZeroDivisionError" in refusal(configured)
    finally:
        file.write_text(source)
