"""Gaps of identities, zero where these hold, and of altered identities: against solved least-squares problems.

Classifiers are extended: the last column is the bias, and features have a last entry of one. Gaps of at most 1e-7 are
rounding of two solvers; altered identities have gaps of a thousandth or more.
"""

import numpy as np
import pytest

from learning_dynamics.measures import collapse
from learning_dynamics.papers.neural_collapse.central_path import identities, theory
from tests.papers.neural_collapse import oracles

CLASSES, FEATURES = 3, 5
SIZE = (CLASSES, 7, FEATURES)  # seven examples of each class


def random_classifier():
    """Return an extended classifier, shape (C, P + 1)."""
    return np.random.default_rng(0).standard_normal((CLASSES, FEATURES + 1))


def best_classifier(H, decay=0.0):
    """Return the extended classifier of least regularised loss, shape (C, P + 1)."""
    return np.column_stack(oracles.least_squares(H, CLASSES, decay))


def regularised_loss(W, H, decay):
    return oracles.square_error(W[:, :-1], W[:, -1], H, CLASSES) + 0.5 * decay * np.sum(W**2)


@pytest.mark.parametrize("decay", [1e-3, 0.1, 1.0])
def test_gaps_of_proposition_1_and_theorems_1_and_2_are_those_of_solved_classifiers(decay):
    H, W = oracles.features(*SIZE), random_classifier()
    best, best_at_half_decay = best_classifier(H, decay), best_classifier(H, decay / 2)
    loss_of_W, least_loss = regularised_loss(W, H, decay), regularised_loss(best, H, decay)

    # Theorem 1: the loss of W is the least one plus L_LS^perp, which the second moment measures
    deviation = loss_of_W - least_loss
    _, _, means = oracles.covariances(H, CLASSES)
    extended_means, extended_H = np.vstack([means, np.ones(CLASSES)]), np.vstack([H, np.ones(H.shape[1])])
    second_moment = extended_H @ extended_H.T / H.shape[1] + decay * np.eye(FEATURES + 1)
    global_mean = extended_means.mean(axis=1)
    without_mean = second_moment - np.outer(global_mean, global_mean)

    # Theorem 2: the least loss is L_NC1, within-class scatter and weight decay, plus L_NC2/3, the rest
    within, _, _ = oracles.covariances(H, CLASSES)
    scatter = 0.5 * np.trace(best[:, :-1] @ within @ best[:, :-1].T)
    weight_decay = 0.5 * decay * np.sum(best**2)
    nc23 = least_loss - weight_decay - scatter

    expected = {
        "classifier_gap": 0.0,
        "classifier_gap--half_decay": oracles.relative_distance(best_at_half_decay, best),
        "classifier_gap--without_mean": oracles.relative_distance(
            (np.linalg.inv(without_mean) @ extended_means).T / CLASSES, best
        ),
        "loss_decomposition_gap": 0.0,
        "loss_decomposition_gap--without_mean": 0.5 * np.sum(((W - best) @ global_mean) ** 2) / loss_of_W,
        # over the least deviation that a classifier as far from the best can have
        "deviation_over_least": deviation / (0.5 * np.linalg.eigvalsh(second_moment).min() * np.sum((W - best) ** 2)),
        "ls_decomposition_gap": 0.0,
        "ls_decomposition_gap--without_decay": weight_decay / least_loss,
        "ls_decomposition_gap--without_classes": (CLASSES - 1) * nc23 / least_loss,  # C L_NC2/3 instead of L_NC2/3
    }
    assert identities.classifier_identities(H, W, decay) == pytest.approx(expected, rel=1e-7, abs=1e-12)


def test_gaps_of_theorems_1_and_2_show_terms_that_are_twice_as_large(monkeypatch):
    H, W, decay = oracles.features(*SIZE), random_classifier(), 0.1
    decomposition = collapse.decomposition

    def doubled(*arguments):
        return {name: 2 * term for name, term in decomposition(*arguments).items()}

    monkeypatch.setattr(collapse, "decomposition", doubled)
    gaps = identities.classifier_identities(H, W, decay)
    loss_of_W, least_loss = regularised_loss(W, H, decay), regularised_loss(best_classifier(H, decay), H, decay)
    assert gaps["loss_decomposition_gap"] == pytest.approx((loss_of_W - least_loss) / loss_of_W)
    assert gaps["ls_decomposition_gap"] == pytest.approx(1.0)


def test_the_gap_of_proposition_1_shows_a_classifier_that_is_twice_as_large(monkeypatch):
    classifier = collapse.least_squares_classifier

    def doubled(*arguments, **options):
        return 2 * classifier(*arguments, **options)

    monkeypatch.setattr(collapse, "least_squares_classifier", doubled)
    gaps = identities.classifier_identities(oracles.features(*SIZE), random_classifier(), 0.1)
    assert gaps["classifier_gap"] == pytest.approx(1.0)


def test_gaps_of_equation_6_are_those_of_a_solved_classifier():
    """W = M^T Sigma_T^{-1} / C and b = 1/C - W mu_G, M centred; altered: with Sigma_W, and with b = 1/C."""
    H = oracles.features(*SIZE, seed=1)
    best = best_classifier(H)
    within, _, means = oracles.covariances(H, CLASSES)
    global_mean = means.mean(axis=1)
    W_of_within = (np.linalg.inv(within) @ (means - global_mean[:, None])).T / CLASSES
    of_within = np.column_stack([W_of_within, 1 / CLASSES - W_of_within @ global_mean])
    with_constant_bias = np.column_stack([best[:, :-1], np.full(CLASSES, 1 / CLASSES)])
    expected = {
        "unextended_classifier_gap": 0.0,
        "unextended_classifier_gap--within": oracles.relative_distance(of_within, best),
        "unextended_classifier_gap--constant_bias": oracles.relative_distance(with_constant_bias, best),
    }
    assert identities.equation_6(H, CLASSES) == pytest.approx(expected, rel=1e-8, abs=1e-12)


def test_predictions_and_losses_stay_under_a_map_unless_classifiers_are_kept():
    H = oracles.features(*SIZE)
    A = np.eye(FEATURES) + 0.3 * np.random.default_rng(0).standard_normal((FEATURES, FEATURES))
    W, b = oracles.least_squares(H, CLASSES)
    scores, scores_of_mapped = W @ H + b[:, None], W @ A @ H + b[:, None]
    loss, loss_of_mapped = (oracles.square_error(W, b, features, CLASSES) for features in (H, A @ H))
    expected = {
        "predictions_change": 0.0,
        "loss_change": 0.0,
        "predictions_change--classifier_kept": oracles.relative_distance(scores_of_mapped, scores),
        "loss_change--classifier_kept": (loss_of_mapped - loss) / loss,
    }
    assert identities.invariance(H, A, CLASSES) == pytest.approx(expected, rel=1e-8, abs=1e-11)


def test_a_classifier_that_does_not_follow_the_map_changes_predictions_and_loss(monkeypatch):
    H = oracles.features(*SIZE)
    best = best_classifier(H)
    monkeypatch.setattr(collapse, "least_squares_classifier", lambda *moments, decay: best)
    gaps = identities.invariance(H, 2.0 * np.eye(FEATURES), CLASSES)
    for quantity in ("predictions_change", "loss_change"):
        assert gaps[quantity] == gaps[f"{quantity}--classifier_kept"], quantity
        assert gaps[quantity] > 0.1, quantity


# -- simplex frames (Lemma 7) ----------------------------------------------------------------------

# A matrix M with C columns is a simplex frame if M^T M is a multiple of I - 1 1^T / C. It is so if and only if M has
# C - 1 equal singular values and M 1 = 0. `simplex_frames` measures a frame, and matrices with one of these properties


def random_directions(H):
    """Return what `simplex_frames` makes rotations of, a matrix of the shape of H."""
    return np.random.default_rng(2).standard_normal(H.shape)


# a frame of three classes needs two features
@pytest.mark.parametrize("size", [SIZE, (CLASSES, 6, 2)], ids=["five features", "two features"])
def test_a_simplex_frame_has_no_gap_and_matrices_with_one_property_of_it_have_one(size):
    H = oracles.features(*size)
    Z = random_directions(H)
    gaps = identities.simplex_frames(H, Z, CLASSES)
    assert gaps["simplex_frame_gap"] < 1e-13
    # C - 1 rows of the orthogonal matrix that `simplex_frames` makes of entries of Z; a rotation leaves the Gram matrix
    rows = np.linalg.qr(Z.ravel()[: CLASSES**2].reshape(CLASSES, CLASSES))[0][: CLASSES - 1]
    of_equal_values = oracles.distance_from_simplex_frame(rows)
    assert gaps["simplex_frame_gap--other_null_space"] == pytest.approx(of_equal_values, rel=1e-6)
    # U omega V^T has the Gram matrix of the normalised class means
    _, _, means = oracles.covariances(oracles.renormalised(H, CLASSES), CLASSES)
    of_centred_means = oracles.distance_from_simplex_frame(means)
    assert gaps["simplex_frame_gap--unequal_values"] == pytest.approx(of_centred_means, rel=1e-6)


def test_a_frame_that_is_stretched_has_a_gap(monkeypatch):
    H = oracles.features(*SIZE)
    Z = random_directions(H)
    # `simplex_frames` takes the rotation of its frame from qr: without it the map is any, and stretches
    monkeypatch.setattr(np.linalg, "qr", lambda matrix: (matrix, None))
    longest, shortest = np.linalg.svd(Z[:, : CLASSES - 1], compute_uv=False)  # of the map that is left
    gap = identities.simplex_frames(H, Z, CLASSES)["simplex_frame_gap"]
    assert gap == pytest.approx((longest - shortest) / longest)


def test_a_matrix_whose_gram_matrix_is_no_frames_has_a_gap(monkeypatch):
    H = oracles.features(*SIZE)
    monkeypatch.setattr(theory, "simplex_gram", lambda vectors: 0.5)
    assert identities.simplex_frames(H, random_directions(H), CLASSES)["simplex_frame_gap"] == 0.5
