"""What the claims on whitened data accept and refuse: each bound met just inside, and missed by little."""

import numpy as np
import pytest

from tests.papers.spectral_bias.doctored import evaluation_on, everywhere, put, verdict_on, with_steps
from tests.support import named_after_its_call

# a thousand steps at 1e-12 each, times the squared condition number: errors up to 1e-7
TOLERANT = [with_steps(1000, 1e-12), everywhere("condition_of_Z1", 10.0, phase="flow")]
FLOW = {"phase": "flow"}


@pytest.mark.parametrize("quantity", ["beta_off_diagonal", "alpha_off_diagonal", "c_17", "c_18", "c_22"])
@pytest.mark.parametrize(("value", "verdict"), [(0.9e-7, "reproduced"), (1.1e-7, "contradicted")])
def test_theorem_c_11_on_whitened_data(quantity, value, verdict):
    assert verdict_on("theorem_c_11", *TOLERANT, put(quantity, value, role="whitened", **FLOW)) == verdict


@pytest.mark.parametrize("quantity", ["commutator_with_layers", "commutator_with_alpha"])
@pytest.mark.parametrize("role", ["whitened", "others"])
@pytest.mark.parametrize(("value", "verdict"), [(0.9e-7, "reproduced"), (1.1e-7, "contradicted")])
def test_theorem_c_11_on_all_data(quantity, role, value, verdict):
    assert verdict_on("theorem_c_11", *TOLERANT, put(quantity, value, role=role, **FLOW)) == verdict


@pytest.mark.parametrize(
    ("role", "names"),
    # vectors that stand still whatever the data, are shared whatever the rows, matrices symmetric whatever the data
    [
        ("others", ["beta_off_diagonal", "alpha_off_diagonal"]),
        ("unequal", ["commutator_with_layers", "commutator_with_alpha"]),
        ("others", ["c_17", "c_18", "c_22"]),
    ],
)
def test_theorem_c_11_says_nothing_where_the_opposite_holds_as_well(role, names):
    opposite = [everywhere(name, 0.0, role=role) for name in names]
    assert verdict_on("theorem_c_11", *TOLERANT, *opposite) == "undecided"


SMALLEST = {"gamma": 1e-32, "role": "jump"}


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # the teacher's largest value, 2, jumps at 1/4, where the limit is 2/5
        ([put("sigma_beta", times=1 + 0.9e-9, index=1, time=0.25, draw=None, **SMALLEST)], "corrected"),
        ([put("sigma_beta", times=1 + 1e-8, index=1, time=0.25, draw=None, **SMALLEST)], "contradicted"),
        ([put("sigma_beta", times=1 + 1e-8, index=3, time=1.0, draw=None, **SMALLEST)], "contradicted"),
        ([put("sigma_beta", 2.0, index=1, time=0.25, draw=None, **SMALLEST)], "contradicted"),
        ([put("sigma_beta", times=1 + 1e-8, role="networks", **FLOW)], "contradicted"),
        ([put("sigma_beta", times=1 + 1e-8, index=2, gamma=1e-4, draw=None, role="jump")], "contradicted"),
    ],
)
def test_theorem_c_12(alterations, verdict):
    assert verdict_on("theorem_c_12", with_steps(1000, 1e-12), *alterations) == verdict


def test_the_value_at_the_jump_may_be_the_printed_one():
    jumps = ((1, 2.0, 0.25), (2, 1.0, 0.5), (3, 0.5, 1.0))
    printed = [
        put("sigma_beta", height, index=index, time=time, draw=None, column=column, **SMALLEST)
        for index, height, time in jumps
        for column in ("value", "predicted")
    ]
    assert verdict_on("theorem_c_12", *printed) == "reproduced"


@named_after_its_call
def shifted(share, **where):
    """Let a singular value be learnt later, by a share of the time."""

    def alter(tables):
        table = tables["jump"]
        rows = table["index"] == where["index"]
        for _, one in table[rows].groupby("gamma"):
            moved = np.interp(one["time"] / (1 + share), one["time"], np.log(one["value"].clip(lower=1e-300)))
            table.loc[one.index, "value"] = np.exp(moved)

    return alter


@pytest.mark.parametrize("index", [1, 2, 3])
def test_a_jump_at_another_time_is_refused(index):
    assert verdict_on("jump_process", shifted(0.02, index=index)) == "contradicted"


def test_the_extrapolated_times_are_those_of_the_jumps_to_a_millionth():
    found = evaluation_on("jump_process")
    assert found.min_detectable_error < 1e-6


def test_a_scale_further_from_the_step_than_the_one_before_is_refused():
    away = [put("sigma_beta", 0.3, index=3, gamma=1e-32, draw=None, time=time) for time in (0.25, 0.5)]
    assert verdict_on("jump_process", *away) == "contradicted"
    near = [put("sigma_beta", 0.3, index=3, gamma=1e-32, draw=None, time=time) for time in (0.9, 1.1)]
    assert evaluation_on("jump_process", *near).judgement.checks[1].state == "holds"
