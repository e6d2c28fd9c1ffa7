"""What the claim on Figure 4 refuses: spectra in which fewer or more than k values grow."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.claims import evaluate
from learning_dynamics.papers.spectral_bias.gaussian import claims
from learning_dynamics.tidy import rows

START = np.array([0.5, 0.48, 0.46, 0.44, 0.42])


def table_of(growth):
    """Return a run of one draw with two outputs, whose five singular values grow by the given factors."""
    axes = {"seed": np.arange(1), "time": np.zeros(1)}
    end = (START * (1 + np.array(growth)))[None, None]
    flow = rows({"sigma_w1": START[None, None]}, axes).assign(phase="flow")
    limit = rows({"sigma_w1": (end, 1.0), "sigma_beta": end[..., :2]}, axes).assign(phase="limit")
    table = pd.concat([flow, limit], ignore_index=True)
    table.attrs["settings"] = {"output_variance": 0.01}
    return table


@pytest.mark.parametrize(
    ("growth", "verdict"),
    [
        ([2.0, 0.5, 0.05, 0.02, 0.0], "reproduced"),
        ([2.0, 0.05, 0.05, 0.02, 0.0], "not reproduced"),
        ([2.0, 0.5, 0.3, 0.02, 0.0], "not reproduced"),
    ],
    ids=["two grow", "one grows", "three grow"],
)
def test_as_many_values_grow_as_there_are_outputs(growth, verdict):
    assert evaluate(claims.nonzero_second_layer, {"flows": [table_of(growth)]}, {"share": 0.95}).verdict == verdict
