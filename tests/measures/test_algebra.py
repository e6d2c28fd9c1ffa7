"""Linear algebra of collapse by torch, as on a GPU, against numpy's: the same numbers, and no work outside torch."""

import numpy as np
import pytest
import torch

from learning_dynamics.measures import collapse

BY_TORCH, BY_NUMPY = "cpu:0", "cpu"  # devices: with a number it is torch's
FEATURES, DEAD = 30, 3
DECAY = 5e-3


@pytest.fixture(scope="module")
def moments():
    """Within-class covariance of features, some of them dead; means of four classes; their classifier, with biases."""
    rng = np.random.default_rng(5)
    features = rng.standard_normal((200, FEATURES)) * np.geomspace(1, 1e-3, FEATURES)
    within = features.T @ features / 200
    within[:DEAD] = within[:, :DEAD] = 0.0
    return within, rng.standard_normal((4, FEATURES)), rng.standard_normal((4, FEATURES + 1))


def test_rank_and_signal_to_noise_are_numpys(moments):
    within, means, _classifier = moments
    rank, values = collapse.rank_and_signal_to_noise(within, means, BY_TORCH)
    expected_rank, expected_values = collapse.rank_and_signal_to_noise(within, means, BY_NUMPY)
    assert rank == expected_rank == FEATURES - DEAD
    # eigenvalues down to 1e-6 of the largest are known to 1e-10
    np.testing.assert_allclose(values, expected_values, rtol=1e-9)


def test_the_decomposition_of_the_loss_is_numpys(moments):
    terms = collapse.decomposition(*moments, DECAY, BY_TORCH)
    expected = collapse.decomposition(*moments, DECAY, BY_NUMPY)
    assert set(terms) == set(expected)
    for name, term in expected.items():
        # with the decay the covariance has a condition of 1 / DECAY, by which rounding of 30 features grows: to 1e-12
        np.testing.assert_allclose(terms[name], term, rtol=1e-11, err_msg=name)


def test_eigenvectors_of_one_covariance_are_computed_once_and_by_torch_alone(moments, monkeypatch):
    within, means, _classifier = moments
    shapes = []
    eigh = torch.linalg.eigh

    def eigh_that_is_noted(matrix):
        shapes.append(matrix.shape)
        return eigh(matrix)

    def refuse(*_arguments, **_options):
        raise AssertionError("numpy does cubic work, though a device of torch was given")

    monkeypatch.setattr(torch.linalg, "eigh", eigh_that_is_noted)
    for name in ("eigh", "eigvalsh", "eigvals", "inv", "solve"):
        monkeypatch.setattr(np.linalg, name, refuse)
    collapse.rank_and_signal_to_noise(within, means, BY_TORCH)
    collapse.decomposition(*moments, DECAY, BY_TORCH)
    assert shapes == [(FEATURES, FEATURES)]
