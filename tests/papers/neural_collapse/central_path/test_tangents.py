"""Tangent maps, and what is measured of them, against finite differences, least squares and explicit matrices."""

import numpy as np
import pytest

from learning_dynamics.papers.neural_collapse.central_path import flows, tangents
from tests.papers.neural_collapse import oracles

# Half the step of the central differences here: they err by its square, 1e-10, and by eps over it, 2e-11, times numbers
# that are below a hundred. Bounds of 1e-8 and more are for these errors, relative to what is measured
HALF_STEP = 1e-5


class Curve:
    """The curve h -> renormalised(X + h Z) through X, Z centred, and its velocity at h = 0 by central differences."""

    classes, examples, width = 3, 7, 4

    def __init__(self):
        self.X = oracles.renormalised(oracles.features(self.classes, self.examples, self.width), self.classes)
        self.Z = np.random.default_rng(1).standard_normal(self.X.shape)
        self.centred = self.Z - self.Z.mean(axis=1, keepdims=True)
        self.velocity = self.velocity_along(self.centred)

    def at(self, h):
        """Return the features on the curve, shape (P, C N)."""
        return oracles.renormalised(self.X + h * self.centred, self.classes)

    def velocity_along(self, direction):
        """Return the velocity of the curve through X that has another direction instead of Z."""
        ahead, behind = (oracles.renormalised(self.X + h * direction, self.classes) for h in (HALF_STEP, -HALF_STEP))
        return (ahead - behind) / (2 * HALF_STEP)

    def slopes(self, direction):
        """Return the slopes of the SNR singular values along a direction."""
        ahead, behind = (oracles.singular_values(self.X + h * direction, self.classes) for h in (HALF_STEP, -HALF_STEP))
        return (ahead - behind) / (2 * HALF_STEP)


@pytest.fixture(scope="module")
def curve():
    return Curve()


def test_the_printed_map_gives_the_velocity_of_a_renormalised_step(curve):
    image = flows.printed_map(curve.X, curve.centred, curve.classes)
    np.testing.assert_allclose(image, curve.velocity, rtol=0, atol=1e-8)


# relative to what is compared: a wrong map or equation misses by more, a right one by the error of differences
MISSES = 0.05


def test_remainders_of_the_printed_map_are_those_of_the_velocity(curve):
    remainders = tangents.step_remainders(curve.X, curve.Z, curve.classes)["printed"]
    # STEPS are relative to the norm of X
    steps = np.array(tangents.STEPS) * np.linalg.norm(curve.X) / np.linalg.norm(curve.centred)
    # what the first order leaves of a renormalised step, over the step
    expected = [
        np.linalg.norm(curve.at(h) - curve.X - h * curve.velocity) / np.linalg.norm(h * curve.centred) for h in steps
    ]
    np.testing.assert_allclose(remainders, expected, rtol=1e-4)


# the second is the printed map with a minus between its products, as the proof of Lemma 2 has it
@pytest.mark.parametrize("other_map", ["orthogonal", "minus_sign"])
def test_other_maps_miss_the_first_order_of_a_renormalised_step(curve, other_map):
    assert (tangents.step_remainders(curve.X, curve.Z, curve.classes)[other_map] > MISSES).all()


@pytest.mark.parametrize("quantity", ["slope", "slope--lemma_3"])
def test_slopes_of_singular_values_and_lemma_3_are_slopes_along_the_velocity(curve, quantity):
    slopes = tangents.singular_value_slopes(curve.X, curve.Z, curve.classes)[quantity]
    np.testing.assert_allclose(slopes, curve.slopes(curve.velocity), rtol=1e-6)


def test_lemma_3_without_its_second_product_has_slopes_along_the_projection(curve):
    slopes = tangents.singular_value_slopes(curve.X, curve.Z, curve.classes)["slope--without_shrinking"]
    projected = oracles.tangent_part(curve.X, curve.centred, curve.classes)
    np.testing.assert_allclose(slopes, curve.slopes(projected), rtol=1e-6)


def test_the_equation_of_the_tangent_space_has_the_rank_of_symmetric_matrices(curve):
    gaps = tangents.manifold_gaps(curve.X, curve.Z, curve.classes)
    P = curve.width
    assert gaps["codimension"] == P * (P + 1) / 2
    assert gaps["codimension--minus_sign"] == P * (P - 1) / 2  # antisymmetric ones


def test_velocities_of_curves_satisfy_the_equation_and_its_solutions_are_velocities(curve):
    gaps = tangents.manifold_gaps(curve.X, curve.Z, curve.classes)
    assert gaps["curve_equation_gap"] < 1e-8
    assert gaps["curve_velocity_gap"] < 1e-8


@pytest.mark.parametrize("equation", ["minus_sign", "uncentred"])
def test_velocities_of_curves_do_not_satisfy_wrong_equations(curve, equation):
    assert tangents.manifold_gaps(curve.X, curve.Z, curve.classes)[f"curve_equation_gap--{equation}"] > MISSES


def test_a_direction_that_does_not_solve_the_equation_is_no_velocity(curve, monkeypatch):
    monkeypatch.setattr(flows, "orthogonal_projection", lambda X, Z, classes: Z)  # not tangent
    assert tangents.manifold_gaps(curve.X, curve.Z, curve.classes)["curve_velocity_gap"] > MISSES


every_map = pytest.mark.parametrize("name", tangents.ALL_MAPS)


def gaps_of_map(curve, name):
    """Return the gaps of a tangent map along Z, by quantity."""
    return tangents.map_gaps(curve.X, curve.Z, curve.classes, tangents.ALL_MAPS[name])


@every_map
def test_asymmetry_and_idempotence_gap_of_a_map_are_those_of_its_matrix(curve, name):
    gaps = gaps_of_map(curve, name)
    basis = np.eye(curve.X.size).reshape(curve.X.size, *curve.X.shape)
    images = [tangents.ALL_MAPS[name](curve.X, direction, curve.classes).ravel() for direction in basis]
    matrix = np.column_stack(images)
    asymmetry = np.linalg.norm(matrix - matrix.T) / np.linalg.norm(matrix)
    assert gaps["asymmetry"] == pytest.approx(asymmetry, abs=1e-12)
    mapped_once = matrix @ curve.Z.ravel()
    idempotence = np.linalg.norm(matrix @ mapped_once - mapped_once) / np.linalg.norm(mapped_once)
    assert gaps["idempotence_gap"] == pytest.approx(idempotence, abs=1e-11)


@every_map
def test_images_are_tangent_under_the_two_tangent_maps_and_under_no_altered_one(curve, name):
    is_tangent = gaps_of_map(curve, name)["image_tangency_gap"] < 1e-12
    assert is_tangent == (name in flows.TANGENT_MAPS)


@every_map
def test_tangents_are_kept_by_every_map_but_the_one_with_a_minus(curve, name):
    """The others take away multiples of the constraint, with the factor 1/2 or without; it is zero for a tangent."""
    is_kept = gaps_of_map(curve, name)["tangent_change"] < 1e-12
    assert is_kept == (name != "minus_sign")


def test_the_normal_share_of_the_gradient_is_what_the_projection_takes_away(curve):
    gradient = oracles.gradient(curve.X, curve.classes)
    tangent = oracles.tangent_part(curve.X, gradient, curve.classes)
    gaps = tangents.adjoint_gaps(curve.X, curve.classes)
    assert gaps["gradient_normal_share"] == pytest.approx(oracles.relative_distance(tangent, gradient), rel=1e-9)


def test_the_adjoint_leaves_the_gradient_alone_and_the_printed_map_does_not(curve):
    gaps = tangents.adjoint_gaps(curve.X, curve.classes)
    assert gaps["adjoint_gradient_change"] < 1e-12
    # a renormalised step moves by the printed map (Lemma 2)
    gradient = oracles.gradient(curve.X, curve.classes)
    printed_change = oracles.relative_distance(curve.velocity_along(gradient), gradient)
    assert gaps["printed_gradient_change"] == pytest.approx(printed_change, rel=1e-5)
    assert printed_change > 0.01


@pytest.mark.parametrize("flow", ["orthogonal", "printed"])
def test_each_flow_has_the_first_product_of_lemma_4s_velocity_at_its_own_speed(curve, flow):
    """The orthogonal flow has it as it is, the printed one times 1 + omega^2 / C."""
    C, N = curve.classes, curve.examples
    gradient = oracles.gradient(curve.X, curve.classes)
    if flow == "orthogonal":
        velocity = -oracles.tangent_part(curve.X, gradient, curve.classes)
    else:
        # a plain gradient step that is renormalised moves by the printed map (Lemma 2)
        velocity = curve.velocity_along(-gradient)
    _, _, means = oracles.covariances(curve.X, curve.classes)
    means_of_examples = np.kron(means, np.ones(N))
    U, omega, _ = np.linalg.svd(means, full_matrices=False)
    U, omega = U[:, : C - 1], omega[: C - 1]
    first_product = U @ np.diag(1 / (N * (C + omega**2) ** 2)) @ U.T @ means_of_examples
    faster = U @ np.diag((1 + omega**2 / C) / (N * (C + omega**2) ** 2)) @ U.T @ means_of_examples
    expected = {
        "velocity_gap--lemma_4": oracles.relative_distance(-gradient, velocity),  # both products are minus the gradient
        "velocity_gap--means": oracles.relative_distance(first_product, velocity),
        "velocity_gap--means_faster": oracles.relative_distance(faster, velocity),
    }
    gaps = tangents.velocity_gaps(curve.X, curve.classes, flows.TANGENT_MAPS[flow])
    for name, gap in expected.items():
        assert gaps[name] == pytest.approx(gap, rel=1e-5, abs=1e-7), name
    assert gaps["velocity_gap--lemma_4"] > 0.1
    assert (gaps["velocity_gap--means"] < 1e-7) == (flow == "orthogonal")
    assert (gaps["velocity_gap--means_faster"] < 1e-7) == (flow == "printed")
