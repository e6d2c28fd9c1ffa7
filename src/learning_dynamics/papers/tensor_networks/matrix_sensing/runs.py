"""Limits of deep matrix sensing with commuting sensors (Corollary 7)."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import numpy as np

from learning_dynamics.dynamics.gradient_flow import integrate
from learning_dynamics.progress import progress
from learning_dynamics.settings import Count, Positive
from learning_dynamics.trajectory import Arrays, Trajectory


def matrix_sensing(
    data: Arrays,
    *,
    depths: list[Count],
    scales: list[Positive],
    residual: Positive,
    rtol: Positive,
    atol: Positive,
) -> Trajectory:
    """Follow deep matrix sensing to its limit from W_l = alpha I for l < L and W_L = 0 (Corollary 7).

    The full matrices are followed, in the sensors' common basis of eigenvectors, which the initialisation does not
    depend on. In another basis rounding makes the layers fail to commute in the last digit, and from a small
    scale that grows while the flow leaves the saddle at zero: at depth 3 and alpha = 0.01 it ends elsewhere.

    Returns
    -------
    Trajectory
        For each depth a series ``product_<depth>``, shape (data sets * scales, 1, size, size): W_1 ... W_L.
    """
    y, Q, values = data["y"], data["Q"], data["X"]
    size = Q.shape[-1]
    series = {}
    for depth in depths:
        products = []
        for member in progress(range(len(Q)), f"depth {depth}"):
            sensors = np.stack([np.diag(row) for row in values[member]])
            for scale in scales:
                start = np.concatenate([scale * np.eye(size)[None]] * (depth - 1) + [np.zeros((1, size, size))])
                product = _product(_sensed(sensors, y[member], start, residual, rtol, atol))
                products.append(Q[member] @ product @ Q[member].T)
        series[f"product_{depth}"] = np.stack(products)[:, None]
    return Trajectory(np.zeros(1), series, dict(data))


def _product(layers: Iterable[np.ndarray]) -> np.ndarray:
    return functools.reduce(np.matmul, layers)


def _sensed(
    sensors: np.ndarray, labels: np.ndarray, start: np.ndarray, residual: float, rtol: float, atol: float
) -> np.ndarray:
    """Return the layers where the flow of ``sum_i (y_i - <A_i, W_1 ... W_L>)**2 / 2`` has converged."""
    depth = len(start)

    def missing(layers: np.ndarray) -> np.ndarray:
        return labels - np.einsum("sij,ij->s", sensors, _product(layers))

    def field(_time: float, state: np.ndarray) -> np.ndarray:
        layers = state.reshape(start.shape)
        push = np.tensordot(missing(layers), sensors, axes=1)
        eye = [np.eye(start.shape[1])]
        return np.concatenate(
            [
                (_product([*eye, *layers[:index]]).T @ push @ _product([*eye, *layers[index + 1 :]]).T).ravel()
                for index in range(depth)
            ]
        )

    def converged(state: np.ndarray) -> bool:
        return bool(np.max(np.abs(missing(state.reshape(start.shape)))) <= residual * np.max(np.abs(labels)))

    run = integrate(
        field, start.ravel(), np.zeros(1), rtol=rtol, atol=atol, method="LSODA", until=converged, last_time=1e30
    )
    return run.final_state.reshape(start.shape)
