"""Limits of deep fully connected networks: distance from the least norm, rank and alignment of layers (appendix H).

- `deep_regression`: the series ``flow_<depth>`` (data sets, scales, parameters) have limits, with scales alpha instead
  of times. The constants ``path_<depth>`` (data sets, scales, times, parameters) have the states at the times
  `flow.RECORDED`, and ``start_<depth>`` (data sets, parameters) the starts at alpha = 1. `X` is (data sets, samples,
  inputs), `y` (data sets, samples). A state is W_1, ..., W_(L-1), which are square, column by column, and then w_L:
  `flow.matrices` takes it apart.
- `dominated_layers`: the series ``matrices_<depth>`` (draws, 1, L - 1, size, size) has W_1, ..., W_(L-1), and
  ``last_<depth>`` (draws, 1, size) has w_L.

The setting `integration.residual` is the residual that a flow had to reach. The quantity `residual` is the one that it
has at its end. Both are relative to the largest label.
"""

import functools
from itertools import pairwise
from typing import Any

import numpy as np

from learning_dynamics.papers.tensor_networks.deep_networks import quantities
from learning_dynamics.papers.tensor_networks.deep_networks.flow import coefficients, matrices
from learning_dynamics.papers.tensor_networks.solutions import Norm, minimum_norm
from learning_dynamics.papers.tensor_networks.starts import last_of_product
from learning_dynamics.papers.tensor_networks.tables import DEPTH, MEASURED, measured
from learning_dynamics.tidy import SEED, Column, Tables, columns, rows
from learning_dynamics.trajectories import Trajectory

SCALE = Column("scale", "float", "initial scale alpha; every draw starts at each")
INTEGRATED = measured("where the integrator gave up")
# quantities that `_layer_measures` returns, in its order, and all that are computed for one limit after the other
OF_LAYERS = (quantities.DISTANCE_FROM_RANK_ONE, quantities.MISALIGNMENT, quantities.MISALIGNMENT_OVER_BOUND)
OF_ONE_LIMIT = (
    *OF_LAYERS,
    quantities.DISTANCE_BOUND_OF_RESIDUAL,
    quantities.DISTANCE_BOUND,
    quantities.MISALIGNMENT_OVER_BOUND_ON_THE_WAY,
)


@columns(SEED, DEPTH, SCALE, *INTEGRATED)
def deep_regression(trajectory: Trajectory) -> Tables:
    """Measure where deep fully connected networks end (Theorem 6).

    Quantities
    ----------
    distance_from_least_l2
        |beta - beta_*| / |beta_*|, from the interpolator beta_* of least l2 norm.
    distance_from_least_l1
        |beta - beta_*| / |beta_*|, from the interpolator beta_* of least l1 norm.
    distance_bound_of_residual
        Largest `distance_from_least_l2` that the setting `integration.residual` allows; no flow enters it.
    distance_bound
        Largest `distance_from_least_l2` that this setting and the start allow together; the start's part is of order
        alpha (see `_bounds`). No flow enters it.
    residual
        Largest |f(x_i) - y_i| at the limit, relative to the largest |y_i|.
    distance_from_rank_one
        Largest Frobenius distance of a matrix W_1, ..., W_(L-1) from its best approximation of rank one (88).
    misalignment
        Largest 1 - (v_l^T u_(l+1))^2, with v_l the top right singular vector of a layer and u_(l+1) the top left one of
        the next (93).
    misalignment_over_bound
        Largest ratio of 1 - (v_l^T u_(l+1))^2 to what (93) and (94) allow, alpha^2 G_l / s_(l+1)^2; see
        `_layer_measures`.
    misalignment_over_bound_on_the_way
        Largest such ratio at the times recorded on the way to the limit.
    """
    X, y, settings = trajectory.constants["X"], trajectory.constants["y"], trajectory.settings
    scales, inputs = trajectory.time, X.shape[-1]
    norms: dict[str, Norm] = {quantities.DISTANCE_FROM_LEAST_L2: "l2", quantities.DISTANCE_FROM_LEAST_L1: "l1"}
    interpolators = {
        name: np.array([minimum_norm(*data_set, norm) for data_set in zip(X, y, strict=True)])
        for name, norm in norms.items()
    }  # shape (data sets, inputs) each
    for depth in settings["depths"]:
        states, starts = trajectory.series[f"flow_{depth}"], trajectory.constants[f"start_{depth}"]
        paths = trajectory.constants[f"path_{depth}"]
        beta = coefficients(states, inputs)  # shape (data sets, scales, inputs)
        misses = np.einsum("mni,msi->msn", X, beta) - y[:, None]  # shape (data sets, scales, samples)
        measures: dict[str, Any] = {
            quantities.RESIDUAL: np.abs(misses).max(axis=-1) / np.abs(y).max(axis=-1)[:, None],
        }
        for name, least in interpolators.items():
            distance = np.linalg.norm(beta - least[:, None], axis=-1)
            measures[name] = distance / np.linalg.norm(least, axis=-1)[:, None]
        for name in OF_ONE_LIMIT:
            measures[name] = np.empty((len(X), len(scales)))
        for seed, place in np.ndindex(len(X), len(scales)):
            start, scale = starts[seed], float(scales[place])
            residual = settings["integration"]["residual"]
            by_residual, bound = _bounds(X[seed], y[seed], start, scale=scale, residual=residual)
            ratios = [
                _layer_measures(state, scale, start, inputs)[quantities.MISALIGNMENT_OVER_BOUND]
                for state in paths[seed, place]
            ]
            of_limit = _layer_measures(states[seed, place], scale, start, inputs) | {
                quantities.DISTANCE_BOUND_OF_RESIDUAL: by_residual,
                quantities.DISTANCE_BOUND: bound,
                quantities.MISALIGNMENT_OVER_BOUND_ON_THE_WAY: np.max(ratios),
            }
            for name in OF_ONE_LIMIT:
                measures[name][seed, place] = of_limit[name]
        yield rows(measures, {"seed": np.arange(len(X)), "scale": scales}, depth=depth)


@columns(SEED, DEPTH, *MEASURED)
def dominated_layers(trajectory: Trajectory) -> Tables:
    """Measure the least eigenvalues in the steps of the proof of (84), P^T P >= A^(L-1) >= C^(L-1).

    Here P = W_1 ... W_(L-1), A = W_(L-1)^T W_(L-1) and C = A - w_L w_L^T.

    Quantities
    ----------
    first_difference
        Least eigenvalue of P^T P - A^(L-1), relative to the largest of P^T P.
    second_difference
        Least eigenvalue of A^(L-1) - C^(L-1), relative to the largest of A^(L-1).
    product_over_least
        Least eigenvalue of P^T P, relative to the least eigenvalue of C to the power L - 1.
    product_over_largest
        Least eigenvalue of P^T P, relative to the largest eigenvalue of C to the power L - 1.
    """

    def least_eigenvalue(difference: np.ndarray, larger: np.ndarray) -> np.ndarray:
        """Return the least eigenvalue of a difference over the largest eigenvalue of its first term, shape (draws,)."""
        return np.linalg.eigvalsh(difference)[:, 0] / np.linalg.norm(larger, 2, axis=(1, 2))

    for depth in trajectory.settings["depths"]:
        layers = trajectory.series[f"matrices_{depth}"][:, 0]  # W_1, ..., W_(L-1), shape (draws, L - 1, size, size)
        last = trajectory.series[f"last_{depth}"][:, 0]  # w_L, shape (draws, size)
        P = functools.reduce(np.matmul, np.moveaxis(layers, 1, 0))
        PtP, A = P.mT @ P, layers[:, -1].mT @ layers[:, -1]
        C = A - last[:, :, None] * last[:, None, :]
        A_power, C_power = np.linalg.matrix_power(A, depth - 1), np.linalg.matrix_power(C, depth - 1)
        eigenvalues_of_C = np.linalg.eigvalsh(C)  # ascending
        least_of_PtP = np.linalg.eigvalsh(PtP)[:, 0]
        measures = {
            quantities.FIRST_DIFFERENCE: least_eigenvalue(PtP - A_power, PtP),
            quantities.SECOND_DIFFERENCE: least_eigenvalue(A_power - C_power, A_power),
            quantities.PRODUCT_OVER_LEAST: least_of_PtP / eigenvalues_of_C[:, 0] ** (depth - 1),
            quantities.PRODUCT_OVER_LARGEST: least_of_PtP / eigenvalues_of_C[:, -1] ** (depth - 1),
        }
        yield rows(measures, {"seed": np.arange(len(A))}, depth=depth)


def _factors(state: np.ndarray, inputs: int) -> list[np.ndarray]:
    """Return W_1, ..., W_(L-1) and W_L, which is w_L as a column, from one state."""
    layers, last = matrices(state, inputs)
    return [*layers, last[:, None]]


def _bounds(X: np.ndarray, y: np.ndarray, start: np.ndarray, *, scale: float, residual: float) -> tuple[float, float]:
    """Return two bounds on a limit's relative distance from the least-norm interpolator beta_*.

    The first is what a residual of `residual` times the largest label allows. The second adds what the start at this
    scale allows. The derivation is in docs/tensor_networks.md. In short, with b_l = W_l ... w_L, so that b_1 is beta,
    with b_(L+1) = 1, and with P the projection out of the span of the data:

    1. The part of W_1 outside of the span stays alpha P W_1(0), so that |P beta| is at most
       ``outside = alpha ||P W_1(0)||`` times |b_2|.
    2. What (80) conserves gives ``(|b_l| / |b_(l+1)|)^2 >= (|b_(l+1)| / |b_(l+2)|)^2 - alpha^2 delta_l``, where
       -delta_l is the least eigenvalue of ``W_l^T W_l - W_(l+1) W_(l+1)^T`` at alpha = 1, or zero if that is positive.
    3. The square of each such ratio therefore exceeds that of the first, ``q^2 = (|b_1| / |b_2|)^2``, by ``lacking`` at
       most, the sum of all alpha^2 delta_l. So |b_2| is at most ``(q^2 + lacking)^((L-1)/2)``.
    4. The largest q has ``q^2 (q^2 + lacking)^(L-1) = |beta_*|^2 + |P beta|^2``. By step 1 |beta_*|^2 is then
       ``p^2 (q^2 + lacking)^(L-1)`` with ``p^2 = q^2 - outside^2``. So p is the last of L factors of |beta_*|, and the
       squares of the others exceed p^2 by ``lacking + outside^2``: `last_of_product` returns p. The distance is at most
       ``outside / p``.
    """
    pseudo_inverse = np.linalg.pinv(X)
    start_layers = _factors(start, X.shape[1])
    first = start_layers[0]
    least_norm = float(np.linalg.norm(pseudo_inverse @ y))
    # a residual r moves beta by at most |X^+| |r|, and |r| is at most sqrt(n) times its largest entry
    by_residual = float(np.linalg.norm(pseudo_inverse, 2) * np.sqrt(len(y)) * residual * np.max(np.abs(y))) / least_norm
    outside = scale * float(np.linalg.norm(first - pseudo_inverse @ (X @ first), 2))
    if outside == 0:  # W_1 has no part outside of the span at the start, and gets none
        return by_residual, by_residual
    lacking = scale**2 * sum(
        max(0.0, -float(np.linalg.eigvalsh(W.T @ W - V @ V.T)[0])) for W, V in pairwise(start_layers)
    )
    p = float(last_of_product((1 + by_residual) * least_norm, lacking + outside**2, len(start_layers)))
    return by_residual, by_residual + (1 + by_residual) * outside / p


def _layer_measures(state: np.ndarray, scale: float, start: np.ndarray, inputs: int) -> dict[str, float]:
    """Return a state's `OF_LAYERS`: the largest distance from rank one, misalignment, and misalignment over its bound.

    The largest is taken over the layers l < L. The bound of (93) and (94) on the misalignment is
    ``alpha^2 G_l / s_(l+1)^2``, with s_(l+1) the largest singular value of layer l + 1. Let g_l be the spectral norm of
    ``W_l^T W_l - W_(l+1) W_(l+1)^T`` at the start with alpha = 1. From the same start, G_l is ``g_l + (g_l + ... +
    g_(L-1)) + |W_(l+1)|_F^2 - |w_L|^2`` (below (93)). For l = L - 1 the last two terms cancel, as W_(l+1) is w_L.
    """
    if not np.isfinite(state).all():
        return dict.fromkeys(OF_LAYERS, np.nan)
    layers, start_layers = _factors(state, inputs), _factors(start, inputs)
    decompositions = [np.linalg.svd(W) for W in layers]
    rank_one = max(float(np.linalg.norm(s[1:])) for _, s, _ in decompositions[:-1])
    # g_l for each pair of adjacent layers, the last of them W_(L-1) and w_L
    gram_norms = [np.linalg.norm(W.T @ W - V @ V.T, 2) for W, V in pairwise(start_layers)]
    misalignment, over_bound = 0.0, 0.0
    for place, ((_, _, Vt), (U, s, _)) in enumerate(pairwise(decompositions)):
        misalignment_here = 1 - float(Vt[0] @ U[:, 0]) ** 2
        G = gram_norms[place] + sum(gram_norms[place:])
        if place < len(gram_norms) - 1:
            G += np.linalg.norm(start_layers[place + 1]) ** 2 - np.linalg.norm(start_layers[-1]) ** 2
        misalignment = max(misalignment, misalignment_here)
        # G is zero for layers that are zero at the start: the ratio is then nan, and `max` keeps what it has
        with np.errstate(invalid="ignore", divide="ignore"):
            over_bound = max(over_bound, misalignment_here * s[0] ** 2 / (scale**2 * G))
    return dict(zip(OF_LAYERS, (rank_one, misalignment, over_bound), strict=True))
