"""Where tensor networks start: at given coefficients, or at draws that fulfil a theorem's condition."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork
from learning_dynamics.seeds import generators
from learning_dynamics.trajectories import Arrays

Weights = Literal["equal", "random"]  # of the layers' singular coordinates, `weighted_layers`

# Of `last_of_product`. Six steps were enough at depths from 2 to 6, for products from 1e-300 to 1e300 and imbalances
# from 1e-300 to 1e6.
MOST_NEWTON_STEPS = 100


def last_of_product(product: np.ndarray | float, imbalance: float, depth: int) -> np.ndarray:
    """Return q with ``q (imbalance + q**2)**((depth - 1) / 2) = product``, entry by entry.

    It is the last of `depth` factors of the product. The others are equal, and their squares exceed q**2 by
    `imbalance`, a positive number.

    The squares of the others are at least the imbalance, and at least q**2. So a positive q is at most
    ``product / imbalance**((depth - 1) / 2)`` and at most ``product**(1 / depth)``. From the smaller of these bounds
    Newton's method descends monotonically: the logarithm of the left-hand side is increasing and convex in log q.
    """
    exponent = (depth - 1) / 2
    size = np.abs(np.asarray(product, dtype=float))
    target = np.log(np.where(size > 0, size, 1.0))
    log_q = np.minimum(target - exponent * np.log(imbalance), target / depth)
    for _ in range(MOST_NEWTON_STEPS):
        square = np.exp(2 * log_q)
        excess = log_q + exponent * np.log(imbalance + square) - target
        log_q = log_q - excess / (1 + 2 * exponent * square / (imbalance + square))
        # the excess falls to zero from above: it needs no absolute value
        if np.all(excess <= 4 * np.finfo(float).eps * np.maximum(1, np.abs(target))):
            break
    return np.where(size > 0, np.sign(product) * np.exp(log_q), 0.0)


def factors(architecture: str, z: np.ndarray, imbalance: float, depth: int = 2) -> np.ndarray:
    """Return layers (v_1, ..., v_L) of a network whose coefficients are z exactly.

    In the singular coordinates of a diagonal or convolutional network the last layer has entries q_j, and each of the
    others the larger entries p_j: ``p_j**2 - q_j**2 = imbalance``, and ``p_j**(L-1) q_j`` is the product rho_j of all
    layers that gives the coefficients. So the conditions of Theorems 2, 3 and 5 (Yun et al. 2021) hold with lambda =
    imbalance, whatever the data.

    A fully connected network of two layers starts at W_1 = p I and w_2 = z / p, with ``p**2 - |w_2|**2 = imbalance``.
    So the condition of Theorem 6 holds with lambda = imbalance. Those of Theorems 3 and 5 hold with lambda =
    imbalance / inputs: all singular values of M(x) are equal, as many as there are inputs, and their vectors can be
    rotated so that all have the same share of the imbalance.

    Parameters
    ----------
    architecture : str
        diagonal, convolutional (full-length filters) or, of two layers, fully_connected (as many hidden units as
        inputs).
    z : ndarray, shape (inputs,)
    imbalance : float
        Positive.

    Returns
    -------
    ndarray, shape (parameters,)
        All layers in one vector.

    Raises
    ------
    ValueError
        If the architecture is another.
    """
    if architecture == "fully_connected" and depth == 2:
        p = np.sqrt(imbalance + float(last_of_product(float(np.linalg.norm(z)), imbalance, 2)) ** 2)
        return np.concatenate([(p * np.eye(len(z))).ravel(), z / p])
    if architecture == "diagonal":
        last = last_of_product(z, imbalance, depth)
        larger = np.sqrt(imbalance + last * last)
    elif architecture == "convolutional":
        # S is d**((L-1)/2) F and U the conjugate of the unitary transform F (`tensor_network.convolutional`). So z,
        # which is S^T rho, has rho = F^-1 z / d**((L-1)/2), and a layer of singular coordinates eta is F eta. As z is
        # real, rho_j and rho_-j are conjugates, and layers are real but for rounding.
        rho = np.fft.ifft(z, norm="ortho") / len(z) ** ((depth - 1) / 2)
        size = last_of_product(np.abs(rho), imbalance, depth)
        larger = np.fft.fft(np.sqrt(imbalance + size**2), norm="ortho").real
        last = np.fft.fft(size * np.exp(1j * np.angle(rho)), norm="ortho").real
    else:
        raise ValueError(f"no initialisation at given coefficients for architecture {architecture!r} of {depth} layers")
    return np.concatenate([larger] * (depth - 1) + [last])


def given_coefficients(
    network: TensorNetwork, scales: Sequence[float], count: int, *, imbalance: float, seed: int
) -> np.ndarray:
    """Return starts of two layers at random coefficients, at several scales; all architectures have the same ones.

    There are `count` coefficients z; from z the start of scale alpha has the coefficients alpha**2 z. With two inputs
    each of `count` equal sectors of the plane has one z, so that a few starts differ visibly in a figure.

    Returns
    -------
    ndarray, shape (scales * count, parameters)
        All layers in one vector. Starts are all pairs of a scale and a z; the z vary fastest.
    """
    starts = []
    for number, rng in enumerate(generators(seed, "initial_direction.coefficients", count)):
        z = rng.standard_normal(network.inputs)
        if network.inputs == 2:
            # chosen: away from the borders of the sector, at lengths that differ by a factor of two at most
            angle = 2 * np.pi * (number + rng.uniform(0.15, 0.85)) / count
            z = rng.uniform(0.7, 1.4) * np.array([np.cos(angle), np.sin(angle)])
        starts.append(factors(network.name, z, imbalance))
    return np.concatenate([scale * np.stack(starts) for scale in scales])


def zero_last(network: TensorNetwork, count: int, seed: int) -> np.ndarray:
    """Return Gaussian layers, the last of them zero (Remark 2), for `count` starts: shape (count, parameters)."""
    last = network.lengths[-1]
    rngs = generators(seed, "initial_direction.zero_last", count)
    return np.stack([np.concatenate([rng.standard_normal(sum(network.lengths[:-1])), np.zeros(last)]) for rng in rngs])


def weighted_layers(network: TensorNetwork, weights: Weights, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights eta, shape (count, m), and the layers of scale one, shape (count, parameters).

    Layer l is U_l eta, with U_l the network's singular vectors, and the last layer is zero (Theorem 4 of Yun et al.
    2021). With equal `weights` the entries of eta are one, else random. `count` is the number of data sets.
    """
    assert network.S is not None
    eta, starts = [], []
    for rng in generators(seed, f"weights.{network.name}", count):
        sizes, signs = _sizes_and_signs(weights, len(network.S), rng)
        if network.name == "convolutional":
            # eta is the transform of the filter, which is even as Corollary 6 asks, so that eta is even too: entries j
            # and -j, modulo their number, get the mean of their sizes and the sign of the first of them
            mirrored = -np.arange(len(sizes)) % len(sizes)
            sizes, signs = (sizes + sizes[mirrored]) / 2, signs[np.minimum(np.arange(len(sizes)), mirrored)]
        eta.append(sizes * signs)
        # of a convolutional network U_l is complex, but U_l eta is real for an even eta
        starts.append(np.concatenate([(vectors @ eta[-1]).real for vectors in network.U]))
        starts[-1][network.bounds[-1][0] :] = 0.0  # the last layer
    return np.stack(eta), np.stack(starts)


def weighted_matrices(network: TensorNetwork, weights: Weights, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights eta, shape (count, inputs), and layers of scale one, shape (count, parameters).

    The network is fully connected. Matrix l is Q_l diag(eta) Q_(l+1)^T, with random orthogonal Q_l, and w_L is zero. So
    W_l^T W_l = W_(l+1) W_(l+1)^T, and Theorem 6.1's conditions hold (Yun et al. 2021), the first with equality, the
    second with lambda the least eta_j^2. With equal `weights` every matrix is the identity.
    """
    size, matrices = network.inputs, network.depth - 1
    eta, starts = [], []
    for rng in generators(seed, f"weights.{network.name}", count):
        sizes, signs = _sizes_and_signs(weights, size, rng)
        eta.append(sizes * signs)
        if weights == "equal":
            starts.append(identity_layers(size, network.depth))
            continue
        Q = [np.linalg.qr(rng.standard_normal((size, size)))[0] for _ in range(matrices + 1)]
        layers = [(Q[index] * eta[-1]) @ Q[index + 1].T for index in range(matrices)]
        starts.append(np.concatenate([*(W.ravel(order="F") for W in layers), np.zeros(size)]))
    return np.stack(eta), np.stack(starts)


def _sizes_and_signs(weights: Weights, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the absolute values and the signs of `count` weights."""
    if weights == "equal":
        return np.ones(count), np.ones(count)
    # sizes between 0.5 and 1.5, chosen: they differ, and none is near zero
    return 0.5 + rng.uniform(size=count), rng.choice([-1.0, 1.0], size=count)


def identity_layers(inputs: int, depth: int) -> np.ndarray:
    """Return W_l = I and w_L = 0 of a fully connected network, shape (parameters,)."""
    return np.concatenate([np.eye(inputs).ravel()] * (depth - 1) + [np.zeros(inputs)])


def descending_matrices(rng: np.random.Generator, size: int, depth: int) -> np.ndarray:
    """Return random square matrices and a last vector that fulfil the conditions of Theorem 6.1 (Yun et al. 2021).

    Every singular value of a layer exceeds all those of the next, so that
    ``W_l^T W_l - W_(l+1) W_(l+1)^T`` is positive definite; singular vectors are random.

    Returns
    -------
    ndarray, shape (parameters,)
        vec(W_1), ..., vec(W_(L-1)), w_L in one vector.
    """
    # chosen: at least 0.1 between singular values of a layer and those of the next, and a last vector of length 0.5
    layers = []
    for index in range(depth - 1):
        low = 1 + 0.5 * (depth - 2 - index)  # singular values are between `low` and `low + 0.4`
        Q1, Q2 = (np.linalg.qr(rng.standard_normal((size, size)))[0] for _ in range(2))
        layers.append((Q1 * rng.uniform(low, low + 0.4, size)) @ Q2)
    vector = rng.standard_normal(size)
    return np.concatenate([W.ravel(order="F") for W in layers] + [0.5 * vector / np.linalg.norm(vector)])


def within_condition(tensor: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return directions of two layers that fulfil Theorem 5's condition for a data tensor, and are Gaussian otherwise.

    In each singular coordinate of the tensor the entry of the second layer is replaced: its absolute value is at most
    0.9 times that of the first layer's entry.
    """
    v1, v2 = (rng.standard_normal(length) for length in tensor.shape)
    U1, s, U2 = np.linalg.svd(tensor, full_matrices=False)
    nonzero = s > 1e-12 * s[0]  # by more than rounding
    U1, U2 = U1[:, nonzero], U2[nonzero].T
    a, b = U1.T @ v1, U2.T @ v2  # both layers in singular coordinates
    # in these coordinates 0.9 tanh(b) |a| replaces b, with 0.9 chosen; parts of v_2 orthogonal to the singular vectors
    # stay
    return np.concatenate([v1, v2 + U2 @ (0.9 * np.tanh(b) * np.abs(a) - b)])


def starts_within_condition(network: TensorNetwork, X: np.ndarray, label: str, seed: int) -> np.ndarray:
    """Return directions of two layers that fulfil Theorem 5's condition, a pair for each point.

    Parameters
    ----------
    X : ndarray, shape (points, 1, inputs)
        Data sets of one point each.
    label : str
        Names the stream of random numbers (`seeds.generators`).

    Returns
    -------
    ndarray, shape (points, parameters)
    """
    rngs = generators(seed, label, len(X))
    return np.stack([within_condition(network.data_tensor(x), rng) for x, rng in zip(X[:, 0], rngs, strict=True)])


def undecided(series: Arrays) -> np.ndarray:
    """Return, for each member, whether the integrator gave up one of its flows, shape (members,).

    The states of such a flow are nan from there on. Every series has the members along its first axis.
    """
    return np.any([np.isnan(states).any(axis=tuple(range(1, states.ndim))) for states in series.values()], axis=0)
