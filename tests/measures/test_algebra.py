"""The algebra of a GPU, on the processor: the same numbers as numpy's, and numpy's itself where there is no GPU."""

import numpy as np
import pytest
import torch

from learning_dynamics.measures import collapse

DEVICES = ("cpu:0", "cpu")  # a torch device, and numpy


@pytest.fixture(scope="module")
def moments():
    rng = np.random.default_rng(5)
    features = rng.standard_normal((200, 30)) * np.geomspace(1, 1e-3, 30)
    within = features.T @ features / 200
    within[:3] = within[:, :3] = 0.0  # dead units
    return within, rng.standard_normal((4, 30)), rng.standard_normal((4, 31))


def test_numbers_are_the_same(moments):
    within, means, _ = moments
    (rank, values), (expected, singular) = (
        collapse.rank_and_signal_to_noise(within, means, device) for device in DEVICES
    )
    assert rank == expected == 27
    # eigenvalues down to 1e-6 of the largest are known to 1e-10
    np.testing.assert_allclose(values, singular, rtol=1e-9)
    terms, known = (collapse.decomposition(*moments, 5e-3, device) for device in DEVICES)
    np.testing.assert_allclose([terms[name] for name in known], list(known.values()), rtol=1e-10)


def test_eigenvectors_are_found_once_and_on_the_device(moments, monkeypatch):
    within, means, _ = moments
    asked = []
    eigh = torch.linalg.eigh

    def noted(matrix):
        asked.append(matrix.shape)
        return eigh(matrix)

    def refused(*_arguments, **_options):
        raise AssertionError("cubic work beside the device that was given")

    monkeypatch.setattr(torch.linalg, "eigh", noted)
    for name in ("eigh", "eigvalsh", "eigvals", "inv", "solve"):
        monkeypatch.setattr(np.linalg, name, refused)
    collapse.rank_and_signal_to_noise(within, means, "cpu:0")
    collapse.decomposition(*moments, 5e-3, "cpu:0")
    assert asked == [(30, 30)]
