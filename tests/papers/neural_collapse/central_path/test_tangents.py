"""Tangent maps, and what is measured of them, against finite differences, least squares and explicit matrices."""

import numpy as np
import pytest

from learning_dynamics.papers.neural_collapse.central_path import flows, tangents
from tests.papers.neural_collapse import oracles


class Curve:
    """The curve h -> renormalised(X + h Z) through X, Z centred, and its velocity at h = 0 by finite differences."""

    classes, examples, width = 3, 7, 4

    def __init__(self):
        self.X = oracles.renormalised(oracles.features(self.classes, self.examples, self.width), self.classes)
        self.Z = np.random.default_rng(1).standard_normal(self.X.shape)
        self.centred = self.Z - self.Z.mean(axis=1, keepdims=True)
        self.velocity = self.velocity_along(self.centred)

    def at(self, h, direction=None):
        direction = self.centred if direction is None else direction
        return oracles.renormalised(self.X + h * direction, self.classes)

    def velocity_along(self, direction):
        """Return the velocity of the curve through X that has another direction instead of Z."""
        return (self.at(1e-5, direction) - self.at(-1e-5, direction)) / 2e-5

    def slopes(self, direction):
        """Return the slopes of the singular values along a direction."""
        ahead, behind = (oracles.singular_values(self.X + h * direction, self.classes) for h in (1e-5, -1e-5))
        return (ahead - behind) / 2e-5


@pytest.fixture(scope="module")
def curve():
    return Curve()


def test_the_printed_map_gives_the_velocity_of_a_renormalised_step(curve):
    image = flows.printed_map(curve.X, curve.centred, curve.classes)
    np.testing.assert_allclose(image, curve.velocity, rtol=0, atol=1e-8)


def test_remainders_of_a_renormalised_step(curve):
    remainders = tangents.step_remainders(curve.X, curve.Z, curve.classes)
    steps = np.array(tangents.STEPS) * np.linalg.norm(curve.X) / np.linalg.norm(curve.centred)
    expected = [
        np.linalg.norm(curve.at(h) - curve.X - h * curve.velocity) / np.linalg.norm(h * curve.centred) for h in steps
    ]
    np.testing.assert_allclose(remainders["printed"], expected, rtol=1e-4)
    # other maps miss the first order; one is the printed map with a minus between its products, as the proof of Lemma 2
    # has it
    assert (remainders["orthogonal"] > 0.05).all()
    assert (remainders["minus_sign"] > 0.05).all()


def test_slopes_of_singular_values_along_both_maps(curve):
    slopes = tangents.singular_value_slopes(curve.X, curve.Z, curve.classes)
    np.testing.assert_allclose(slopes["slope"], curve.slopes(curve.velocity), rtol=1e-6)
    np.testing.assert_allclose(slopes["slope--lemma_3"], curve.slopes(curve.velocity), rtol=1e-6)
    orthogonal = oracles.tangent_part(curve.X, curve.centred, curve.classes)
    np.testing.assert_allclose(slopes["slope--without_shrinking"], curve.slopes(orthogonal), rtol=1e-6)


def test_gaps_of_the_equation_of_the_tangent_space(curve, monkeypatch):
    gaps = tangents.manifold_gaps(curve.X, curve.Z, curve.classes)
    assert gaps["codimension"] == 10  # P (P + 1) / 2 of P = 4 features
    assert max(gaps["curve_equation_gap"], gaps["curve_velocity_gap"]) < 1e-8
    assert gaps["curve_equation_gap--minus_sign"] > 0.05
    assert gaps["curve_equation_gap--uncentred"] > 0.05
    assert gaps["codimension--minus_sign"] == 6  # antisymmetric: P (P - 1) / 2
    monkeypatch.setattr(flows, "orthogonal_projection", lambda X, Z, classes: Z)  # not tangent
    assert tangents.manifold_gaps(curve.X, curve.Z, curve.classes)["curve_velocity_gap"] > 0.05


@pytest.mark.parametrize("name", tangents.ALL_MAPS)
def test_gaps_of_a_tangent_map_are_those_of_its_matrix(curve, name):
    tangent_map = tangents.ALL_MAPS[name]
    gaps = tangents.map_gaps(curve.X, curve.Z, curve.classes, tangent_map)
    basis = np.eye(curve.X.size).reshape(curve.X.size, *curve.X.shape)
    matrix = np.column_stack([tangent_map(curve.X, one, curve.classes).ravel() for one in basis])
    asymmetry = np.linalg.norm(matrix - matrix.T) / np.linalg.norm(matrix)
    assert gaps["asymmetry"] == pytest.approx(asymmetry, abs=1e-12)
    once = matrix @ curve.Z.ravel()
    idempotence = np.linalg.norm(matrix @ once - once) / np.linalg.norm(once)
    assert gaps["idempotence_gap"] == pytest.approx(idempotence, abs=1e-11)
    # of the altered maps none has tangent images; those without the factor 1/2 keep what is tangent already, as the
    # constraint is zero there
    assert (gaps["image_tangency_gap"] < 1e-12) == (name in flows.TANGENT_MAPS)
    assert (gaps["tangent_change"] < 1e-12) == (name != "minus_sign")


def test_what_maps_do_to_the_gradient(curve):
    gradient = oracles.gradient(curve.X, curve.classes)
    tangent = oracles.tangent_part(curve.X, gradient, curve.classes)
    gaps = tangents.adjoint_gaps(curve.X, curve.classes)
    normal_share = np.linalg.norm(gradient - tangent) / np.linalg.norm(gradient)
    assert gaps["gradient_normal_share"] == pytest.approx(normal_share, rel=1e-9)
    assert gaps["adjoint_gradient_change"] < 1e-12
    # a renormalised step moves by the printed map (Lemma 2)
    printed_change = oracles.relative(curve.velocity_along(gradient), gradient)
    assert gaps["printed_gradient_change"] == pytest.approx(printed_change, rel=1e-5)
    assert printed_change > 0.01


def test_of_lemma_4s_velocity_flows_have_the_first_product_alone(curve):
    """The orthogonal flow has it as it is, the printed one times 1 + omega^2 / C."""
    C, N = curve.classes, curve.examples
    gradient = oracles.gradient(curve.X, curve.classes)
    velocities = {
        "orthogonal": -oracles.tangent_part(curve.X, gradient, curve.classes),
        # a plain gradient step that is renormalised moves by the printed map (Lemma 2)
        "printed": curve.velocity_along(-gradient),
    }
    means = oracles.covariances(curve.X, curve.classes)[2]
    copies = np.kron(means, np.ones(N))
    U, omega, _ = np.linalg.svd(means, full_matrices=False)
    U, omega = U[:, : C - 1], omega[: C - 1]
    for flow, velocity in velocities.items():
        gaps = tangents.velocity_gaps(curve.X, curve.classes, flows.TANGENT_MAPS[flow])
        # Lemma 4's velocity is minus the gradient; its first product alone:
        along_means = U @ np.diag(1 / (N * (C + omega**2) ** 2)) @ U.T @ copies
        faster = U @ np.diag(1 / (C * N * (C + omega**2))) @ U.T @ copies  # times 1 + omega^2 / C
        expected = {
            "velocity_gap--lemma_4": np.linalg.norm(-gradient - velocity) / np.linalg.norm(velocity),
            "velocity_gap--means": np.linalg.norm(along_means - velocity) / np.linalg.norm(velocity),
            "velocity_gap--means_faster": np.linalg.norm(faster - velocity) / np.linalg.norm(velocity),
        }
        for name, gap in expected.items():
            assert gaps[name] == pytest.approx(gap, rel=1e-5, abs=1e-7), (flow, name)
        assert gaps["velocity_gap--lemma_4"] > 0.1, flow
        assert (gaps["velocity_gap--means"] < 1e-7) == (flow == "orthogonal")
        assert (gaps["velocity_gap--means_faster"] < 1e-7) == (flow == "printed")
