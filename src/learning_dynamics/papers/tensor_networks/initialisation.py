"""Where tensor networks start: at given coefficients, or at draws that fulfil a theorem's condition."""

from __future__ import annotations

import numpy as np

from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork


def factors(architecture: str, z: np.ndarray, imbalance: float) -> np.ndarray:
    """Return directions (v_1, v_2) of a two-layer network whose coefficients are z exactly.

    In the coordinates in which the network is diagonal, the first layer is the larger one by a fixed
    amount: ``p_j**2 - q_j**2 = imbalance`` and ``p_j q_j`` is the coefficient. A fully connected network starts
    at W_1 = p I and w_2 = z / p. So the conditions of Theorems 2, 3, 5 and 6 (Yun et al. 2021) hold with
    lambda = imbalance, whatever the data (lambda = imbalance / inputs for fully connected networks of as many
    hidden units).

    Parameters
    ----------
    architecture : str
        diagonal, convolutional (full-length filters) or fully_connected (as many hidden units as inputs).
    z : ndarray, shape (inputs,)
    imbalance : float
        Positive.

    Returns
    -------
    ndarray, shape (parameters,)
        Both layers in one vector.

    Raises
    ------
    ValueError
        If the architecture is another.
    """

    def larger(size: np.ndarray) -> np.ndarray:
        return np.sqrt((imbalance + np.hypot(imbalance, 2 * size)) / 2)

    if architecture == "diagonal":
        p = larger(np.abs(z))
        return np.concatenate([p, z / p])
    if architecture == "convolutional":
        transformed = np.fft.fft(z, norm="ortho") / np.sqrt(len(z))
        p = larger(np.abs(transformed))
        layers = [np.fft.ifft(p, norm="ortho").real, np.fft.ifft(transformed / p, norm="ortho").real]
        return np.concatenate(layers)
    if architecture == "fully_connected":
        p = larger(np.asarray(np.linalg.norm(z)))
        return np.concatenate([(p * np.eye(len(z))).ravel(), z / p])
    raise ValueError(f"no initialisation at given coefficients for architecture {architecture!r}")


def zero_last(network: TensorNetwork, rng: np.random.Generator) -> np.ndarray:
    """Return Gaussian directions of all layers but the last, which is zero (Yun et al. 2021, Remark 2)."""
    last = network.lengths[-1]
    return np.concatenate([rng.standard_normal(sum(network.lengths[:-1])), np.zeros(last)])


def descending_matrices(rng: np.random.Generator, size: int, depth: int) -> np.ndarray:
    """Return square layers that fulfil the conditions of Theorem 6.1 (Yun et al. 2021), and a last vector.

    Every singular value of a layer exceeds all those of the next, so that
    ``W_l^T W_l - W_(l+1) W_(l+1)^T`` is positive semidefinite; singular vectors are random.

    Returns
    -------
    ndarray, shape (parameters,)
        vec(W_1), ..., vec(W_(L-1)), w_L in one vector.
    """
    layers = []
    for index in range(depth - 1):
        low = 1 + 0.5 * (depth - 2 - index)
        Q1, Q2 = (np.linalg.qr(rng.standard_normal((size, size)))[0] for _ in range(2))
        layers.append((Q1 * rng.uniform(low, low + 0.4, size)) @ Q2)
    vector = rng.standard_normal(size)
    return np.concatenate([W.ravel(order="F") for W in layers] + [0.5 * vector / np.linalg.norm(vector)])
