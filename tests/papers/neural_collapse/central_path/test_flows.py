"""Tangent maps, the flows that they give, and the discrete algorithm, against what can be derived by hand."""

import numpy as np
import pytest

from learning_dynamics.dynamics.gradient_flow import Tolerances
from learning_dynamics.papers.neural_collapse.central_path import flows as renormalised
from learning_dynamics.papers.neural_collapse.central_path import models as central_path
from learning_dynamics.papers.neural_collapse.central_path import theory

CLASSES, EXAMPLES, FEATURES = 4, 8, 6
MAPS = pytest.mark.parametrize("name", ["orthogonal", "printed"])


def start(seed=0, signal=0.5):
    drawn = central_path.gaussian_features(np.random.default_rng(seed), CLASSES, EXAMPLES, FEATURES, signal)
    return central_path.renormalised(drawn, CLASSES)


def direction(seed=1):
    return np.random.default_rng(seed).standard_normal((FEATURES, CLASSES * EXAMPLES))


def test_printed_map_and_its_adjoint_change_places_in_the_inner_product_but_are_not_the_same():
    X, A, B = start(), direction(1), direction(2)
    left = np.sum(renormalised.printed_map(X, A, CLASSES) * B)
    assert left == pytest.approx(np.sum(A * renormalised.printed_adjoint(X, B, CLASSES)), rel=1e-12)
    assert abs(left - np.sum(A * renormalised.printed_map(X, B, CLASSES))) > 0.1


def test_lemma_4_as_printed_is_the_gradient_without_projection():
    """In aligned coordinates its right-hand side is omega / (C + omega^2)^2 (y / N - omega C x)."""
    X = start()
    U, omega, Vt = np.linalg.svd(central_path.signal_to_noise(X, CLASSES))
    y = Vt[:3] @ central_path.one_hot(CLASSES, EXAMPLES)
    x = U.T[:3] @ X
    centring = central_path.deviations(x, CLASSES) / (CLASSES * EXAMPLES)
    weight = (omega[:3] / (CLASSES + omega[:3] ** 2) ** 2)[:, None]
    printed = weight * (y / EXAMPLES - omega[:3, None] * centring)
    np.testing.assert_allclose(-U.T[:3] @ central_path.gradient(X, CLASSES), printed, atol=1e-14)
    assert np.linalg.norm(renormalised.constraint(X, U[:, :3] @ printed, CLASSES)) > 1e-4


@MAPS
def test_flow_follows_its_closed_form_and_stays_on_the_manifold(name):
    rtol = 1e-9
    X, times = start(), np.concatenate([[0.0], np.geomspace(1.0, 1e6, 13)])
    flow = renormalised.renormalised_flow(
        X, CLASSES, renormalised.TANGENT_MAPS[name], times, Tolerances(rtol, 1e-3 * rtol)
    )
    states = flow.states.reshape(-1, *X.shape)
    omega = central_path.snr_singular_values(states, CLASSES)
    solution = theory.snr_closed_form if name == "orthogonal" else theory.algorithm_closed_form
    # largest error in 200 such flows: 8 rtol
    np.testing.assert_allclose(omega, solution(omega[0], times[:, None], CLASSES, EXAMPLES), rtol=20 * rtol)
    covariance = central_path.within_covariance(states, CLASSES)
    np.testing.assert_allclose(covariance, np.broadcast_to(np.eye(FEATURES), covariance.shape), atol=20 * rtol)


def test_flow_does_not_become_stiff():
    flow = renormalised.renormalised_flow(
        start(), CLASSES, renormalised.orthogonal_projection, np.array([0.0, 1e10]), Tolerances(1e-9, 1e-12)
    )
    assert flow.steps < 80  # 38 to 47 measured: a step advances half a decade
