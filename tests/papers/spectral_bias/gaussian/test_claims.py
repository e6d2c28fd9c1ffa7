"""What the claim on Figure 4 refuses: spectra in which fewer or more than k values grow."""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.judging import evaluate
from learning_dynamics.papers.spectral_bias.gaussian import claims
from learning_dynamics.tidy import rows

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


def test_what_is_told_value_by_value():
    facts = judged([2.0, 0.8, 0.4, 0.0, 0.0]).facts
    moved = START[1:3] * np.array([0.8, 0.4])
    assert facts["first"] == pytest.approx(moved[1] ** 2 / np.sum(moved**2))
    assert (facts["first_against"], facts["members"]) == (1, 1)
    assert (facts["least"], facts["next"]) == pytest.approx((0.8, 0.4))
    ends = START[:2] * np.array([3.0, 1.8])
    assert facts["below"] == pytest.approx(np.median(np.abs(ends - 1)))
