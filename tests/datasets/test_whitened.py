"""Whitened data are whitened, and their teachers have the spectra asked for."""

import numpy as np

from learning_dynamics.datasets import whitened


def test_whitened_data_have_identity_covariance_and_the_given_spectrum():
    data = whitened.spectrum(inputs=6, teacher_singular_values=[2.0, 1.0, 0.5], seeds=3, seed=1)
    for X, Y in zip(data["X"], data["Y"], strict=True):
        np.testing.assert_allclose(X.T @ X, np.eye(6), atol=1e-14)
        np.testing.assert_allclose(np.linalg.svd(X.T @ Y, compute_uv=False), [2.0, 1.0, 0.5], atol=1e-14)
    assert not np.allclose(data["X"][0], data["X"][1])
    plain = whitened.orthogonal(inputs=5, outputs=1, seeds=2, seed=1)
    np.testing.assert_allclose(np.swapaxes(plain["X"], 1, 2) @ plain["X"], [np.eye(5)] * 2, atol=1e-14)
