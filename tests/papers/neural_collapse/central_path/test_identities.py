"""Gaps of identities, zero where they hold, and gaps of altered identities: by least-squares problems, solved."""

import numpy as np
import pytest

from learning_dynamics.measures import collapse
from learning_dynamics.papers.neural_collapse.central_path import identities, theory
from tests.papers.neural_collapse import oracles

CLASSES, FEATURES = 3, 5
SIZE = (CLASSES, 7, FEATURES)  # seven examples of each class


def loss(V, H, decay):
    """Return the regularised loss of an extended classifier, whose last column is the bias."""
    return oracles.square_error(V[:, :-1], V[:, -1], H, CLASSES) + 0.5 * decay * np.sum(V**2)


@pytest.mark.parametrize("decay", [1e-3, 0.1, 1.0])
def test_gaps_of_the_classifiers_identities(decay):
    H = oracles.features(*SIZE)
    W = np.random.default_rng(0).standard_normal((CLASSES, FEATURES + 1))  # the last column is the bias
    found = identities.classifier_identities(H, W, decay)
    best, half = (np.column_stack(oracles.least_squares(H, CLASSES, one)) for one in (decay, decay / 2))
    of_W, least = (loss(V, H, decay) for V in (W, best))
    within, _, means = oracles.covariances(H, CLASSES)
    # Theorem 2: the best loss is L_NC1, within-class scatter and weight decay, plus L_NC2/3, the rest
    scatter = 0.5 * np.trace(best[:, :-1] @ within @ best[:, :-1].T)
    norm = 0.5 * decay * np.sum(best**2)
    nc23 = least - norm - scatter
    mean = np.append(means.mean(axis=1), 1.0)
    rows = np.vstack([H, np.ones(H.shape[1])])
    metric = rows @ rows.T / H.shape[1] + decay * np.eye(FEATURES + 1)
    covariance = metric - np.outer(mean, mean)
    deviation = of_W - least  # L_LS^perp of Theorem 1
    without_mean = (np.linalg.inv(covariance) @ np.vstack([means, np.ones(CLASSES)])).T / CLASSES
    expected = {
        "classifier_gap": 0.0,
        "loss_decomposition_gap": 0.0,
        "ls_decomposition_gap": 0.0,
        "classifier_gap--half_decay": oracles.relative(half, best),
        "classifier_gap--without_mean": oracles.relative(without_mean, best),
        "loss_decomposition_gap--without_mean": 0.5 * np.sum(((W - best) @ mean) ** 2) / of_W,
        # over the least deviation that a classifier as far from the best can have
        "deviation_over_least": 2 * deviation / np.linalg.eigvalsh(metric).min() / np.sum((W - best) ** 2),
        "ls_decomposition_gap--without_decay": norm / least,
        "ls_decomposition_gap--without_classes": (CLASSES - 1) * nc23 / least,
    }
    assert found == pytest.approx(expected, rel=1e-7, abs=1e-12)


def test_a_gap_shows_a_formula_that_is_wrong_by_a_factor_of_two(monkeypatch):
    H = oracles.features(*SIZE)
    W = np.random.default_rng(0).standard_normal((CLASSES, FEATURES + 1))
    decomposition, classifier = collapse.decomposition, collapse.least_squares_classifier
    with monkeypatch.context() as patched:
        patched.setattr(
            collapse, "decomposition", lambda *given: {name: 2 * part for name, part in decomposition(*given).items()}
        )
        found = identities.classifier_identities(H, W, 0.1)
    best = np.column_stack(oracles.least_squares(H, CLASSES, 0.1))
    of_W, least = (loss(V, H, 0.1) for V in (W, best))
    assert found["loss_decomposition_gap"] == pytest.approx((of_W - least) / of_W)
    assert found["ls_decomposition_gap"] == pytest.approx(1.0)
    monkeypatch.setattr(collapse, "least_squares_classifier", lambda *given, **named: 2 * classifier(*given, **named))
    assert identities.classifier_identities(H, W, 0.1)["classifier_gap"] == pytest.approx(1.0)


def test_gaps_of_equation_6():
    """W = M^T Sigma_T^{-1} / C and b = 1/C - W mu_G, M centred; altered: with Sigma_W, and with b = 1/C."""
    H = oracles.features(*SIZE, seed=1)
    found = identities.equation_6(H, CLASSES)
    W, b = oracles.least_squares(H, CLASSES)
    within, _, means = oracles.covariances(H, CLASSES)
    centre = means.mean(axis=1)
    discriminant = (np.linalg.inv(within) @ (means - centre[:, None])).T / CLASSES
    solved = np.column_stack([W, b])
    within_alone = np.column_stack([discriminant, 1 / CLASSES - discriminant @ centre])
    expected = {
        "unextended_classifier_gap": 0.0,
        "unextended_classifier_gap--within": oracles.relative(within_alone, solved),
        "unextended_classifier_gap--constant_bias": oracles.relative(
            np.column_stack([W, np.full(CLASSES, 1 / CLASSES)]), solved
        ),
    }
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-12)


def test_predictions_and_losses_under_an_invertible_map_of_features():
    H = oracles.features(*SIZE)
    A = np.eye(FEATURES) + 0.3 * np.random.default_rng(0).standard_normal((FEATURES, FEATURES))
    found = identities.invariance(H, A, CLASSES)
    W, b = oracles.least_squares(H, CLASSES)
    scores, kept = W @ H + b[:, None], W @ A @ H + b[:, None]
    before, after = (oracles.square_error(W, b, features, CLASSES) for features in (H, A @ H))
    expected = {
        "predictions_change": 0.0,
        "loss_change": 0.0,
        "predictions_change--classifier_kept": oracles.relative(kept, scores),
        "loss_change--classifier_kept": (after - before) / before,
    }
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-11)


def test_a_classifier_that_does_not_follow_the_map_changes_predictions_and_loss(monkeypatch):
    H = oracles.features(*SIZE)
    solved = np.column_stack(oracles.least_squares(H, CLASSES))
    monkeypatch.setattr(collapse, "least_squares_classifier", lambda *moments, decay: solved)
    found = identities.invariance(H, 2.0 * np.eye(FEATURES), CLASSES)
    for quantity in ("predictions_change", "loss_change"):
        assert found[quantity] == found[f"{quantity}--classifier_kept"] > 0.1


@pytest.mark.parametrize("size", [SIZE, (CLASSES, 6, 2)])  # a frame of three classes needs two features
def test_gaps_of_frames(size):
    """Lemma 7: M^T M is a multiple of I - 1 1^T / C if and only if M's singular values are equal and M 1 = 0."""
    H = oracles.features(*size)
    Z = np.random.default_rng(2).standard_normal(H.shape)  # what the frames are rotated by
    found = identities.simplex_frames(H, Z, CLASSES)
    assert found["simplex_frame_gap"] < 1e-13
    # C - 1 rows of the orthogonal matrix that `simplex_frames` makes of entries of Z; U drops out of the Gram matrix
    rows = np.linalg.qr(Z.ravel()[: CLASSES**2].reshape(CLASSES, CLASSES))[0][: CLASSES - 1]
    assert found["simplex_frame_gap--other_null_space"] == pytest.approx(
        oracles.distance_from_simplex_frame(rows), rel=1e-6
    )
    # U omega V^T has the Gram matrix of the normalised class means
    means = oracles.covariances(oracles.renormalised(H, CLASSES), CLASSES)[2]
    assert found["simplex_frame_gap--unequal_values"] == pytest.approx(
        oracles.distance_from_simplex_frame(means), rel=1e-6
    )


def test_a_frame_that_is_stretched_has_a_gap(monkeypatch):
    H = oracles.features(*SIZE)
    Z = np.random.default_rng(2).standard_normal(H.shape)
    monkeypatch.setattr(np.linalg, "qr", lambda matrix: (matrix, None))  # the frame's rotation becomes any map
    longest, shortest = np.linalg.svd(Z[:, : CLASSES - 1], compute_uv=False)
    gap = identities.simplex_frames(H, Z, CLASSES)["simplex_frame_gap"]
    assert gap == pytest.approx((longest - shortest) / longest)


def test_a_gram_matrix_that_is_no_frames_has_a_gap(monkeypatch):
    H = oracles.features(*SIZE)
    Z = np.random.default_rng(2).standard_normal(H.shape)
    monkeypatch.setattr(theory, "simplex_gram", lambda vectors: 0.5)
    assert identities.simplex_frames(H, Z, CLASSES)["simplex_frame_gap"] == 0.5
