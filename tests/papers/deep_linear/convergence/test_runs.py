"""Starts of descents and flows: spectra of targets, refused bounds, and what rounding must not do to descent."""

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


def test_descent_from_beyond_a_singular_matrix_stays_there_in_spite_of_rounding():
    """At depth two that matrix is a strict saddle, which rounding of 1e-16 would leave after a time of about 37.

    Rounding, exp(-37), grows like exp(sigma t), where sigma is one here; the run is twice as long.
    """
    settings = GUARANTEE | {"depth": 2, "smallest": 1.0, "largest": 1.0, "horizon": 81.0}
    trajectory = runs.guarantee(**settings)
    is_beyond = trajectory.constants["case"] == "beyond a singular matrix"
    at_end, targets = trajectory.series["end_to_end"][is_beyond, -1], trajectory.constants["target"][is_beyond]
    assert len(at_end) == settings["seeds"]
    # one singular value is learned; the other, whose target is one, has come to zero
    left = np.linalg.svd(at_end - targets, compute_uv=False)
    np.testing.assert_allclose(left, [[1.0, 0.0]] * len(left), rtol=0, atol=1e-9)


def test_starts_with_less_loss_than_singular_matrices_are_nearer_than_zero_is():
    """In one dimension zero, at a distance of 3, is the singular matrix.

    Losses are convex: a share of the loss there is at that share of the distance, or further. Of twenty draws some have
    a short step, along which the search for the start has to go far.
    """
    size, share = 3.0, 0.98
    span = LogSpan(first_time=1e-2, horizon=1.0, points=2, rtol=1e-6, atol=1e-9)
    trajectory = runs.convex_losses(depth=2, singular_values=[size], share=share, seeds=20, integration=span, seed=0)
    is_below = trajectory.constants["start"] == "below"
    distance = np.abs(trajectory.series["end_to_end"][is_below, 0] - trajectory.constants["target"][is_below])
    assert np.all((distance > share * size - 1e-9) & (distance < size))


def flows_at_margins():
    """Return the run of flows: spectra of targets have the bounds of GUARANTEE."""
    span = LogSpan(first_time=1e-3, horizon=1.0, points=2, rtol=1e-6, atol=1e-9)
    bounds = {name: GUARANTEE[name] for name in ("smallest", "largest")}
    return runs.margins(depths=[2], size=3, **bounds, fractions=[0.5], seeds=4, integration=span, seed=0)


def descents_of_the_guarantee():
    return runs.guarantee(**GUARANTEE)


@pytest.mark.parametrize("run", [flows_at_margins, descents_of_the_guarantee])
def test_every_draw_has_a_target_with_a_spectrum_of_its_own_within_the_bounds(run):
    trajectory = run()
    values = np.linalg.svd(trajectory.constants["target"], compute_uv=False)
    assert np.all((values >= GUARANTEE["smallest"]) & (values <= GUARANTEE["largest"]))
    _, first_members = np.unique(trajectory.constants["member"], return_index=True)  # `member` is the draw's number
    of_draws = values[first_members]
    assert len(of_draws) > 1
    assert len(np.unique(of_draws.round(9))) == of_draws.size, "no singular value occurs twice"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"margin": 0.8}, r"margin \(0.8\) must be below smallest \(0.8\)"),
        ({"largest": 0.7}, r"smallest \(0.8\) must be at most largest \(0.7\)"),
    ],
)
def test_bounds_in_the_wrong_order_are_refused(changed, message):
    with pytest.raises(ProjectError, match=message):
        runs.guarantee(**GUARANTEE | changed)
