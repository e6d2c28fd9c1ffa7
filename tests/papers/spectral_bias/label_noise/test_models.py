"""Gradient descent with and without label noise."""

import numpy as np

from learning_dynamics.datasets import whitened
from learning_dynamics.dynamics.gradient_flow import Tolerances
from learning_dynamics.papers.spectral_bias import two_layer, two_layer_flow
from learning_dynamics.papers.spectral_bias.label_noise import models as label_noise
from learning_dynamics.papers.spectral_bias.label_noise import runs
from learning_dynamics.seeds import generators


def start(width: int, gamma: float):
    data = whitened.orthogonal(inputs=3, outputs=1, seeds=2, seed=0)
    P = np.stack([two_layer.orthonormal_rows(rng, 3, width) for rng in generators(0, "test", 2)])
    return data["X"], data["Y"], np.sqrt(2 * gamma) * P, np.zeros((2, width, 1))


def test_small_steps_follow_the_flow_to_first_order():
    X, Y, W1, W2 = start(4, 0.5)
    times = np.array([0.0, 1.0])
    exact = two_layer_flow.follow(X[0], Y[0], W1[0], W2[0], times, Tolerances(1e-10, 1e-12)).W1[-1]
    errors = []
    for steps in (50, 100):
        found, _ = label_noise.descend(W1, W2, X, Y, step=1 / steps, steps=steps, every=steps, noise=0.0, rngs=[])
        errors.append(np.abs(found[0, -1] - exact).max())
    # first order: halving the step halves the error, up to the next order
    assert 1.8 < errors[0] / errors[1] < 2.2


def test_noise_is_drawn_afresh_and_from_the_seed():
    X, Y, W1, W2 = start(4, 0.5)
    runs = [
        label_noise.descend(W1, W2, X, Y, step=0.05, steps=600, every=1, noise=1.0, rngs=generators(seed, "noise", 2))[
            0
        ]
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert not np.allclose(runs[0], runs[2])
    # the draws of one block are not those of the next
    steps = np.diff(runs[0], axis=1)
    assert not np.allclose(steps[:, :256], steps[:, 256:512])


def test_members_that_share_a_generator_see_different_noise():
    X, Y, W1, W2 = start(4, 0.5)
    X, Y = np.repeat(X[:1], 2, axis=0), np.repeat(Y[:1], 2, axis=0)
    W1 = np.repeat(W1[:1], 2, axis=0)
    settings = {"step": 0.05, "steps": 5, "every": 5, "noise": 1.0, "shared": True}
    found, _ = label_noise.descend(W1, W2, X, Y, rngs=generators(1, "noise", 1), **settings)
    again, _ = label_noise.descend(W1, W2, X, Y, rngs=generators(1, "noise", 1), **settings)
    np.testing.assert_array_equal(found, again)
    assert not np.allclose(found[0], found[1])


def test_an_ensemble_leaves_the_moments_of_its_paths():
    data = whitened.orthogonal(inputs=3, outputs=1, seeds=2, seed=0)
    data = {"X": data["X"][:, :2], "Y": data["Y"][:, :2]}  # one direction outside the span of the data
    settings = {"step": 0.01, "steps": 20, "every": 10, "noise": 5.0}
    found = runs.label_noise_ensemble(data, gamma=0.5, paths=50, seed=3, **settings)
    for member, rng in enumerate(generators(3, "label_noise.ensemble", 2)):
        X, Y = (np.repeat(data[name][member : member + 1], 50, axis=0) for name in ("X", "Y"))
        W, a = label_noise.descend(
            np.repeat(np.eye(3)[None], 50, axis=0), np.zeros((50, 3, 1)), X, Y, rngs=[rng], shared=True, **settings
        )
        lengths = np.sum(a**2, axis=(2, 3))
        np.testing.assert_allclose(found.series["output_mean"][member], lengths.mean(axis=0), rtol=1e-12)
        # what W has outside the span of the data stays a row of length one
        inside = np.sum(W**2, axis=(2, 3)).mean(axis=0) - 1
        np.testing.assert_allclose(found.series["rows_mean"][member].sum(axis=-1), inside, rtol=1e-12)
        assert inside[-1] > 2.1
        assert found.series["outside"][member].max() < 1e-13
