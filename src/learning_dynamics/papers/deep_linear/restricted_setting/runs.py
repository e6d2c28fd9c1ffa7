"""Deep networks on measurements that commute, from smaller and smaller multiples of the identity."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from learning_dynamics.datasets.whitened import haar
from learning_dynamics.papers.deep_linear import networks
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectory import Trajectory


def commuting_measurements(
    *,
    depths: list[Count],
    size: Count,
    measurements: Count,
    rank: Count,
    scales: list[Positive],
    horizon: Positive,
    seeds: Count,
    rtol: Positive,
    atol: Positive,
    seed: Seed,
) -> Trajectory:
    """Gradient flow on half the squared errors of commuting symmetric measurements of a matrix.

    Measurements share random orthonormal eigenvectors and have positive eigenvalues; what they measure is a positive
    semidefinite matrix of the given rank with the same eigenvectors. The product of the layers starts at `scale` times the identity, every layer at its N-th root. A flow
    runs for horizon / scale^(1 - 2/N), in which eigenvalues leave their start.

    Returns
    -------
    Trajectory
        Series end_to_end at the start and at the end; constants basis, eigenvalues (of the measurements, measurements x
        size), values (measured), least (eigenvalues of the matrix of least nuclear norm, by linear programming),
        depth, scale, member (by member).
    """
    found, constants = [], {name: [] for name in ("basis", "eigenvalues", "values", "least", "depth", "scale", "member")}
    for member, rng in enumerate(progress(generators(seed, "deep_linear.commuting_measurements", seeds), "commuting")):
        Q = haar(rng, size)
        eigenvalues = rng.uniform(0.0, 1.0, (measurements, size))
        eigenvalues /= np.linalg.norm(eigenvalues, axis=1, keepdims=True)
        hidden = np.zeros(size)
        hidden[rng.permutation(size)[:rank]] = rng.uniform(0.5, 1.5, rank)
        values = eigenvalues @ hidden
        least = linprog(np.ones(size), A_eq=eigenvalues, b_eq=values, method="highs").x

        def gradient(W: np.ndarray, Q: np.ndarray = Q, A: np.ndarray = eigenvalues, y: np.ndarray = values) -> np.ndarray:
            return (Q * (A.T @ (A @ np.einsum("ij,ik,kj->j", Q, W, Q) - y))) @ Q.T

        for depth in depths:
            widths = [size] * (depth + 1)
            field = networks.flow_field(gradient, widths)
            for scale in scales:
                start = [scale ** (1 / depth) * np.eye(size)] * depth
                times = np.array([0.0, horizon / scale ** max(1 - 2 / depth, 0.0)])
                states = networks.flow(field, networks.pack(start), times, rtol=rtol, atol=atol)
                found.append(networks.product(networks.unpack(states, widths)))
                for name, value in zip(constants, (Q, eigenvalues, values, least, depth, scale, member), strict=True):
                    constants[name].append(value)
    series = np.array(found)
    return Trajectory(
        np.array([0.0, 1.0]),
        {"end_to_end": series},
        {name: np.array(value) for name, value in constants.items()},
        undecided=~np.isfinite(series).all(axis=(1, 2, 3)),
    )
