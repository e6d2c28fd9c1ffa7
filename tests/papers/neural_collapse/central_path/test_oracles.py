"""Central-path formulas against solvers that know nothing of them: generalised eigenvalues, integrators, autograd.

Two solvers agree to their rounding, 1e-9 or better; slopes, by central differences over 2e-4 of the features, agree to
1e-5. Other tolerances have their reasons beside them.
"""

import numpy as np
import pytest
import scipy

from learning_dynamics.papers.neural_collapse.central_path import flows, identities, limits, models, theory
from tests.papers.neural_collapse import oracles

# classes, examples of each class, features
every_size = pytest.mark.parametrize(
    "size",
    [
        pytest.param((2, 9, 4), id="2 classes, 4 features"),
        pytest.param((3, 7, 5), id="3 classes, 5 features"),
        pytest.param((5, 6, 4), id="5 classes, 4 features, which class means span"),
    ],
)


@every_size
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
        of_two_spectra = formula(np.stack([omega, omega]), classes)
        np.testing.assert_allclose(of_two_spectra, [value, value], rtol=1e-9, err_msg=formula.__name__)


@every_size
def test_snr_singular_values_are_generalised_eigenvalues(size):
    H = oracles.features(*size)
    omega = oracles.singular_values(H, size[0])
    np.testing.assert_allclose(models.snr_singular_values(H, size[0]), omega, rtol=1e-9)


@every_size
def test_the_classifier_without_decay_is_the_solvers(size):
    classes, H = size[0], oracles.features(*size, seed=1)
    W, _ = oracles.least_squares(H, classes)
    np.testing.assert_allclose(models.classifier(H, classes), W, rtol=0, atol=1e-10)


@every_size
def test_the_loss_without_decay_is_that_of_the_solvers_classifier(size):
    classes, H = size[0], oracles.features(*size, seed=1)
    W, b = oracles.least_squares(H, classes)
    assert models.loss(H, classes) == pytest.approx(oracles.square_error(W, b, H, classes), rel=1e-10)


@every_size
def test_the_gradient_without_decay_is_autograds(size):
    classes, H = size[0], oracles.features(*size, seed=1)
    np.testing.assert_allclose(models.gradient(H, classes), oracles.gradient(H, classes), rtol=0, atol=1e-12)


@every_size
def test_extended_classifier_and_loss_under_decay_are_the_solvers(size):
    classes, decay = size[0], 0.2
    H = oracles.features(*size, seed=1)
    W, b = oracles.least_squares(H, classes, decay)
    extended = np.column_stack([W, b])
    np.testing.assert_allclose(identities.least_squares(H, classes, decay), extended, rtol=0, atol=1e-10)
    regularised = oracles.square_error(W, b, H, classes) + 0.5 * decay * np.sum(extended**2)
    assert models.extended_loss(extended, H, decay) == pytest.approx(regularised, rel=1e-12)


@every_size
def test_renormalisation_is_the_inverse_root_of_the_covariance(size):
    H = oracles.features(*size, seed=2)
    X = oracles.renormalised(H, size[0])
    np.testing.assert_allclose(models.renormalised(H, size[0]), X, rtol=0, atol=1e-10)


@every_size
def test_the_snr_matrix_has_the_class_means_of_renormalised_features(size):
    H = oracles.features(*size, seed=2)
    X = oracles.renormalised(H, size[0])
    _, _, means = oracles.covariances(X, size[0])
    np.testing.assert_allclose(models.signal_to_noise(H, size[0]), means, rtol=0, atol=1e-10)


@every_size
def test_the_orthogonal_flow_follows_autograd_gradients_projected_by_least_squares(size):
    classes = size[0]
    X = oracles.renormalised(oracles.features(*size, seed=3), classes)
    velocity = flows.velocity(X, classes, flows.TANGENT_MAPS["orthogonal"])
    projected = oracles.tangent_part(X, oracles.gradient(X, classes), classes)
    np.testing.assert_allclose(velocity, -projected, rtol=0, atol=1e-12)


def slopes_of_singular_values(X, move, classes):
    """Return the slopes of the SNR singular values along a move of X, by central differences."""
    half_step = 1e-4 / np.abs(move).max()
    ahead, behind = (oracles.singular_values(X + sign * half_step * move, classes) for sign in (1, -1))
    return (ahead - behind) / (2 * half_step)


@every_size
def test_the_papers_speed_is_that_along_the_tangent_part_of_the_gradient(size):
    """The paper's speed is omega / (N (C + omega^2)^2) (equation 27)."""
    classes, examples, _ = size
    X = oracles.renormalised(oracles.features(*size, seed=3), classes)
    move = -oracles.tangent_part(X, oracles.gradient(X, classes), classes)
    speed = theory.snr_velocity(oracles.singular_values(X, classes), classes, examples)
    np.testing.assert_allclose(slopes_of_singular_values(X, move, classes), speed, rtol=1e-5)


@every_size
def test_the_algorithms_speed_is_that_along_the_plain_gradient(size):
    """The speed is omega / (C N (C + omega^2)), as `theory` derives for the algorithm of appendix D.1.

    Renormalising a step changes no SNR singular value.
    """
    classes, examples, _ = size
    X = oracles.renormalised(oracles.features(*size, seed=3), classes)
    move = -oracles.gradient(X, classes)
    speed = theory.algorithm_velocity(oracles.singular_values(X, classes), classes, examples)
    np.testing.assert_allclose(slopes_of_singular_values(X, move, classes), speed, rtol=1e-5)


def solved_course(inverse_rate, start, times):
    """Integrate d omega / dt = omega / inverse_rate(omega^2) from omega = start at t = 1e-6, in logarithms of both.

    Before that time omega does not move.
    """

    def slope(log_time, log_omega):
        return np.exp(log_time) / inverse_rate(np.exp(2 * log_omega))

    solution = scipy.integrate.solve_ivp(
        slope,
        (np.log(1e-6), np.log(times[-1])),
        [np.log(start)],
        method="LSODA",
        t_eval=np.log(times),
        rtol=1e-11,
        atol=1e-13,
    )
    return np.exp(solution.y[0])


TIMES = np.array([1.0, 1e3, 1e9, 1e14])
# classes, examples of each, and omega at the start
every_start = pytest.mark.parametrize(("C", "N", "start"), [(3, 8, 0.4), (10, 2, 0.01), (4, 50, 10.0)])


def papers_course(C, N, start):
    """Return omega at `TIMES` along the orthogonal flow, d omega / dt = omega / (N (C + omega^2)^2)."""
    return solved_course(lambda omega_squared: N * (C + omega_squared) ** 2, start, TIMES)


def algorithms_course(C, N, start):
    """Return omega at `TIMES` along the flow of the algorithm's map, d omega / dt = omega / (C N (C + omega^2))."""
    return solved_course(lambda omega_squared: C * N * (C + omega_squared), start, TIMES)


every_course = pytest.mark.parametrize(
    ("closed_form", "course"),
    [
        pytest.param(theory.snr_closed_form, papers_course, id="the paper's"),
        pytest.param(theory.algorithm_closed_form, algorithms_course, id="the algorithm's"),
    ],
)


@every_start
@every_course
def test_a_closed_course_is_that_of_a_stiff_integrator(closed_form, course, C, N, start):
    # the integrator's local error, 1e-11, adds up over its steps
    np.testing.assert_allclose(closed_form(start, TIMES, C, N), course(C, N, start), rtol=1e-7)


@every_start
@every_course
def test_a_closed_course_is_at_its_start_at_time_zero(closed_form, course, C, N, start):
    np.testing.assert_allclose(closed_form(start, np.zeros(1), C, N), start, rtol=1e-11)


@every_start
def test_the_papers_asymptote_is_reached_by_a_stiff_integrator(C, N, start):
    # the asymptote leaves out C / omega^2, with omega^2 = sqrt(4 t / N): below 2e-5 at the last time
    assert C / np.sqrt(4 * TIMES[-1] / N) < 2e-5
    assert theory.snr_asymptote(TIMES[-1], N) == pytest.approx(papers_course(C, N, start)[-1], rel=2e-5)


@every_start
def test_the_algorithms_asymptote_is_reached_by_a_stiff_integrator(C, N, start):
    # the asymptote leaves out C log omega / omega^2, far below 2e-5, with omega^2 = 2 t / (C N)
    assert theory.algorithm_asymptote(TIMES[-1], C, N) == pytest.approx(algorithms_course(C, N, start)[-1], rel=2e-5)


def test_gradient_keeps_its_digits_where_signal_dwarfs_noise():
    classes, examples, width = 4, 8, 6
    X = oracles.renormalised(oracles.features(classes, examples, width), classes)
    _, _, means = oracles.covariances(X, classes)
    U, _, Vt = np.linalg.svd(means, full_matrices=False)
    omega = np.array([2e4, 1.5e4, 1e4])
    # X with other singular values of its class means
    far = X + np.repeat((U[:, :3] * omega) @ Vt[:3] - means, examples, axis=1)
    # the class means of the gradient
    _, _, gradient_of_means = oracles.covariances(models.gradient(far, classes), classes)
    # minus the speed of Lemma 5, omega / (N (C + omega^2)^2): the deviations do not change the means
    expected = -omega / (examples * (classes + omega**2) ** 2)
    # with the inverse of Sigma_T in the classifier the gradient would be off by a tenth
    np.testing.assert_allclose(np.diag(U.T @ gradient_of_means @ Vt.T)[:3], expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("size", "message"),
    [
        pytest.param((3, 2, 6), "singular", id="3 deviations span no 6 directions"),
        pytest.param((6, 9, 3), "rank", id="6 class means need 5 directions, not 3"),
    ],
)
def test_sizes_without_a_covariance_or_class_means_of_full_rank_are_refused(size, message):
    with pytest.raises(ValueError, match=message):
        models.gaussian_features(np.random.default_rng(0), *size, signal=0.5)


class LateAndStart:
    """Renormalised features X, as if late in a flow; others as its start; and the limits that follow from the start.

    As a flow tends to collapse, X / omega_max tends to the polar factor U_0 V_0^T of the class means at the start, with
    a copy of its column for each example (equations 10 and 11).
    """

    classes, examples, width = 3, 7, 5

    def __init__(self):
        size = (self.classes, self.examples, self.width)
        self.X = oracles.renormalised(oracles.features(*size), self.classes)
        start = oracles.renormalised(oracles.features(*size, seed=1), self.classes)
        _, _, self.means = oracles.covariances(self.X, self.classes)
        _, _, self.start_means = oracles.covariances(start, self.classes)
        # U_0 V_0^T, the orthogonal factor of the polar decomposition, where singular values are not zero
        root = scipy.linalg.sqrtm(self.start_means.T @ self.start_means).real
        self.limit = self.start_means @ scipy.linalg.pinv(root, rtol=1e-6)
        self.omega_max = np.linalg.norm(self.means, 2)
        self.gaps = limits.limit_gaps(self.X, start, self.classes)


@pytest.fixture(scope="module")
def late():
    return LateAndStart()


def test_the_distance_of_equation_10_is_that_from_the_polar_factor_of_the_start(late):
    expected = np.linalg.norm(late.means / late.omega_max - late.limit)
    assert late.gaps["snr_limit_distance"] == pytest.approx(expected, rel=1e-9)


def test_the_distance_of_equation_11_is_that_from_copies_of_the_polar_factor(late):
    copies = np.kron(late.limit, np.ones(late.examples))
    expected = np.linalg.norm(late.X / late.omega_max - copies) / np.sqrt(late.examples)
    assert late.gaps["features_limit_distance"] == pytest.approx(expected, rel=1e-9)


def test_the_part_outside_of_the_first_singular_vectors_is_what_least_squares_leaves(late):
    U, _, Vt = np.linalg.svd(late.start_means)
    span = np.column_stack([np.outer(U[:, j], Vt[j]).ravel() for j in range(late.classes - 1)])
    _, squared_residual, _, _ = np.linalg.lstsq(span, late.means.ravel(), rcond=None)
    expected = np.sqrt(squared_residual.item()) / np.linalg.norm(late.means)
    assert late.gaps["snr_outside_first_vectors"] == pytest.approx(expected, rel=1e-9)


def test_collapse_of_renormalised_features_by_definition():
    classes, examples, width = 3, 7, 5
    H = oracles.renormalised(oracles.features(classes, examples, width, signal=0.4), classes)
    measured = limits.collapse_along(H, classes)
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
    assert 0 < expected["nc4"] < 1  # some examples are decided otherwise
    for quantity, value in expected.items():
        assert measured[quantity] == pytest.approx(value, rel=1e-9), quantity
