"""The optimal classifier and the decomposition of the loss, for any classifier, features and weight decay."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning_dynamics.papers.neural_collapse import least_squares_classifier
from learning_dynamics.papers.neural_collapse.central_path import models as central_path

EXAMPLES = settings(max_examples=30)


@EXAMPLES
@given(
    classes=st.integers(2, 6),
    examples=st.integers(1, 8),
    features=st.integers(1, 10),
    decay=st.sampled_from([1e-3, 0.1, 10.0]),
    seed=st.integers(0, 10_000),
)
def test_parts_add_up_to_the_loss(classes, examples, features, decay, seed):
    rng = np.random.default_rng(seed)
    H = rng.standard_normal((features, classes * examples)) + rng.standard_normal((features, 1))
    W = rng.standard_normal((classes, features + 1))
    parts = least_squares_classifier.decompose(W, H, decay)
    total = least_squares_classifier.loss(W, H, decay)
    assert parts.least_squares + parts.deviation == pytest.approx(total, rel=1e-10)
    optimum = least_squares_classifier.optimal_classifier(H, classes, decay)
    assert least_squares_classifier.loss(optimum, H, decay) == pytest.approx(parts.least_squares, rel=1e-10)
    assert min(parts.variability, parts.geometry, parts.deviation) >= 0


@pytest.mark.parametrize("decay", [0.0, 5e-4])
def test_no_nearby_classifier_is_better(decay):
    rng = np.random.default_rng(1)
    H = central_path.gaussian_features(rng, 4, 8, 6, 0.5)
    optimum = least_squares_classifier.optimal_classifier(H, 4, decay)
    best = least_squares_classifier.loss(optimum, H, decay)
    for _ in range(20):
        assert least_squares_classifier.loss(optimum + 1e-3 * rng.standard_normal(optimum.shape), H, decay) > best


def test_without_decay_the_loss_is_that_of_centred_features_without_bias():
    H = central_path.gaussian_features(np.random.default_rng(2), 4, 8, 6, 0.5) + 1.5
    optimum = least_squares_classifier.optimal_classifier(H, 4, 0.0)
    assert least_squares_classifier.loss(optimum, H, 0.0) == pytest.approx(float(central_path.loss(H, 4)), rel=1e-12)
    # eq. 6: bias 1/C - W mu_G
    np.testing.assert_allclose(optimum[:, -1], 0.25 - optimum[:, :-1] @ H.mean(axis=1), atol=1e-12)
