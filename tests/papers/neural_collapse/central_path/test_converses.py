"""What small terms and traces do not imply, on features under other noise, from solved least-squares problems."""

import numpy as np
import pytest
import scipy

from learning_dynamics.papers.neural_collapse.central_path import converses, theory
from tests.papers.neural_collapse import oracles

CLASSES, EXAMPLES, FEATURES = SIZE = (3, 7, 5)  # of each class so many examples
SIMPLEX = np.eye(CLASSES) - 1 / CLASSES
DIFFER = CLASSES - 1  # directions in which the means of so many classes differ
MANY = 6  # classes whose means differ in all FEATURES directions


def noises(standard_deviations):
    """Cases of the places that noise of a standard deviation has, named after it."""
    return [pytest.param(place, id=f"noise={noise:g}") for place, noise in enumerate(standard_deviations)]


def central_features():
    return oracles.renormalised(oracles.features(*SIZE, seed=2), CLASSES)


def planar_features():
    """Return features of as many classes as leave no direction orthogonal to all class means."""
    return oracles.renormalised(oracles.features(MANY, EXAMPLES - 2, FEATURES), MANY)


def with_scatter(H, change):
    """Return features with the class means of H, and its deviations from them mapped."""
    means = np.kron(oracles.covariances(H, CLASSES)[2], np.ones(EXAMPLES))
    return means + change @ (H - means)


def simplex_of_means(X):
    """Return the simplex frame of singular values one that is nearest to the class means, and X's singular vectors."""
    U, _, V = np.linalg.svd(oracles.covariances(X, CLASSES)[2] @ SIMPLEX)
    return U[:, :DIFFER] @ V[:DIFFER], U


def with_means(H, M):
    """Return features with the deviations of H, around other class means."""
    return H + np.kron(M - oracles.covariances(H, CLASSES)[2], np.ones(EXAMPLES))


def around_a_simplex(place, beside):
    """Return features around a simplex frame with noise of one of `NOISES`, and the frame.

    The noise's covariance is the identity but for 0.5 between the first direction of the class means and another
    (`beside`), or has 1.5 times the variance along the first.
    """
    X, noise = central_features(), converses.NOISES[place]
    M, U = simplex_of_means(X)
    pairs = np.outer(U[:, 0], U[:, beside])
    covariance = np.eye(FEATURES) + (pairs + pairs.T) * (0.5 if beside else 0.25)
    return with_means(noise * with_scatter(X, scipy.linalg.sqrtm(covariance).real), M), M


def self_duality(W, M):
    """Return the squared distance of classifiers (rows) from class means (columns), both of unit norm."""
    return np.sum((W / np.linalg.norm(W) - M.T / np.linalg.norm(M)) ** 2)


def nc1_term(H):
    """Return L_NC1 of solved classifiers, by the covariance of their scores."""
    W, _ = oracles.least_squares(H, CLASSES)
    return 0.5 * np.trace(W @ oracles.covariances(H, CLASSES)[0] @ W.T)


def nc23_term(H):
    """Return L_NC2/3 of solved classifiers: what is left of their loss on the class means."""
    W, bias = oracles.least_squares(H, CLASSES)
    means = oracles.covariances(H, CLASSES)[2]
    return 0.5 * np.sum((W @ means + bias[:, None] - np.eye(CLASSES)) ** 2) / CLASSES


@pytest.mark.parametrize("place", [0, 8, 12, 16, 24])  # from a thousandth to a thousand times: 12 leaves X as it is
def test_l_nc1_under_other_scatter_and_after_a_push_is_that_of_solved_classifiers(place):
    X, scatter = central_features(), converses.SCATTERS[place]
    found = converses.small_terms(X, CLASSES)
    expected = nc1_term(with_scatter(X, scatter * np.eye(FEATURES)))
    assert found["scattered_loss_nc1"][place] == pytest.approx(expected, rel=1e-6)
    assert found["scattered_loss_nc23"][place] == pytest.approx(nc23_term(with_scatter(X, scatter * np.eye(FEATURES))))
    # the push is to omega_min sqrt(L / (C - 1)), and leaves no more than half
    deviation = oracles.singular_values(X, CLASSES)[-1] * np.sqrt(expected / (CLASSES - 1))
    left = nc1_term(with_scatter(X, deviation * np.eye(FEATURES))) / expected
    assert found["pushed_loss_nc1_ratio"][place] == pytest.approx(left, rel=1e-3)
    assert deviation < scatter
    assert left <= 0.5


def test_l_nc1_beside_noise_that_stays_is_that_of_solved_classifiers():
    X, least = central_features(), converses.SCATTERS[0]
    U = simplex_of_means(X)[1][:, :DIFFER]
    H = with_scatter(X, np.eye(FEATURES) - (1 - least) * U @ U.T)
    variances = np.linalg.eigvalsh(oracles.covariances(H, CLASSES)[0])
    np.testing.assert_allclose(variances, [least**2] * DIFFER + [1.0] * (FEATURES - DIFFER), rtol=1e-6)
    found = converses.small_terms(X, CLASSES)["loss_nc1_beside_noise"]
    assert found == pytest.approx(nc1_term(H), rel=1e-6)


@pytest.fixture
def concentrated():
    """Class means of features, and the classifiers solved where deviations from them are the smallest."""
    X = central_features()
    means = oracles.covariances(X, CLASSES)[2]
    smallest = np.linalg.svd(means - means.mean(axis=1, keepdims=True), compute_uv=False)[DIFFER - 1]
    H = with_scatter(X, converses.SCATTERS[0] * min(1.0, smallest) * np.eye(FEATURES))
    return means, oracles.least_squares(H, CLASSES)[0]


def test_scores_where_deviations_are_small_are_those_of_solved_classifiers(concentrated):
    means, W = concentrated
    found = converses.small_terms(central_features(), CLASSES)
    assert found["concentrated_score_error"] == pytest.approx(oracles.relative(W @ means, SIMPLEX), rel=1e-3)


def test_where_deviations_are_small_neither_means_nor_classifiers_are_a_frame_nor_alike(concentrated):
    means, W = concentrated
    found = converses.small_terms(central_features(), CLASSES)
    inverse = scipy.linalg.pinv(means, rtol=1e-9)
    expected = {
        "means_frame_distance": oracles.from_frame(means),
        "classifiers_frame_distance": oracles.from_frame(W.T),
        "classifiers_self_duality": self_duality(W, means),
        "inverse_frame_distance": oracles.from_frame(inverse.T),
        "inverse_self_duality": self_duality(inverse, means),
    }
    assert min(expected.values()) > 0.1
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-5), name


@pytest.mark.parametrize("place", noises(converses.SIMPLEX_NOISES))
def test_noise_along_a_simplex_leaves_the_scores_of_solved_classifiers(place):
    X, noise = central_features(), converses.SIMPLEX_NOISES[place]
    found = converses.simplex_scores(X, CLASSES)
    M, U = simplex_of_means(X)
    along = np.array([noise] * DIFFER + [1.0] * (FEATURES - DIFFER))
    H = with_means(with_scatter(X, (U * along) @ U.T), M)
    W, b = oracles.least_squares(H, CLASSES)
    short = oracles.relative(W @ M, SIMPLEX)
    assert found["simplex_score_error"][place] == pytest.approx(short, rel=1e-7)
    omega = oracles.singular_values(H, CLASSES)
    np.testing.assert_allclose(theory.simplex_score_error(omega, CLASSES), short, rtol=1e-7)
    term = np.sum((W @ M + b[:, None] - np.eye(CLASSES)) ** 2) / (2 * CLASSES)
    assert term == pytest.approx((CLASSES - 1) / (2 * CLASSES) * short**2, rel=1e-7)
    assert (
        max(found["simplex_frame_distance"][place], found["simplex_self_duality"][place], oracles.from_frame(W.T))
        < 1e-6
    )


def test_three_classes_whose_noise_has_the_size_of_their_signal_keep_three_sixteenths():
    place = list(converses.SIMPLEX_NOISES).index(1.0)
    short = converses.simplex_scores(central_features(), CLASSES)["simplex_score_error"][place]
    assert (CLASSES - 1) / (2 * CLASSES) * short**2 == pytest.approx(3 / 16)


def test_noise_that_leans_makes_a_product_that_its_trace_does_not_see():
    X = central_features()
    found = converses.leaning_noise(X, CLASSES)
    U = np.linalg.svd(oracles.covariances(X, CLASSES)[2])[0]
    for place, lean in enumerate(converses.LEANS):
        # one in which class means do not differ, leaning towards that in which they differ least
        direction = lean * U[:, DIFFER - 1] + np.sqrt(1 - lean**2) * U[:, DIFFER]
        wanted = lean * np.eye(FEATURES) + (1 / lean - lean) * np.outer(direction, direction)
        H = with_scatter(X, scipy.linalg.sqrtm(wanted).real)
        within, between, _ = oracles.covariances(H, CLASSES)
        np.testing.assert_allclose(within, wanted, atol=1e-8 / lean)
        values = np.linalg.eigvals(scipy.linalg.pinvh(between, rtol=1e-9) @ within)
        assert found["product_trace"][place] == pytest.approx(values.sum().real, rel=1e-5), lean
        assert found["covariance_condition"][place] == pytest.approx(lean**-2, rel=1e-5), lean
    # the trace falls with the lean; the product, written as a sum over class means, does not
    np.testing.assert_allclose(found["product_trace"][1:] / found["product_trace"][:-1], 0.1, rtol=1e-2)
    assert np.ptp(found["product_norm"]) < 0.01 * found["product_norm"][0]


def test_leaning_noise_needs_a_direction_beside_the_class_means():
    assert np.isnan(converses.leaning_noise(planar_features(), MANY)["product_norm"]).all()


@pytest.mark.parametrize(
    ("quantity", "beside"),
    [("vanishing_self_duality", DIFFER), ("vanishing_self_duality--uncoupled", 0)],
    ids=["coupled", "uncoupled"],
)
@pytest.mark.parametrize("place", noises(converses.NOISES))
def test_noise_around_a_simplex_leaves_the_self_duality_of_solved_classifiers(quantity, beside, place):
    found = converses.simplex_means(central_features(), CLASSES)
    H, M = around_a_simplex(place, beside)
    W, _ = oracles.least_squares(H, CLASSES)
    assert found[quantity][place] == pytest.approx(self_duality(W, M), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("place", noises(converses.NOISES))
def test_coupled_noise_around_a_simplex_has_nc1_by_definition(place):
    H, _ = around_a_simplex(place, beside=DIFFER)
    within, between, _ = oracles.covariances(H, CLASSES)
    trace = np.trace(scipy.linalg.pinvh(between, rtol=1e-9) @ within) / CLASSES
    found = converses.simplex_means(central_features(), CLASSES)
    assert found["vanishing_nc1"][place] == pytest.approx(trace, rel=1e-6)


@pytest.mark.parametrize(
    ("quantity", "beside"),
    [("vanishing_nc4_far_points", DIFFER), ("vanishing_nc4_far_points--uncoupled", 0)],
    ids=["coupled", "uncoupled"],
)
@pytest.mark.parametrize("place", noises(converses.NOISES))
def test_points_off_the_class_means_are_decided_by_solved_classifiers(quantity, beside, place):
    H, M = around_a_simplex(place, beside)
    W, b = oracles.least_squares(H, CLASSES)
    n = simplex_of_means(central_features())[1][:, DIFFER]
    # what is nearest to the mean of a class, and decided for another
    otherwise = sum(
        np.argmax(W @ (M[:, c] + side * converses.FAR * n) + b) != c for c in range(CLASSES) for side in (-1, 1)
    )
    assert converses.simplex_means(central_features(), CLASSES)[quantity][place] == otherwise
    assert otherwise > 0 or beside == 0


def test_coupled_noise_needs_a_direction_beside_the_class_means():
    assert np.isnan(converses.simplex_means(planar_features(), MANY)["vanishing_self_duality"]).all()


@pytest.mark.parametrize("coupling", [0.3, 0.5])
def test_self_duality_under_coupling_is_that_of_the_limiting_classifier(coupling):
    M = np.linalg.svd(SIMPLEX)[2][:DIFFER]
    M = np.vstack([M, np.zeros((1, CLASSES))])  # two directions of class means, and one beside them
    Q = np.eye(DIFFER + 1)
    Q[0, 2] = Q[2, 0] = coupling
    W = np.linalg.pinv(M.T @ np.linalg.inv(Q) @ M, rcond=1e-9) @ M.T @ np.linalg.inv(Q)
    found = theory.self_duality_under_coupling(coupling, CLASSES)
    assert found == pytest.approx(self_duality(W, M), rel=1e-12)
