"""That small terms of the loss and small traces do not imply collapse: against classifiers of a general solver.

X are renormalised features, H those with the same or other class means and other noise. Shapes: features (P, C N) for
P = `FEATURES`, as columns sorted by class; class means M (P, C), as columns; classifiers W (C, P).
"""

from typing import NamedTuple

import numpy as np
import pytest
import scipy

from learning_dynamics.papers.neural_collapse.central_path import converses, theory
from tests.papers.neural_collapse import oracles

CLASSES, EXAMPLES, FEATURES = 3, 7, 5  # C, N of each class, P
RANK = CLASSES - 1  # of the centred class means
SIMPLEX = np.eye(CLASSES) - 1 / CLASSES  # Phi, labels less their mean (eq. 18)
MANY_CLASSES = FEATURES + 1  # whose means differ in all directions
EPS = np.finfo(float).eps
# Of solved classifiers: some ten operations, on normal equations whose condition number is of order 1e6, as scatters
# and noises are a thousandth of other deviations or of the class means
ROUNDING = 10 * EPS * 1e6
CUTOFF = 1e-9  # of singular values, relative: far above rounding, far below the least that is not zero


def central_features():
    """Return renormalised features: of identity within-class covariance and zero mean."""
    return oracles.renormalised(oracles.features(CLASSES, EXAMPLES, FEATURES, seed=2), CLASSES)


def full_rank_features():
    """Return renormalised features of so many classes that no direction is orthogonal to all class means."""
    return oracles.renormalised(oracles.features(MANY_CLASSES, 5, FEATURES), MANY_CLASSES)


def class_means(H):
    _, _, M = oracles.covariances(H, CLASSES)
    return M


def of_every_example(M):
    """Return the class mean of each example, shape (P, C N)."""
    return np.kron(M, np.ones(EXAMPLES))


def with_mapped_deviations(H, change):
    """Return features with the class means of H, and its deviations from them mapped by `change`, shape (P, P)."""
    means = of_every_example(class_means(H))
    return means + change @ (H - means)


def with_means(H, M):
    """Return features with the deviations of H, around other class means."""
    return H + of_every_example(M - class_means(H))


def simplex_of_means(X):
    """Return the simplex frame of singular values one that is nearest to the class means, and U of their SVD.

    The first `RANK` columns of U span the class means; U[:, RANK] is a direction orthogonal to all of them.
    """
    U, _, Vt = np.linalg.svd(class_means(X))
    return U[:, :RANK] @ Vt[:RANK], U


def nc1_term(H):
    """Return L_NC1 (eq. 17) of solved classifiers, by the covariance of their scores."""
    W, _ = oracles.least_squares(H, CLASSES)
    within, _, _ = oracles.covariances(H, CLASSES)
    return 0.5 * np.trace(W @ within @ W.T)


def nc23_term(H):
    """Return L_NC2/3 (eq. 18) of solved classifiers: what is left of their loss on the class means."""
    W, bias = oracles.least_squares(H, CLASSES)
    return 0.5 * np.sum((W @ class_means(H) + bias[:, None] - np.eye(CLASSES)) ** 2) / CLASSES


def self_duality(W, M):
    """Return the squared distance of classifiers from class means, both of unit norm."""
    return np.sum((W / np.linalg.norm(W) - M.T / np.linalg.norm(M)) ** 2)


def nc1_trace(H):
    """Return the trace of pinv(Sigma_B) Sigma_W, as the sum of its eigenvalues."""
    within, between, _ = oracles.covariances(H, CLASSES)
    return np.linalg.eigvals(scipy.linalg.pinvh(between, rtol=CUTOFF) @ within).sum().real


def index_cases(values, name):
    """Return a case of a test for each index of a sequence, counted from 0 and named by the value there."""
    return [pytest.param(index, id=f"{name}={value:g}") for index, value in enumerate(values)]


# -- deviations mapped around the same class means -------------------------------------------------

# a scatter is a factor of the deviations of X: of the 25, a thousandth, a tenth, 1, 10 and a thousand
some_scatters = pytest.mark.parametrize(
    "index", [index_cases(converses.SCATTERS, "scatter")[index] for index in (0, 8, 12, 16, 24)]
)


@some_scatters
def test_terms_of_the_loss_under_other_scatter_are_those_of_solved_classifiers(index):
    X = central_features()
    H = with_mapped_deviations(X, converses.SCATTERS[index] * np.eye(FEATURES))
    measured = converses.small_terms(X, CLASSES)
    np.testing.assert_allclose(measured["scattered_loss_nc1"][index], nc1_term(H), rtol=ROUNDING)
    np.testing.assert_allclose(measured["scattered_loss_nc23"][index], nc23_term(H), rtol=ROUNDING)


@some_scatters
def test_a_push_of_the_deviations_leaves_at_most_half_of_l_nc1(index):
    """The push is to a standard deviation of omega_min sqrt(L_NC1 / (C - 1))."""
    X, scatter = central_features(), converses.SCATTERS[index]
    before = nc1_term(with_mapped_deviations(X, scatter * np.eye(FEATURES)))
    push = oracles.singular_values(X, CLASSES)[-1] * np.sqrt(before / (CLASSES - 1))
    ratio = nc1_term(with_mapped_deviations(X, push * np.eye(FEATURES))) / before
    assert push < scatter
    assert ratio <= 0.5
    measured = converses.small_terms(X, CLASSES)["pushed_loss_nc1_ratio"][index]
    np.testing.assert_allclose(measured, ratio, rtol=ROUNDING)


def test_l_nc1_beside_noise_orthogonal_to_class_means_is_that_of_solved_classifiers():
    X, least = central_features(), converses.SCATTERS[0]
    _, U = simplex_of_means(X)
    along = U[:, :RANK]
    H = with_mapped_deviations(X, np.eye(FEATURES) - (1 - least) * along @ along.T)
    within, _, _ = oracles.covariances(H, CLASSES)
    variances = np.linalg.eigvalsh(within)
    np.testing.assert_allclose(variances, [least**2] * RANK + [1.0] * (FEATURES - RANK), rtol=ROUNDING)
    measured = converses.small_terms(X, CLASSES)["loss_nc1_beside_noise"]
    np.testing.assert_allclose(measured, nc1_term(H), rtol=ROUNDING)


@pytest.fixture
def means_and_classifiers():
    """Return the class means of features, and the classifiers solved where deviations from them are the smallest.

    The deviations are the least of the scatters, times the least singular value where that is below one: so they are
    small beside the class means in every direction.
    """
    X = central_features()
    least_omega = oracles.singular_values(X, CLASSES)[-1]
    H = with_mapped_deviations(X, converses.SCATTERS[0] * min(1.0, least_omega) * np.eye(FEATURES))
    W, _ = oracles.least_squares(H, CLASSES)
    return class_means(X), W


def test_scores_where_deviations_are_small_are_those_of_solved_classifiers(means_and_classifiers):
    means, W = means_and_classifiers
    measured = converses.small_terms(central_features(), CLASSES)["concentrated_score_error"]
    # the error is a difference of 2e-6 between scores of order one, each of some ten operations; what the condition of
    # the problem adds to W is orthogonal to the class means
    np.testing.assert_allclose(measured, oracles.relative_distance(W @ means, SIMPLEX), rtol=10 * EPS / 2e-6)


@pytest.fixture
def distances_from_frames(means_and_classifiers):
    """Return distances of means and classifiers from frames and from each other, by quantity."""
    means, W = means_and_classifiers
    inverse = scipy.linalg.pinv(means, rtol=CUTOFF)
    return {
        "means_frame_distance": oracles.distance_from_simplex_frame(means),
        "classifiers_frame_distance": oracles.distance_from_simplex_frame(W.T),
        "classifiers_self_duality": self_duality(W, means),
        "inverse_frame_distance": oracles.distance_from_simplex_frame(inverse.T),
        "inverse_self_duality": self_duality(inverse, means),
    }


@pytest.mark.parametrize(
    "quantity",
    [
        "means_frame_distance",
        "classifiers_frame_distance",
        "classifiers_self_duality",
        "inverse_frame_distance",
        "inverse_self_duality",
    ],
)
def test_small_deviations_imply_neither_a_frame_nor_self_duality(quantity, distances_from_frames):
    distance = distances_from_frames[quantity]
    # far more than 1e-3, the root of the score error that these deviations leave
    assert distance > 0.1
    measured = converses.small_terms(central_features(), CLASSES)[quantity]
    np.testing.assert_allclose(measured, distance, rtol=ROUNDING)


# -- noise along class means that are a simplex frame ----------------------------------------------

every_simplex_noise = pytest.mark.parametrize("index", index_cases(converses.SIMPLEX_NOISES, "noise"))


def with_noise_along_a_simplex(noise):
    """Return features around a simplex frame M with noise of this deviation along M and of one beside it, and M."""
    X = central_features()
    M, U = simplex_of_means(X)
    deviations = np.array([noise] * RANK + [1.0] * (FEATURES - RANK))
    return with_means(with_mapped_deviations(X, (U * deviations) @ U.T), M), M


@every_simplex_noise
def test_noise_along_a_simplex_leaves_the_scores_of_solved_classifiers(index):
    H, M = with_noise_along_a_simplex(converses.SIMPLEX_NOISES[index])
    W, _ = oracles.least_squares(H, CLASSES)
    score_error = oracles.relative_distance(W @ M, SIMPLEX)
    measured = converses.simplex_scores(central_features(), CLASSES)["simplex_score_error"][index]
    np.testing.assert_allclose(measured, score_error, rtol=ROUNDING)
    omega = oracles.singular_values(H, CLASSES)
    np.testing.assert_allclose(theory.simplex_score_error(omega, CLASSES), score_error, rtol=ROUNDING)


@every_simplex_noise
def test_l_nc23_of_a_simplex_is_the_square_of_its_score_error(index):
    H, _ = with_noise_along_a_simplex(converses.SIMPLEX_NOISES[index])
    score_error = converses.simplex_scores(central_features(), CLASSES)["simplex_score_error"][index]
    # |Phi|^2 = C - 1
    np.testing.assert_allclose(nc23_term(H), (CLASSES - 1) / (2 * CLASSES) * score_error**2, rtol=ROUNDING)


@every_simplex_noise
def test_noise_along_a_simplex_leaves_classifiers_a_frame_and_dual_to_the_means(index):
    H, _ = with_noise_along_a_simplex(converses.SIMPLEX_NOISES[index])
    W, _ = oracles.least_squares(H, CLASSES)
    # the minimiser in `distance_from_simplex_frame` finds the scale of the frame to 1e-11
    assert oracles.distance_from_simplex_frame(W.T / np.linalg.norm(W)) < 1e-10
    measured = converses.simplex_scores(central_features(), CLASSES)
    assert measured["simplex_frame_distance"][index] < ROUNDING
    assert measured["simplex_self_duality"][index] < ROUNDING**2  # a squared distance


def test_l_nc23_of_three_classes_with_as_much_noise_as_signal_is_three_sixteenths():
    """It is (C - 1) / (2 C) times the square of C / (C + 1)."""
    index = list(converses.SIMPLEX_NOISES).index(1.0)
    score_error = converses.simplex_scores(central_features(), CLASSES)["simplex_score_error"][index]
    np.testing.assert_allclose((CLASSES - 1) / (2 * CLASSES) * score_error**2, 3 / 16, rtol=ROUNDING)


# -- noise that leans towards the class means ------------------------------------------------------


@pytest.mark.parametrize("index", index_cases(converses.LEANS, "lean"))
def test_trace_and_condition_under_leaning_noise_are_those_by_definition(index):
    """The covariance is lean I + (1 / lean - lean) d d^T, where d is a unit vector.

    The part of d along the direction in which class means differ least is the lean; the rest is orthogonal to all of
    them. The condition number of the covariance, 1 / lean^2, multiplies rounding.
    """
    X, lean = central_features(), converses.LEANS[index]
    _, U = simplex_of_means(X)
    direction = lean * U[:, RANK - 1] + np.sqrt(1 - lean**2) * U[:, RANK]
    covariance = lean * np.eye(FEATURES) + (1 / lean - lean) * np.outer(direction, direction)
    H = with_mapped_deviations(X, scipy.linalg.sqrtm(covariance).real)
    within, _, _ = oracles.covariances(H, CLASSES)
    np.testing.assert_allclose(within, covariance, rtol=0, atol=10 * EPS / lean)
    measured = converses.leaning_noise(X, CLASSES)
    np.testing.assert_allclose(measured["product_trace"][index], nc1_trace(H), rtol=10 * EPS / lean**2)
    np.testing.assert_allclose(measured["covariance_condition"][index], lean**-2, rtol=10 * EPS / lean**2)


def test_the_trace_falls_with_the_lean_and_the_norm_of_the_product_does_not():
    """The trace is proportional to the lean, the norm constant, either up to the square of the lean."""
    measured, largest = converses.leaning_noise(central_features(), CLASSES), max(converses.LEANS)
    trace_over_lean = measured["product_trace"] / converses.LEANS
    np.testing.assert_allclose(trace_over_lean, trace_over_lean[-1], rtol=largest**2)
    np.testing.assert_allclose(measured["product_norm"], measured["product_norm"][-1], rtol=largest**2)


def test_leaning_noise_needs_a_direction_orthogonal_to_the_class_means():
    assert np.isnan(converses.leaning_noise(full_rank_features(), MANY_CLASSES)["product_norm"]).all()


# -- noise that vanishes around a simplex frame ----------------------------------------------------

every_noise = pytest.mark.parametrize("index", index_cases(converses.NOISES, "noise"))


class NoisySimplex(NamedTuple):
    H: np.ndarray  # features around a simplex frame
    M: np.ndarray  # the frame
    orthogonal: np.ndarray  # a direction orthogonal to it, of unit length


def around_a_simplex(noise, *, coupled):
    """Return features around a simplex frame with noise of this standard deviation.

    The noise has the covariance noise^2 Q. Where it is `coupled`, Q is the identity but for a covariance of 0.5 between
    the first direction of the class means and the orthogonal one. Where it is not, Q is the identity but for a variance
    of 1.5 along the first direction of the class means.
    """
    X = central_features()
    M, U = simplex_of_means(X)
    along, orthogonal = U[:, 0], U[:, RANK]
    if coupled:
        Q = np.eye(FEATURES) + 0.5 * (np.outer(along, orthogonal) + np.outer(orthogonal, along))
    else:
        Q = np.eye(FEATURES) + 0.5 * np.outer(along, along)
    H = with_means(noise * with_mapped_deviations(X, scipy.linalg.sqrtm(Q).real), M)
    return NoisySimplex(H, M, orthogonal)


@pytest.mark.parametrize(
    ("quantity", "coupled"),
    [("vanishing_self_duality", True), ("vanishing_self_duality--uncoupled", False)],
    ids=["coupled", "uncoupled"],
)
@every_noise
def test_noise_around_a_simplex_leaves_the_self_duality_of_solved_classifiers(quantity, coupled, index):
    simplex = around_a_simplex(converses.NOISES[index], coupled=coupled)
    W, _ = oracles.least_squares(simplex.H, CLASSES)
    expected = self_duality(W, simplex.M)
    measured = converses.simplex_means(central_features(), CLASSES)[quantity][index]
    # a squared distance: off by twice the distance times the rounding of the classifiers
    np.testing.assert_allclose(measured, expected, rtol=0, atol=2 * np.sqrt(expected) * ROUNDING)


@every_noise
def test_coupled_noise_around_a_simplex_has_nc1_by_definition(index):
    simplex = around_a_simplex(converses.NOISES[index], coupled=True)
    measured = converses.simplex_means(central_features(), CLASSES)["vanishing_nc1"][index]
    # NC1 is the trace over C
    np.testing.assert_allclose(measured, nc1_trace(simplex.H) / CLASSES, rtol=ROUNDING)


def far_points_decided_for_another_class(simplex):
    """Return how many points solved classifiers give another class than that of the nearest mean.

    The points are the class means, moved by `converses.FAR` to either side along a direction orthogonal to all of them.
    """
    W, b = oracles.least_squares(simplex.H, CLASSES)
    count = 0
    for move in (-converses.FAR, converses.FAR):
        for nearest in range(CLASSES):
            point = simplex.M[:, nearest] + move * simplex.orthogonal
            count += np.argmax(W @ point + b) != nearest
    return count


@every_noise
def test_under_coupled_noise_solved_classifiers_give_far_points_another_class(index):
    expected = far_points_decided_for_another_class(around_a_simplex(converses.NOISES[index], coupled=True))
    assert expected > 0
    assert converses.simplex_means(central_features(), CLASSES)["vanishing_nc4_far_points"][index] == expected


@every_noise
def test_under_uncoupled_noise_far_points_are_given_the_class_of_the_nearest_mean(index):
    assert far_points_decided_for_another_class(around_a_simplex(converses.NOISES[index], coupled=False)) == 0
    measured = converses.simplex_means(central_features(), CLASSES)["vanishing_nc4_far_points--uncoupled"][index]
    assert measured == 0


def test_coupled_noise_needs_a_direction_orthogonal_to_the_class_means():
    assert np.isnan(converses.simplex_means(full_rank_features(), MANY_CLASSES)["vanishing_self_duality"]).all()


@pytest.mark.parametrize("coupling", [0.3, 0.5])
def test_self_duality_under_coupling_is_that_of_the_limiting_classifier(coupling):
    """As noise of covariance e^2 Q vanishes, W tends to pinv(M^T Q^-1 M) M^T Q^-1."""
    frame = np.linalg.svd(SIMPLEX)[2][:RANK]
    M = np.vstack([frame, np.zeros((1, CLASSES))])  # the third direction is orthogonal to the class means
    Q = np.eye(RANK + 1)
    Q[0, RANK] = Q[RANK, 0] = coupling
    M_in_noise = M.T @ np.linalg.inv(Q)
    W = np.linalg.pinv(M_in_noise @ M, rcond=CUTOFF) @ M_in_noise
    # of matrices of three rows, whose entries are of order one
    np.testing.assert_allclose(
        theory.self_duality_under_coupling(coupling, CLASSES), self_duality(W, M), rtol=100 * EPS
    )
