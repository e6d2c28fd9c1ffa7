"""The constants of the paper's bounds on the loss (D.1.1, E.1.1, (62), (73), H.1).

`scale` is the initial scale alpha, `imbalance` the lambda of the theorems' conditions on the start, and r the
derivatives of the loss by the outputs.
"""

import numpy as np

from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork


def decomposable_constant(network: TensorNetwork, scale: float, imbalance: float) -> float:
    """Return alpha^(2L-2) lambda^(L-1) s_min(S)^2: |grad L|^2 is at least this times |X^T r|^2 (23, 61)."""
    assert network.S is not None
    smallest = np.linalg.svd(network.S, compute_uv=False)[-1]
    return float(matrix_constant(network.depth, scale, imbalance) * smallest**2)


def one_point_constant(network: TensorNetwork, x: np.ndarray, scale: float, imbalance: float) -> float:
    """Return alpha^2 lambda |s|^2: |grad L|^2 is at least this times r^2, for two layers and one point (73)."""
    return float(scale**2 * imbalance * np.sum(network.data_tensor(x) ** 2))


def matrix_constant(depth: int, scale: float, imbalance: float) -> float:
    """Return alpha^(2L-2) lambda^(L-1).

    |grad L|^2 is at least this times |X^T r|^2 in fully connected networks (84). `decomposable_constant` has it as a
    factor.
    """
    return float(scale ** (2 * depth - 2) * imbalance ** (depth - 1))


def log_bound(
    log_initial: np.ndarray, constant: np.ndarray, time: np.ndarray, *, factor: float | np.ndarray
) -> np.ndarray:
    """Return log(L(0) / (1 + c f t)), a bound on log L(t), with c = `constant`, f = `factor` and t = `time`.

    As printed the factor f is one; by dL/dt <= -c L^2 it is L(0) (errata 8 and 10). `log_initial` is log L(0).
    """
    return log_initial - np.log1p(constant * factor * time)
