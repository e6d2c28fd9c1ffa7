"""Central-path formulas against solvers that know nothing of them: generalised eigenvalues, integrators, autograd."""

import numpy as np
import pytest
import scipy

from learning_dynamics.papers.neural_collapse.central_path import flows, identities, limits, models, tangents, theory
from tests.papers.neural_collapse import oracles

# (classes, examples of each class, features)
SIZES = pytest.mark.parametrize("size", [(2, 9, 4), (3, 7, 5), (5, 6, 4)])


@SIZES
def test_spectral_losses_are_those_of_a_solved_classifier(size):
    classes = size[0]
    H = oracles.features(*size)
    W, b = oracles.least_squares(H, classes)
    within, _, means = oracles.covariances(H, classes)
    omega = oracles.singular_values(H, classes)
    scores = W @ means + b[:, None]
    expected = {
        theory.spectral_loss: oracles.square_error(W, b, H, classes),
        theory.spectral_variability_loss: 0.5 * np.trace(W @ within @ W.T),
        theory.spectral_geometry_loss: 0.5 * np.sum((scores - np.eye(classes)) ** 2) / classes,
    }
    for formula, value in expected.items():
        assert formula(omega, classes) == pytest.approx(value, rel=1e-9), formula.__name__
        np.testing.assert_allclose(
            formula(np.stack([omega, omega]), classes), [value, value], rtol=1e-9, err_msg=formula.__name__
        )
    np.testing.assert_allclose(models.snr_singular_values(H, classes), omega, rtol=1e-9)


@SIZES
def test_classifier_and_loss_are_the_solvers(size):
    classes = size[0]
    H = oracles.features(*size, seed=1)
    W, b = oracles.least_squares(H, classes)
    np.testing.assert_allclose(models.classifier(H, classes), W, rtol=0, atol=1e-10)
    assert models.loss(H, classes) == pytest.approx(oracles.square_error(W, b, H, classes), rel=1e-10)
    np.testing.assert_allclose(models.gradient(H, classes), oracles.gradient(H, classes), rtol=0, atol=1e-12)
    decay = 0.2
    W, b = oracles.least_squares(H, classes, decay)
    extended = np.column_stack([W, b])
    np.testing.assert_allclose(identities.least_squares(H, classes, decay), extended, rtol=0, atol=1e-10)
    total = oracles.square_error(W, b, H, classes) + 0.5 * decay * (np.sum(W**2) + np.sum(b**2))
    assert models.extended_loss(extended, H, decay) == pytest.approx(total, rel=1e-12)


@SIZES
def test_renormalisation_is_the_inverse_root_of_the_covariance(size):
    H = oracles.features(*size, seed=2)
    X = oracles.renormalised(H, size[0])
    np.testing.assert_allclose(models.renormalised(H, size[0]), X, rtol=0, atol=1e-10)
    _, _, means = oracles.covariances(X, size[0])
    np.testing.assert_allclose(models.signal_to_noise(H, size[0]), means, rtol=0, atol=1e-10)


@SIZES
def test_the_orthogonal_flow_follows_autograd_gradients_projected_by_least_squares(size):
    classes = size[0]
    X = oracles.renormalised(oracles.features(*size, seed=3), classes)
    velocity = flows.velocity(X, classes, flows.TANGENT_MAPS["orthogonal"])
    projected = oracles.tangent_part(X, oracles.gradient(X, classes), classes)
    np.testing.assert_allclose(velocity, -projected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["orthogonal", "printed"])
@SIZES
def test_speeds_are_those_of_singular_values_along_autograd_gradients(size, name):
    classes, examples, _ = size
    X = oracles.renormalised(oracles.features(*size, seed=3), classes)
    gradient = oracles.gradient(X, classes)
    if name == "orthogonal":
        move, speed = -oracles.tangent_part(X, gradient, classes), theory.snr_velocity
    else:  # the plain gradient: renormalisation afterwards is the printed map
        move, speed = -gradient, theory.algorithm_velocity
    h = 1e-4 / np.abs(move).max()
    ahead, behind = (oracles.singular_values(X + sign * h * move, classes) for sign in (1, -1))
    omega = oracles.singular_values(X, classes)
    np.testing.assert_allclose((ahead - behind) / (2 * h), speed(omega, classes, examples), rtol=1e-5)


# w' = w / inverse_rate: N (C + w^2)^2 as printed, C N (C + w^2) for the algorithm; with the course and its asymptote
EQUATIONS = {
    "printed": (
        lambda w2, C, N: N * (C + w2) ** 2,
        theory.snr_closed_form,
        lambda time, C, N: theory.snr_asymptote(time, N),
    ),
    "algorithm": (
        lambda w2, C, N: C * N * (C + w2),
        theory.algorithm_closed_form,
        theory.algorithm_asymptote,
    ),
}


@pytest.mark.parametrize("equation", EQUATIONS)
@pytest.mark.parametrize(("classes", "examples", "start"), [(3, 8, 0.4), (10, 2, 0.01), (4, 50, 10.0)])
def test_courses_and_asymptotes_against_a_stiff_integrator(equation, classes, examples, start):
    inverse_rate, course, asymptote = EQUATIONS[equation]
    times = np.array([1.0, 1e3, 1e9, 1e14])
    solved = scipy.integrate.solve_ivp(
        # d log w / d log t = t / inverse_rate
        lambda s, y: np.exp(s) / inverse_rate(np.exp(2 * y), classes, examples),
        (np.log(1e-6), np.log(times[-1])),
        [np.log(start)],
        method="LSODA",
        t_eval=np.log(times),
        rtol=1e-11,
        atol=1e-13,
    )
    omega = np.exp(solved.y[0])
    np.testing.assert_allclose(course(start, times, classes, examples), omega, rtol=1e-7)
    np.testing.assert_allclose(course(start, np.zeros(1), classes, examples), start, rtol=1e-11)
    assert asymptote(times[-1], classes, examples) == pytest.approx(omega[-1], rel=2e-5)


def test_gradient_keeps_its_digits_where_signal_dwarfs_noise():
    classes, examples, width = 4, 8, 6
    X = oracles.renormalised(oracles.features(classes, examples, width), classes)
    means = oracles.covariances(X, classes)[2]
    U, _, Vt = np.linalg.svd(means, full_matrices=False)
    spectrum = np.array([2e4, 1.5e4, 1e4])
    # X with other singular values of its class means
    far = X + np.repeat((U[:, :3] * spectrum) @ Vt[:3] - means, examples, axis=1)
    of_means = oracles.covariances(models.gradient(far, classes), classes)[2]
    expected = -spectrum / (examples * (classes + spectrum**2) ** 2)
    # of this a tenth is wrong if the classifier is computed with the inverse of Sigma_T
    np.testing.assert_allclose(np.diag(U.T @ of_means @ Vt.T)[:3], expected, rtol=1e-6)


@pytest.mark.parametrize(("size", "message"), [((3, 2, 6), "singular"), ((6, 9, 3), "rank")])
def test_impossible_sizes_are_refused(size, message):
    with pytest.raises(ValueError, match=message):
        models.gaussian_features(np.random.default_rng(0), *size, signal=0.5)


def test_distances_from_the_limits_of_corollary_2():
    classes, examples, width = 3, 7, 5
    X = oracles.renormalised(oracles.features(classes, examples, width), classes)
    start = oracles.renormalised(oracles.features(classes, examples, width, seed=1), classes)
    means, start_means = (oracles.covariances(features, classes)[2] for features in (X, start))
    # the orthogonal factor of the start's polar decomposition, where its singular values are not zero
    polar = start_means @ scipy.linalg.pinv(scipy.linalg.sqrtm(start_means.T @ start_means).real, rtol=1e-6)
    top = np.linalg.norm(means, 2)
    found = limits.limit_gaps(X, start, classes)
    assert found["snr_limit_distance"] == pytest.approx(np.linalg.norm(means / top - polar), rel=1e-9)
    copies = np.kron(polar, np.ones(examples))
    assert found["features_limit_distance"] == pytest.approx(
        np.linalg.norm(X / top - copies) / np.sqrt(examples), rel=1e-9
    )
    # the part of X outside of a span, by least squares on its basis
    U, _, Vt = np.linalg.svd(start_means)
    basis = np.column_stack([np.outer(U[:, j], Vt[j]).ravel() for j in range(classes - 1)])
    left = np.linalg.lstsq(basis, means.ravel(), rcond=None)[1]
    assert found["snr_outside_first_vectors"] == pytest.approx(np.sqrt(left.item()) / np.linalg.norm(means), rel=1e-9)


def test_collapse_of_renormalised_features_by_definition():
    classes, examples, width = 3, 7, 5
    H = oracles.renormalised(oracles.features(classes, examples, width, signal=0.4), classes)
    found = limits.collapse_along(H, classes)
    within, between, means = oracles.covariances(H, classes)
    W, _ = oracles.least_squares(H, classes)  # all biases are 1 / C: they change no argmax
    norms = np.linalg.norm(means, axis=0)
    cosines = (means.T @ means / np.outer(norms, norms))[np.triu_indices(classes, 1)]
    nearest = scipy.spatial.distance.cdist(H.T, means.T).argmin(axis=1)
    expected = {
        "trace": np.trace(np.linalg.pinv(between, rcond=1e-10) @ within),
        "nc2_norm_spread": norms.std() / norms.mean(),
        "nc2_angle_distance": np.mean([abs(cosine + 0.5) for cosine in cosines]),
        "nc3": np.linalg.norm(W.T / np.linalg.norm(W) - means / np.linalg.norm(means)) ** 2,
        "nc4": np.mean((W @ H).argmax(axis=0) != nearest),
    }
    assert 0 < expected["nc4"] < 1
    for quantity, value in expected.items():
        assert found[quantity] == pytest.approx(value, rel=1e-9), quantity


class Curve:
    """The curve of renormalised X + h Z, centred, on the manifold, and its velocity by finite differences."""

    classes, examples, width = 3, 7, 4

    def __init__(self):
        self.X = oracles.renormalised(oracles.features(self.classes, self.examples, self.width), self.classes)
        self.Z = np.random.default_rng(1).standard_normal(self.X.shape)
        self.centred = self.Z - self.Z.mean(axis=1, keepdims=True)
        self.velocity = (self.at(1e-5) - self.at(-1e-5)) / 2e-5

    def at(self, h):
        return oracles.renormalised(self.X + h * self.centred, self.classes)

    def rise(self, direction):
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
    assert (remainders["orthogonal"] > 0.05).all()
    assert (remainders["minus_sign"] > 0.05).all()


def test_slopes_of_singular_values_along_both_maps(curve):
    slopes = tangents.singular_value_slopes(curve.X, curve.Z, curve.classes)
    np.testing.assert_allclose(slopes["slope"], curve.rise(curve.velocity), rtol=1e-6)
    np.testing.assert_allclose(slopes["slope--lemma_3"], curve.rise(curve.velocity), rtol=1e-6)
    orthogonal = oracles.tangent_part(curve.X, curve.centred, curve.classes)
    np.testing.assert_allclose(slopes["slope--without_shrinking"], curve.rise(orthogonal), rtol=1e-6)


def test_gaps_of_the_equation_of_the_tangent_space(curve, monkeypatch):
    gaps = tangents.manifold_gaps(curve.X, curve.Z, curve.classes)
    assert gaps["codimension"] == 10  # P (P + 1) / 2 of P = 4 features
    assert max(gaps["curve_equation_gap"], gaps["curve_velocity_gap"]) < 1e-8
    assert gaps["curve_equation_gap--minus_sign"] > 0.05
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
    assert (gaps["image_tangency_gap"] < 1e-12) == (name in flows.TANGENT_MAPS)
    assert (gaps["tangent_change"] < 1e-12) == (name != "minus_sign")


def test_what_maps_do_to_the_gradient(curve):
    gradient = oracles.gradient(curve.X, curve.classes)
    tangent = oracles.tangent_part(curve.X, gradient, curve.classes)
    gaps = tangents.adjoint_gaps(curve.X, curve.classes)
    normal_share = np.linalg.norm(gradient - tangent) / np.linalg.norm(gradient)
    assert gaps["gradient_normal_share"] == pytest.approx(normal_share, rel=1e-9)
    assert gaps["adjoint_gradient_change"] < 1e-12 < 0.01 < gaps["printed_gradient_change"]


def test_flows_have_multiples_of_the_first_product_of_lemma_4s_velocity_and_not_its_second(curve):
    C, N = curve.classes, curve.examples
    gradient = oracles.gradient(curve.X, curve.classes)
    h = 1e-5
    # a plain gradient step that is renormalised moves by the printed map (Lemma 2)
    ahead, behind = (oracles.renormalised(curve.X - side * h * gradient, curve.classes) for side in (1, -1))
    velocities = {
        "orthogonal": -oracles.tangent_part(curve.X, gradient, curve.classes),
        "printed": (ahead - behind) / (2 * h),
    }
    means = oracles.covariances(curve.X, curve.classes)[2]
    copies = np.kron(means, np.ones(N))
    U, omega, _ = np.linalg.svd(means, full_matrices=False)
    U, omega = U[:, : C - 1], omega[: C - 1]
    for flow, velocity in velocities.items():
        gaps = tangents.velocity_gaps(curve.X, curve.classes, flows.TANGENT_MAPS[flow])
        along_means = U @ np.diag(1 / (N * (C + omega**2) ** 2)) @ U.T @ copies
        faster = U @ np.diag(1 / (C * N * (C + omega**2))) @ U.T @ copies
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
