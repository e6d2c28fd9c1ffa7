"""Singular values that fall with label noise, but not like an exponential."""

import numpy as np
import pytest

from tests.support import claim_tables, verdict

PAPER, CLAIM = "spectral_bias", "label_noise_low_rank"
COURSES = {
    "exponential": (lambda t: np.exp(-8 * t), "reproduced"),
    "to a tenth, and stays": (lambda t: np.maximum(1 - 3 * t, 0.1), "not reproduced"),
    "like a power of time": (lambda t: 1 / (1 + 30 * t), "not reproduced"),
}


@pytest.mark.parametrize("name", COURSES)
def test_only_an_exponential_decay_is_one(name):
    course, expected = COURSES[name]
    tables = claim_tables(PAPER, CLAIM)
    noisy = tables["noisy"]
    second = (noisy["quantity"] == "sigma_w1") & (noisy["index"] == 2)
    shares = noisy["time"] / noisy["time"].max()  # of the whole time
    noisy.loc[second, "value"] = course(shares[second])
    assert verdict(PAPER, CLAIM, tables) == expected
