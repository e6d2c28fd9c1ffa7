"""What the claims on Gaussian layers accept and refuse: spectra in which fewer or more than k values grow."""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.judging import evaluate
from learning_dynamics.papers.spectral_bias.gaussian import claims
from learning_dynamics.tidy import rows
from tests.papers.spectral_bias.doctored import evaluation_on, put, verdict_on

FLOW, LIMIT = {"phase": "flow", "time": 0.0}, {"phase": "limit"}


def spectrum(role, start, end, **which):
    """Let the six singular values of runs start and end as given."""
    alterations = []
    for index, (first, last) in enumerate(zip(start, end, strict=True), start=1):
        alterations.append(put("sigma_w1", first, role=role, index=index, **FLOW, **which))
        alterations.append(put("sigma_w1", last, role=role, index=index, **LIMIT, **which))
    return alterations


ONES = [0.1] * 6


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [
        # squares at the end: 95 % and a little more in the first two
        ([2.0, 1.0, 0.25, 0.25, 0.25, 0.2], "reproduced"),
        ([2.0, 1.0, 0.26, 0.26, 0.26, 0.26], "not reproduced"),
        ([2.0, 1.0, 0.47, 0.1, 0.1, 0.1], "reproduced"),
        ([2.0, 1.0, 0.49, 0.1, 0.1, 0.1], "not reproduced"),
    ],
)
def test_only_as_many_values_grow_as_there_are_outputs(ends, verdict):
    # the other reading fails by what its spectrum moves alone
    deviation = spectrum("deviation", [0.1, 0.1, 0.6, 0.6, 0.6, 0.6], [2.0, 1.0, 0.1, 0.1, 0.1, 0.1], draw=None)
    good = spectrum("printed", ONES, [2.0, 1.0, 0.1, 0.1, 0.1, 0.1], draw=None)
    altered = spectrum("printed", ONES, ends, draw=1)
    assert verdict_on("gaussian_init_low_rank", *deviation, *good, *altered) == verdict


def test_the_other_reading_has_to_be_another():
    both = [spectrum(role, ONES, [2.0, 1.0, 0.1, 0.1, 0.1, 0.1], draw=None) for role in ("printed", "deviation")]
    found = evaluation_on("gaussian_init_low_rank", *both[0], *both[1])
    assert found.verdict == "undecided"
    np.testing.assert_allclose(found.facts["deviation"], 5 / 5.04)


def test_the_worst_draw_is_shown():
    printed = spectrum("printed", [0.0] * 6, [2.0, 1.0, 1.0, 0.0, 0.0, 0.0], draw=None)
    found = evaluation_on("gaussian_init_low_rank", *printed)
    np.testing.assert_allclose([found.facts["value"], found.facts["moved"]], [5 / 6, 1 / 6])


START = np.array([0.5, 0.48, 0.46, 0.44, 0.42])
TWO_GROW, ALL_GROW = [2.0, 0.8, 0.05, 0.02, 0.0], [1.0, 1.0, 1.0, 1.0, 1.0]


def table_of(growth):
    """Return a run of one draw with two outputs, whose five singular values grow by the given factors."""
    axes = {"seed": np.arange(1), "time": np.zeros(1)}
    end = (START * (1 + np.array(growth)))[None, None]
    flow = rows({"sigma_w1": START[None, None]}, axes).assign(phase="flow")
    limit = rows({"sigma_w1": (end, 1.0), "sigma_beta": end[..., :2]}, axes).assign(phase="limit")
    table = pd.concat([flow, limit], ignore_index=True)
    table.attrs = {"settings": {"variance": 0.01, "output_variance": 0.01}, "draw": ("seed",)}
    return table


def judged(growth, deviation=TWO_GROW, large=ALL_GROW):
    tables = {"flows": [table_of(growth)], "deviations": [table_of(deviation)], "large": table_of(large)}
    return evaluate(claims.nonzero_second_layer, tables, {"share": 0.95})


@pytest.mark.parametrize(
    ("growth", "deviation", "large", "verdict"),
    [
        (TWO_GROW, TWO_GROW, ALL_GROW, "reproduced"),
        # a third that takes a little less than a twentieth of the squared displacement, and a little more
        ([2.0, 0.8, 0.52, 0.02, 0.0], TWO_GROW, ALL_GROW, "reproduced"),
        ([2.0, 0.8, 0.54, 0.02, 0.0], TWO_GROW, ALL_GROW, "not reproduced"),
        (TWO_GROW, [2.0, 0.8, 0.54, 0.02, 0.0], ALL_GROW, "not reproduced"),
        # a value that falls is displaced too
        ([2.0, 0.8, 0.0, 0.0, -0.6], TWO_GROW, ALL_GROW, "not reproduced"),
        # one grows, so that one would do; the large scale does the same
        ([2.0, 0.1, 0.0, 0.0, 0.0], [2.0, 0.1, 0.0, 0.0, 0.0], ALL_GROW, "undecided"),
        (TWO_GROW, TWO_GROW, TWO_GROW, "undecided"),
    ],
)
def test_as_many_values_grow_as_there_are_outputs(growth, deviation, large, verdict):
    assert judged(growth, deviation, large).verdict == verdict


def test_what_is_shown_value_by_value():
    facts = judged([2.0, 0.8, 0.4, 0.0, 0.0]).facts
    moved = START[1:3] * np.array([0.8, 0.4])
    assert facts["first"] == pytest.approx(moved[1] ** 2 / np.sum(moved**2))
    assert (facts["first_against"], facts["members"]) == (1, 1)
    assert (facts["least"], facts["next"]) == pytest.approx((0.8, 0.4))
    ends = START[:2] * np.array([3.0, 1.8])
    assert facts["below"] == pytest.approx(np.median(np.abs(ends - 1)))
