"""Fibres H -> A H: what an outside solver finds unchanged, and how far off altered statements are."""

import numpy as np
import pytest

from learning_dynamics.papers.neural_collapse.central_path import identities
from tests.papers.neural_collapse import oracles

SIZE = (3, 7, 5)


def relative(changed, matrix):
    return np.linalg.norm(changed - matrix) / np.linalg.norm(matrix)


def test_predictions_and_losses_along_a_fibre():
    H = oracles.features(*SIZE)
    A = np.eye(5) + 0.3 * np.random.default_rng(0).standard_normal((5, 5))
    found = identities.invariance(H, A, 3)
    (W, b), (V, c) = (oracles.least_squares(each, 3) for each in (H, A @ H))
    scores, moved = W @ H + b[:, None], V @ A @ H + c[:, None]
    np.testing.assert_allclose(moved, scores, atol=1e-10)
    assert found["predictions"] < 1e-11
    assert found["losses"] < 1e-11
    kept = W @ A @ H + b[:, None]
    assert found["predictions--classifier_kept"] == pytest.approx(relative(kept, scores), rel=1e-8)
    before, after = (oracles.square_error(W, b, each, 3) for each in (H, A @ H))
    assert found["losses--classifier_kept"] == pytest.approx((after - before) / before, rel=1e-8)


def test_frames_of_as_few_features_as_there_can_be():
    H = oracles.features(3, 6, 2)
    found = identities.simplex_frames(H, np.random.default_rng(2).standard_normal(H.shape), 3)
    assert found["lemma_7"] < 1e-13
    assert min(found["lemma_7--other_null_space"], found["lemma_7--unequal_values"]) > 0.05


def test_frames_and_what_is_none():
    H = oracles.features(*SIZE)
    Z = np.random.default_rng(2).standard_normal(H.shape)
    found = identities.simplex_frames(H, Z, 3)
    assert found["lemma_7"] < 1e-13
    assert found["lemma_7--other_null_space"] > 0.05
    # class means of whitened features that are not a frame: their Gram matrix against the nearest frame's
    X = oracles.renormalised(H, 3)
    means = oracles.covariances(X, 3)[2]
    gram, frame = means.T @ means, np.eye(3) - 1 / 3
    apart = min(np.linalg.norm(gram - scale * frame) for scale in np.linspace(0, 2 * np.trace(gram), 200_001))
    assert found["lemma_7--unequal_values"] == pytest.approx(apart / np.linalg.norm(gram), rel=1e-6)
