"""Gaps of identities and of altered ones, and what small terms do not imply, from solved least-squares problems."""

import numpy as np
import pytest
import scipy

from learning_dynamics.papers.neural_collapse.central_path import converses, identities, theory
from tests.papers.neural_collapse import oracles

SIZE = (3, 7, 5)
CLASSES = 3
SIMPLEX = np.eye(CLASSES) - 1 / CLASSES


def relative(changed, matrix):
    return np.linalg.norm(changed - matrix) / np.linalg.norm(matrix)


@pytest.mark.parametrize("decay", [1e-3, 0.1, 1.0])
def test_gaps_of_the_classifiers_identities(decay):
    H = oracles.features(*SIZE)
    W = np.random.default_rng(0).standard_normal((CLASSES, 6))
    found = identities.classifier_identities(H, W, decay)
    best, half = (np.column_stack(oracles.least_squares(H, CLASSES, one)) for one in (decay, decay / 2))

    def total(V, decay=decay):
        return oracles.square_error(V[:, :-1], V[:, -1], H, CLASSES) + 0.5 * decay * np.sum(V**2)

    within, _, means = oracles.covariances(H, CLASSES)
    scatter = 0.5 * np.trace(best[:, :-1] @ within @ best[:, :-1].T)
    norm = 0.5 * decay * np.sum(best**2)
    geometry = total(best) - norm - scatter
    mean = np.append(means.mean(axis=1), 1.0)
    rows = np.vstack([H, np.ones(H.shape[1])])
    covariance = rows @ rows.T / H.shape[1] + decay * np.eye(6) - np.outer(mean, mean)
    wrong = (np.linalg.inv(covariance) @ np.vstack([means, np.ones(CLASSES)])).T / CLASSES
    expected = {
        "classifier": 0.0,
        "theorem_1": 0.0,
        "theorem_2": 0.0,
        "classifier--half_decay": relative(half, best),
        "classifier--without_mean": relative(wrong, best),
        "theorem_1--without_mean": 0.5 * np.sum(((W - best) @ mean) ** 2) / total(W),
        "theorem_2--without_decay": norm / total(best),
        "theorem_2--without_classes": (CLASSES - 1) * geometry / total(best),
    }
    assert found == pytest.approx(expected, rel=1e-7, abs=1e-12)


def test_gaps_of_equation_6():
    H = oracles.features(*SIZE, seed=1)
    found = identities.equation_6(H, CLASSES)
    W, b = oracles.least_squares(H, CLASSES)
    within, _, means = oracles.covariances(H, CLASSES)
    centre = means.mean(axis=1)
    discriminant = (np.linalg.inv(within) @ (means - centre[:, None])).T / CLASSES
    solved = np.column_stack([W, b])
    wrong = np.column_stack([discriminant, 1 / CLASSES - discriminant @ centre])
    expected = {
        "equation_6": 0.0,
        "equation_6--within": relative(wrong, solved),
        "equation_6--bias": relative(np.column_stack([W, b * 0 + 1 / CLASSES]), solved),
    }
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-12)


def test_predictions_and_losses_along_a_fibre():
    H = oracles.features(*SIZE)
    A = np.eye(5) + 0.3 * np.random.default_rng(0).standard_normal((5, 5))
    found = identities.invariance(H, A, CLASSES)
    W, b = oracles.least_squares(H, CLASSES)
    scores, kept = W @ H + b[:, None], W @ A @ H + b[:, None]
    before, after = (oracles.square_error(W, b, each, CLASSES) for each in (H, A @ H))
    expected = {
        "predictions": 0.0,
        "losses": 0.0,
        "predictions--classifier_kept": relative(kept, scores),
        "losses--classifier_kept": (after - before) / before,
    }
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-11)


@pytest.mark.parametrize("size", [SIZE, (3, 6, 2)])  # a frame of three classes needs two features
def test_gaps_of_frames(size):
    H = oracles.features(*size)
    found = identities.simplex_frames(H, np.random.default_rng(2).standard_normal(H.shape), CLASSES)
    assert found["lemma_7"] < 1e-13
    assert found["lemma_7--other_null_space"] > 0.05
    means = oracles.covariances(oracles.renormalised(H, CLASSES), CLASSES)[2]
    assert found["lemma_7--unequal_values"] == pytest.approx(from_frame(means), rel=1e-6)


def from_frame(vectors):
    """How far the Gram matrix is from the nearest simplex frame's, relative."""
    gram = vectors.T @ vectors
    best = scipy.optimize.minimize_scalar(lambda scale: np.linalg.norm(gram - scale * SIMPLEX), tol=1e-12)
    return best.fun / np.linalg.norm(gram)


def with_scatter(H, change):
    """Return features with the class means of H, and its deviations from them mapped."""
    means = np.kron(oracles.covariances(H, CLASSES)[2], np.ones(SIZE[1]))
    return means + change @ (H - means)


def test_terms_under_other_scatter_are_those_of_solved_classifiers():
    X = oracles.renormalised(oracles.features(*SIZE, seed=2), CLASSES)
    found = converses.small_terms(X, CLASSES)
    for place in (0, 8, 12, 16, 24):
        H = with_scatter(X, converses.SCATTERS[place] * np.eye(5))
        W, _ = oracles.least_squares(H, CLASSES)
        expected = 0.5 * np.trace(W @ oracles.covariances(H, CLASSES)[0] @ W.T)
        assert found["scattered_nc1"][place] == pytest.approx(expected, rel=1e-6), place
        # the push is to omega_min sqrt(L / (C - 1)), and leaves no more than half
        deviation = oracles.singular_values(X, CLASSES)[-1] * np.sqrt(expected / (CLASSES - 1))
        pushed = with_scatter(X, deviation * np.eye(5))
        W, _ = oracles.least_squares(pushed, CLASSES)
        left = 0.5 * np.trace(W @ oracles.covariances(pushed, CLASSES)[0] @ W.T) / expected
        assert found["pushed_nc1"][place] == pytest.approx(left, rel=1e-3), place
        assert deviation < converses.SCATTERS[place]
        assert left <= 0.5
    means = oracles.covariances(X, CLASSES)[2]
    smallest = np.linalg.svd(means - means.mean(axis=1, keepdims=True), compute_uv=False)[CLASSES - 2]
    H = with_scatter(X, converses.SCATTERS[0] * min(1.0, smallest) * np.eye(5))
    W, _ = oracles.least_squares(H, CLASSES)
    assert found["scattered_nc23"] == pytest.approx(relative(W @ means, SIMPLEX), rel=1e-3)

    def apart(V):
        return np.linalg.norm(V / np.linalg.norm(V) - means.T / np.linalg.norm(means)) ** 2

    inverse = scipy.linalg.pinv(means, rtol=1e-9)
    expected = {
        "frame_means": from_frame(means),
        "frame_classifiers": from_frame(W.T),
        "duality": apart(W),
        "frame_inverse": from_frame(inverse.T),
        "duality_inverse": apart(inverse),
    }
    assert min(expected.values()) > 0.1
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-5), name


@pytest.mark.parametrize("place", range(4))
def test_isotropic_noise_around_a_simplex_leaves_the_scores_of_solved_classifiers(place):
    found = converses.simplex_scores(central_features(), CLASSES)
    U, _, V = np.linalg.svd(oracles.covariances(central_features(), CLASSES)[2] @ SIMPLEX)
    M = U[:, :2] @ V[:2]
    noise = with_scatter(central_features(), converses.SIMPLEX_NOISES[place] * np.eye(5))
    H = noise + np.kron(M - oracles.covariances(noise, CLASSES)[2], np.ones(SIZE[1]))
    W, b = oracles.least_squares(H, CLASSES)
    short = np.linalg.norm(W @ M - SIMPLEX) / np.linalg.norm(SIMPLEX)
    assert found["simplex_scores"][place] == pytest.approx(short, rel=1e-7)
    omega = oracles.singular_values(H, CLASSES)
    np.testing.assert_allclose(theory.simplex_score_error(omega, CLASSES), short, rtol=1e-7)
    term = np.sum((W @ M + b[:, None] - np.eye(CLASSES)) ** 2) / (2 * CLASSES)
    assert term == pytest.approx((CLASSES - 1) / (2 * CLASSES) * short**2, rel=1e-7)
    assert max(found["simplex_frames"][place], found["simplex_duality"][place], from_frame(W.T)) < 1e-6


def test_three_classes_whose_noise_has_the_size_of_their_signal_keep_three_sixteenths():
    place = list(converses.SIMPLEX_NOISES).index(1.0)
    short = converses.simplex_scores(central_features(), CLASSES)["simplex_scores"][place]
    assert (CLASSES - 1) / (2 * CLASSES) * short**2 == pytest.approx(3 / 16)


def test_noise_that_leans_makes_a_product_that_its_trace_does_not_see():
    X = oracles.renormalised(oracles.features(*SIZE, seed=2), CLASSES)
    found = converses.leaning_noise(X, CLASSES)
    U = np.linalg.svd(oracles.covariances(X, CLASSES)[2])[0]
    for place, lean in enumerate(converses.LEANS):
        direction = lean * U[:, 1] + np.sqrt(1 - lean**2) * U[:, 2]
        wanted = lean * np.eye(5) + (1 / lean - lean) * np.outer(direction, direction)
        H = with_scatter(X, scipy.linalg.sqrtm(wanted).real)
        within, between, _ = oracles.covariances(H, CLASSES)
        np.testing.assert_allclose(within, wanted, atol=1e-8 / lean)
        values = np.linalg.eigvals(scipy.linalg.pinvh(between, rtol=1e-9) @ within)
        assert found["product_trace"][place] == pytest.approx(values.sum().real, rel=1e-5), lean
        assert found["condition"][place] == pytest.approx(lean**-2, rel=1e-5), lean
    # the trace falls with the lean; the product, written as a sum over class means, does not
    np.testing.assert_allclose(found["product_trace"][1:] / found["product_trace"][:-1], 0.1, rtol=1e-2)
    assert np.ptp(found["product_norm"]) < 0.01 * found["product_norm"][0]
    planar = oracles.renormalised(oracles.features(6, 5, 5), 6)
    assert np.isnan(converses.leaning_noise(planar, 6)["product_norm"]).all()


@pytest.mark.parametrize(
    ("quantity", "beside"),
    [("vanishing_duality", 2), ("vanishing_duality--uncoupled", 0)],
    ids=["coupled", "uncoupled"],
)
@pytest.mark.parametrize("place", [0, 1])
def test_noise_around_a_simplex_leaves_the_self_duality_of_solved_classifiers(quantity, beside, place):
    found = converses.simplex_means(central_features(), CLASSES)
    H, M = around_a_simplex(place, beside)
    W, _ = oracles.least_squares(H, CLASSES)
    apart = np.sum((W / np.linalg.norm(W) - M.T / np.linalg.norm(M)) ** 2)
    assert found[quantity][place] == pytest.approx(apart, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("place", [0, 1])
def test_coupled_noise_around_a_simplex_has_nc1_by_definition(place):
    H, _ = around_a_simplex(place, 2)
    within, between, _ = oracles.covariances(H, CLASSES)
    trace = np.trace(scipy.linalg.pinvh(between, rtol=1e-9) @ within) / CLASSES
    found = converses.simplex_means(central_features(), CLASSES)
    assert found["vanishing_nc1"][place] == pytest.approx(trace, rel=1e-6)


def test_coupled_noise_needs_a_direction_beside_the_class_means():
    planar = oracles.renormalised(oracles.features(6, 5, 5), 6)
    assert np.isnan(converses.simplex_means(planar, 6)["vanishing_duality"]).all()


@pytest.mark.parametrize("coupling", [0.3, 0.5])
def test_self_duality_under_coupling_is_that_of_the_limiting_classifier(coupling):
    M = np.linalg.svd(SIMPLEX)[2][: CLASSES - 1]
    M = np.vstack([M, np.zeros((1, CLASSES))])  # two directions of class means, and one beside them
    Q = np.eye(3)
    Q[0, 2] = Q[2, 0] = coupling
    W = np.linalg.pinv(M.T @ np.linalg.inv(Q) @ M, rcond=1e-9) @ M.T @ np.linalg.inv(Q)
    apart = np.sum((W / np.linalg.norm(W) - M.T / np.linalg.norm(M)) ** 2)
    assert theory.self_duality_under_coupling(coupling, CLASSES) == pytest.approx(apart, rel=1e-12)


def central_features():
    return oracles.renormalised(oracles.features(*SIZE, seed=2), CLASSES)


def around_a_simplex(place, beside):
    """Return features around a simplex frame with noise of 0.1 or 0.01, and the frame.

    The noise's covariance is the identity but for 0.5 between the first direction of the class means and another, or
    half as much again along the first.
    """
    X, noise = central_features(), (0.1, 0.01)[place]
    U, _, V = np.linalg.svd(oracles.covariances(X, CLASSES)[2] @ SIMPLEX)
    M = U[:, :2] @ V[:2]
    pairs = np.outer(U[:, 0], U[:, beside])
    covariance = np.eye(5) + (pairs + pairs.T) * (0.5 if beside else 0.25)
    H = noise * with_scatter(X, scipy.linalg.sqrtm(covariance).real)
    return H + np.kron(M - oracles.covariances(H, CLASSES)[2], np.ones(SIZE[1])), M
