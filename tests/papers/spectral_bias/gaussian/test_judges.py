"""What the claims on Gaussian layers accept and refuse."""

import numpy as np
import pytest

from tests.papers.spectral_bias.doctored import evaluation_on, everywhere, put, verdict_on

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
    deviation = spectrum("deviation", ONES, [1.0] * 6, draw=None)
    good = spectrum("printed", ONES, [2.0, 1.0, 0.1, 0.1, 0.1, 0.1], draw=None)
    altered = spectrum("printed", ONES, ends, draw=1)
    assert verdict_on("gaussian_init_low_rank", *deviation, *good, *altered) == verdict


def test_displaced_values_count_whichever_way_they_move():
    good = [
        *spectrum("deviation", ONES, [1.0] * 6, draw=None),
        *spectrum("printed", [0.5] * 6, [9.0, 8.0, 0.5, 0.5, 0.5, 0.5], draw=None),
    ]
    assert verdict_on("gaussian_init_low_rank", *good) == "reproduced"
    fallen = spectrum("printed", [0.5, 0.5, 3.0, 0.5, 0.5, 0.5], [9.0, 8.0, 0.1, 0.5, 0.5, 0.5])
    assert verdict_on("gaussian_init_low_rank", *good, *fallen) == "not reproduced"


def test_the_other_reading_has_to_be_another():
    same = [
        alteration
        for role in ("printed", "deviation")
        for alteration in spectrum(role, ONES, [2.0, 1.0, 0.1, 0.1, 0.1, 0.1], draw=None)
    ]
    found = evaluation_on("gaussian_init_low_rank", *same)
    assert found.verdict == "undecided"
    np.testing.assert_allclose(found.facts["deviation"], 5 / 5.04)


def test_the_worst_draw_is_told():
    printed = spectrum("printed", [0.0] * 6, [2.0, 1.0, 1.0, 0.0, 0.0, 0.0], draw=None)
    found = evaluation_on("gaussian_init_low_rank", *printed)
    np.testing.assert_allclose([found.facts["value"], found.facts["moved"]], [5 / 6, 1 / 6])
    assert verdict_on("gaussian_init_low_rank", *printed, everywhere("loss", 1.0)) == "not reproduced"
