"""Central-path formulas against solvers that know nothing of them: generalised eigenvalues, integrators, autograd."""

import numpy as np
import pytest
import scipy

from learning_dynamics.papers.neural_collapse.central_path import flows, identities, limits, models, theory
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
    else:  # the plain gradient: renormalising a step, as the printed map does, changes no SNR singular value
        move, speed = -gradient, theory.algorithm_velocity
    h = 1e-4 / np.abs(move).max()
    ahead, behind = (oracles.singular_values(X + sign * h * move, classes) for sign in (1, -1))
    omega = oracles.singular_values(X, classes)
    np.testing.assert_allclose((ahead - behind) / (2 * h), speed(omega, classes, examples), rtol=1e-5)


# w' = w / inverse_rate: N (C + w^2)^2 of the orthogonal flow, as the paper has it, C N (C + w^2) of the printed map, as
# the algorithm has it; with the course and its asymptote
EQUATIONS = {
    "orthogonal": (
        lambda w2, C, N: N * (C + w2) ** 2,
        theory.snr_closed_form,
        lambda time, C, N: theory.snr_asymptote(time, N),
    ),
    "printed": (
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
    # minus Lemma 5's speed: the deviations do not change the means
    expected = -spectrum / (examples * (classes + spectrum**2) ** 2)
    # a tenth off if the classifier is computed with the inverse of Sigma_T
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
    # the part of the SNR matrix outside of the span of u_j v_j^T, by least squares
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
        "nc2_angle_distance": np.mean(np.abs(cosines + 1 / (classes - 1))),
        "nc3": np.linalg.norm(W.T / np.linalg.norm(W) - means / np.linalg.norm(means)) ** 2,
        "nc4": np.mean((W @ H).argmax(axis=0) != nearest),
    }
    assert 0 < expected["nc4"] < 1
    for quantity, value in expected.items():
        assert found[quantity] == pytest.approx(value, rel=1e-9), quantity
