"""Depth functions followed further than times can tell."""

import pytest

from learning_dynamics.dynamics.gradient_flow import Tolerances
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.tensor_networks.regression.runs import depth_functions


def test_a_blow_up_within_rounding_is_refused():
    given = {"records": 5, "integration": Tolerances(rtol=1e-11, atol=1e-14)}
    with pytest.raises(ProjectError, match="depth 8: q passes 1000 within rounding of its blow-up; lower `last`"):
        depth_functions(depths=[8], last=1000.0, **given)
    assert depth_functions(depths=[8], last=50.0, **given).constants["reached"].shape == (2,)
