"""Starts of the guarantee's descent: what each keeps, and the step that each takes."""

import numpy as np
import pytest

from learning_dynamics.dynamics.gradient_flow import LogSpan
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.deep_linear.convergence import runs, theory

MARGIN, RESCALING, DEPTH = 0.4, 10.0, 3
CASES = ("assumptions hold", "beyond a singular matrix", "unbalanced", "imbalance allowed", "unbalanced, shorter step")
KEPT, BEYOND, UNEVEN, ALLOWED, SHORTER = CASES


@pytest.fixture(scope="module")
def descent():
    return runs.guarantee(depth=DEPTH, size=2, smallest=0.8, largest=1.2, margin=MARGIN, step=0.5, rescaling=RESCALING,
                          horizon=40.0, points=9, seeds=2, seed=0)  # fmt: skip


def of_case(descent, case, name):
    return descent.constants[name][descent.constants["case"] == case]


def test_the_step_follows_the_margin_and_is_shortened_by_the_square_of_the_rescaling(descent):
    np.testing.assert_allclose(of_case(descent, KEPT, "learning_rate"), 0.5 * MARGIN**4)
    np.testing.assert_allclose(of_case(descent, SHORTER, "learning_rate"), 0.5 * MARGIN**4 / RESCALING**2)


def test_imbalances_are_none_all_that_is_allowed_and_far_more(descent):
    allowed = [theory.allowed_imbalance(MARGIN, DEPTH, target) for target in of_case(descent, ALLOWED, "target")]
    # rounding of fractional matrix powers; the root of an imbalance is found to 1e-12
    np.testing.assert_allclose(of_case(descent, KEPT, "imbalance"), 0.0, atol=1e-12)
    np.testing.assert_allclose(of_case(descent, ALLOWED, "imbalance"), allowed, rtol=1e-6)
    assert np.all(of_case(descent, UNEVEN, "imbalance") > 1e3 * np.array(allowed))


def test_kept_and_rescaled_starts_have_the_same_product(descent):
    start = {case: descent.series["end_to_end"][descent.constants["case"] == case, 0] for case in CASES}
    for case in (UNEVEN, ALLOWED, SHORTER):
        np.testing.assert_allclose(start[case], start[KEPT], atol=1e-12)
    assert np.all(np.linalg.det(start[BEYOND]) * np.linalg.det(start[KEPT]) < 0)


def test_at_depth_two_rounding_does_not_leave_the_singular_matrix():
    found = runs.guarantee(depth=2, size=2, smallest=1.0, largest=1.0, margin=MARGIN, step=1.0, rescaling=100.0,
                           horizon=81.0, points=9, seeds=1, seed=0)  # fmt: skip
    W, target = found.series["end_to_end"][CASES.index(BEYOND), -1], of_case(found, BEYOND, "target")[0]
    np.testing.assert_allclose(np.linalg.svd(W - target, compute_uv=False), [1.0, 0.0], atol=1e-9)


def test_a_start_below_singular_matrices_is_found_along_a_short_step():
    span = LogSpan(start=1e-2, horizon=1.0, points=2, rtol=1e-6, atol=1e-9)
    found = runs.convex_losses(depth=2, singular_values=[3.0], share=0.98, seeds=20, integration=span, seed=0)
    below = found.constants["start"] == "below"
    gap = found.series["end_to_end"][below, 0] - found.constants["target"][below]
    assert np.all((np.abs(gap) < 3.0) & (np.abs(gap) > 2.0))


def test_every_draw_has_a_spectrum_of_its_own_within_the_bounds(descent):
    values = np.linalg.svd(of_case(descent, KEPT, "target"), compute_uv=False)
    assert np.all((values >= 0.8) & (values <= 1.2))
    assert len(np.unique(values.round(9))) == values.size
    span = LogSpan(start=1e-3, horizon=1.0, points=2, rtol=1e-6, atol=1e-9)
    flows = runs.margins(
        depths=[2], size=3, smallest=0.5, largest=2.0, fractions=[0.5], seeds=4, integration=span, seed=0
    )
    values = np.linalg.svd(flows.constants["target"], compute_uv=False)
    np.testing.assert_allclose(flows.constants["margin"], 0.5 * values[:, -1])
    assert np.all((values >= 0.5) & (values <= 2.0))
    assert len(np.unique(values[:: len(values) // 4].round(9))) == 12


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"margin": 0.8}, r"margin \(0.8\) must be below smallest \(0.8\)"),
        ({"largest": 0.7}, r"smallest \(0.8\) must be at most largest \(0.7\)"),
    ],
)
def test_bounds_in_the_wrong_order_are_refused(given, words):
    settings = {"depth": 2, "size": 2, "smallest": 0.8, "largest": 1.2, "margin": 0.4, "step": 1.0, "rescaling": 5.0,
                "horizon": 1.0, "points": 3, "seeds": 1, "seed": 0}  # fmt: skip
    with pytest.raises(ProjectError, match=words):
        runs.guarantee(**settings | given)
