"""Terms of the loss, and gaps of altered identities, from solved least-squares problems."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

from learning_dynamics.papers.neural_collapse.central_path import identities
from tests.papers.neural_collapse import oracles

SIZE = (3, 7, 5)
CLASSES = 3


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

    # nothing that an optimiser of other make finds is lower
    free = scipy.optimize.minimize(lambda v: total(v.reshape(W.shape)), best.ravel() * 0.9, tol=1e-12)
    assert total(best) <= free.fun * (1 + 1e-12)
    within, _, means = oracles.covariances(H, CLASSES)
    scatter = 0.5 * np.trace(best[:, :-1] @ within @ best[:, :-1].T)
    norm = 0.5 * decay * np.sum(best**2)
    geometry = total(best) - norm - scatter
    mean = np.append(means.mean(axis=1), 1.0)
    rows = np.vstack([H, np.ones(H.shape[1])])
    covariance = rows @ rows.T / H.shape[1] + decay * np.eye(6) - np.outer(mean, mean)
    wrong = (np.linalg.inv(covariance) @ np.vstack([means, np.ones(CLASSES)])).T / CLASSES
    expected = {
        "classifier": 0.0, "theorem_1": 0.0, "theorem_2": 0.0,
        "classifier--half_decay": relative(half, best),
        "classifier--without_mean": relative(wrong, best),
        "theorem_1--without_mean": 0.5 * np.sum(((W - best) @ mean) ** 2) / total(W),
        "theorem_2--without_decay": norm / total(best),
        "theorem_2--without_classes": (CLASSES - 1) * geometry / total(best),
    }  # fmt: skip
    assert set(found) == set(expected)
    for name, gap in expected.items():
        assert found[name] == pytest.approx(gap, rel=1e-7, abs=1e-12), name


def test_gaps_of_equation_6():
    H = oracles.features(*SIZE, seed=1)
    found = identities.equation_6(H, CLASSES)
    W, b = oracles.least_squares(H, CLASSES)
    within, _, means = oracles.covariances(H, CLASSES)
    centre = means.mean(axis=1)
    discriminant = (np.linalg.inv(within) @ (means - centre[:, None])).T / CLASSES
    solved = np.column_stack([W, b])
    wrong = np.column_stack([discriminant, 1 / CLASSES - discriminant @ centre])
    assert found["equation_6"] < 1e-12
    assert found["equation_6--within"] == pytest.approx(relative(wrong, solved), rel=1e-8)
    assert found["equation_6--bias"] == pytest.approx(relative(np.column_stack([W, b * 0 + 1 / 3]), solved), rel=1e-8)
