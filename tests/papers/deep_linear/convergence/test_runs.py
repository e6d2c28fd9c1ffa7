"""Starts of descents and flows: their spectra, their bounds, and what rounding must not do to them."""

import numpy as np
import pytest

from learning_dynamics.dynamics.gradient_flow import LogSpan
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.deep_linear.convergence import runs

GUARANTEE = {
    "size": 2,
    "horizon": 40.0,
    "points": 3,
    "seeds": 2,
    "margin": 0.4,
    "step": 0.5,
    "rescaling": 5.0,
    "depth": 3,
    "smallest": 0.8,
    "largest": 1.2,
    "seed": 0,
}


def test_at_depth_two_rounding_does_not_leave_the_singular_matrix():
    found = runs.guarantee(**GUARANTEE | {"depth": 2, "smallest": 1.0, "largest": 1.0, "horizon": 81.0})
    (places,) = np.nonzero(found.constants["case"] == "beyond a singular matrix")
    for place in places:
        W, target = found.series["end_to_end"][place, -1], found.constants["target"][place]
        np.testing.assert_allclose(
            np.linalg.svd(W - target, compute_uv=False), [1.0, 0.0], rtol=0, atol=1e-9, err_msg=f"{place=}"
        )


def test_a_start_below_singular_matrices_is_found_along_a_short_step():
    span = LogSpan(first_time=1e-2, horizon=1.0, points=2, rtol=1e-6, atol=1e-9)
    found = runs.convex_losses(depth=2, singular_values=[3.0], share=0.98, seeds=20, integration=span, seed=0)
    below = found.constants["start"] == "below"
    gap = found.series["end_to_end"][below, 0] - found.constants["target"][below]
    assert np.all((np.abs(gap) < 3.0) & (np.abs(gap) > 2.0))


def test_every_draw_has_a_spectrum_of_its_own_within_the_bounds():
    span = LogSpan(first_time=1e-3, horizon=1.0, points=2, rtol=1e-6, atol=1e-9)
    flows = runs.margins(
        depths=[2], size=3, smallest=0.5, largest=2.0, fractions=[0.5], seeds=4, integration=span, seed=0
    )
    descents = runs.guarantee(**GUARANTEE)
    for name, found, low, high in (("flows", flows, 0.5, 2.0), ("descents", descents, 0.8, 1.2)):
        values = np.linalg.svd(found.constants["target"], compute_uv=False)
        assert np.all((values >= low) & (values <= high)), f"{name=}"
        of_draws = values[np.unique(found.constants["member"], return_index=True)[1]]
        assert len(np.unique(of_draws.round(9))) == of_draws.size, f"{name=}"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"margin": 0.8}, r"margin \(0.8\) must be below smallest \(0.8\)"),
        ({"largest": 0.7}, r"smallest \(0.8\) must be at most largest \(0.7\)"),
    ],
)
def test_bounds_in_the_wrong_order_are_refused(given, words):
    with pytest.raises(ProjectError, match=words):
        runs.guarantee(**GUARANTEE | given)
