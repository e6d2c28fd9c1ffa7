"""Limits of deep fully connected networks: distance from the least norm, rank and alignment of layers (appendix H).

Shapes: ``flow_<depth>`` (data sets, scales, parameters), limits, with scales alpha in place of times; ``path_<depth>``
(data sets, scales, times, parameters), at the times `flow.RECORDED`; ``start_<depth>`` (data sets, parameters), at
alpha = 1; `X` (data sets, samples, inputs), `y` (data sets, samples). A state is W_1, ..., W_(L-1), square, column by
column, and w_L: `flow.matrices` takes it apart. Of dominated layers ``matrices_<depth>`` (draws, 1, L - 1, size, size)
and ``last_<depth>`` (draws, 1, size). The setting `integration.residual` is what a flow had to reach, the quantity
`residual` what is left; both are relative to the largest label.
"""

import functools
from itertools import pairwise

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


@columns(SEED, DEPTH, SCALE, *INTEGRATED)
def deep_regression(trajectory: Trajectory) -> Tables:
    """Measure where deep fully connected networks end (Theorem 6).

    Quantities
    ----------
    distance
        |beta - beta_*| / |beta_*|, from the interpolator beta_* of least l2 norm.
    distance_l1
        |beta - beta_*| / |beta_*|, from the interpolator beta_* of least l1 norm.
    unfitted
        Largest `distance` that the residual asked for allows; no flow enters it.
    bound
        Largest `distance` that this residual and the start allow, of order alpha (see `_bounds`); no flow enters it.
    residual
        Largest |f(x_i) - y_i|, relative to the largest |y_i|.
    rank_one
        Largest Frobenius distance of a matrix W_1, ..., W_(L-1) from its best approximation of rank one (88).
    misaligned
        Largest 1 - (v_l^T u_(l+1))^2 of the top singular vectors of adjacent layers (93).
    allowed
        Largest ratio of 1 - (v_l^T u_(l+1))^2 to what (93) and (94) allow, alpha^2 G_l / s_(l+1)^2.
    on_the_way
        Largest such ratio at the times recorded on the way to the limit.
    """
    X, y, settings = trajectory.constants["X"], trajectory.constants["y"], trajectory.settings
    scales = trajectory.time
    data = list(zip(X, y, strict=True))
    solutions: dict[str, Norm] = {quantities.DISTANCE: "l2", quantities.DISTANCE_L1: "l1"}
    minimisers = {
        name: np.array([minimum_norm(*data_set, norm) for data_set in data])[:, None]
        for name, norm in solutions.items()
    }
    for depth in settings["depths"]:
        states, starts = trajectory.series[f"flow_{depth}"], trajectory.constants[f"start_{depth}"]
        beta = coefficients(states, X.shape[-1])
        misses = np.einsum("mni,msi->msn", X, beta) - y[:, None]
        measures: dict = {quantities.RESIDUAL: np.abs(misses).max(axis=-1) / np.abs(y).max(axis=-1)[:, None]}
        for name, least in minimisers.items():
            measures[name] = np.linalg.norm(beta - least, axis=-1) / np.linalg.norm(least, axis=-1)
        layer_values = [
            [
                (
                    *_layer_measures(state, scale, start, X.shape[-1]),
                    *_bounds(*data_set, start, scale=scale, residual=settings["integration"]["residual"]),
                )
                for scale, state in zip(scales, states_by_scale, strict=True)
            ]
            for data_set, start, states_by_scale in zip(data, starts, states, strict=True)
        ]
        names = (
            quantities.DISTANCE_FROM_RANK_ONE,
            quantities.MISALIGNMENT,
            quantities.MISALIGNMENT_OVER_BOUND,
            quantities.DISTANCE_BY_RESIDUAL,
            quantities.DISTANCE_BOUND,
        )
        measures |= dict(zip(names, np.moveaxis(np.array(layer_values), -1, 0), strict=True))
        paths = trajectory.constants[f"path_{depth}"]
        measures[quantities.MISALIGNMENT_ON_THE_WAY] = np.array(
            [
                [
                    # the last of the three is the ratio to the bound
                    np.max([_layer_measures(state, scale, start, X.shape[-1])[2] for state in path])
                    for scale, path in zip(scales, paths_by_scale, strict=True)
                ]
                for start, paths_by_scale in zip(starts, paths, strict=True)
            ]
        )
        yield rows(measures, {"seed": np.arange(len(X)), "scale": scales}, depth=depth)


@columns(SEED, DEPTH, *MEASURED)
def dominated_layers(trajectory: Trajectory) -> Tables:
    """Measure the least eigenvalues in the steps of (84).

    With P = W_1 ... W_(L-1), W = W_(L-1) and C = W^T W - w_L w_L^T.

    Quantities
    ----------
    chain
        Least eigenvalue of P^T P - (W^T W)^(L-1), relative to the largest of P^T P.
    power
        Least eigenvalue of (W^T W)^(L-1) - C^(L-1), relative to the largest of (W^T W)^(L-1).
    conclusion
        Least eigenvalue of P^T P, relative to the least eigenvalue of C to the power L - 1.
    largest
        Least eigenvalue of P^T P, relative to the largest eigenvalue of C to the power L - 1.
    """

    def least_eigenvalues(differences: np.ndarray, larger: np.ndarray) -> np.ndarray:
        return np.linalg.eigvalsh(differences)[:, 0] / np.linalg.norm(larger, 2, axis=(1, 2))

    for depth in trajectory.settings["depths"]:
        matrices, last = trajectory.series[f"matrices_{depth}"][:, 0], trajectory.series[f"last_{depth}"][:, 0]
        product = functools.reduce(np.matmul, np.moveaxis(matrices, 1, 0))
        gram, W = product.mT @ product, matrices[:, -1]
        inner = W.mT @ W
        remainder = inner - last[:, :, None] * last[:, None, :]
        inner_power, remainder_power = (np.linalg.matrix_power(matrix, depth - 1) for matrix in (inner, remainder))
        eigenvalues = np.linalg.eigvalsh(remainder)
        smallest = np.linalg.eigvalsh(gram)[:, 0]
        measures = {
            quantities.FIRST_STEP: least_eigenvalues(gram - inner_power, gram),
            "power": least_eigenvalues(inner_power - remainder_power, inner_power),
            quantities.PRODUCT_OVER_LEAST: smallest / eigenvalues[:, 0] ** (depth - 1),
            quantities.PRODUCT_OVER_LARGEST: smallest / eigenvalues[:, -1] ** (depth - 1),
        }
        yield rows(measures, {"seed": np.arange(len(W))}, depth=depth)


def _factors(state: np.ndarray, inputs: int) -> list[np.ndarray]:
    """Return W_1, ..., W_(L-1) and w_L as a column."""
    layers, last = matrices(state, inputs)
    return [*layers, last[:, None]]


def _bounds(X: np.ndarray, y: np.ndarray, start: np.ndarray, *, scale: float, residual: float) -> tuple[float, float]:
    """Return bounds on a limit's relative distance from the least-norm interpolator: by its residual, and in all.

    The part of W_1 outside the span of the data stays alpha P W_1(0), with P the projection: the limit's part,
    |P beta|, is at most ``outside = alpha ||P W_1(0)||`` times the length of b_2. With b_l = W_l ... w_L and
    b_(L+1) = 1, what (80) conserves gives ``(|b_l| / |b_(l+1)|)^2 >= (|b_(l+1)| / |b_(l+2)|)^2 - alpha^2 delta_l``,
    where -delta_l is the least eigenvalue of ``W_l^T W_l - W_(l+1) W_(l+1)^T`` at alpha = 1, or zero if that is
    positive. No ratio's square exceeds the first one's, q^2, by more than their sum, ``lacking``; so |b_2| is at most
    ``(q^2 + lacking)^((L-1)/2)`` with ``q^2 (q^2 + lacking)^(L-1) = |beta|^2 = |beta_*|^2 + |P beta|^2``, which
    ``p^2 = q^2 - outside^2`` solves as the last of L factors.
    """
    inverse = np.linalg.pinv(X)
    start_layers = _factors(start, X.shape[1])
    size = float(np.linalg.norm(inverse @ y))
    unfitted = float(np.linalg.norm(inverse, 2) * np.sqrt(len(y)) * residual * np.max(np.abs(y))) / size
    outside = scale * float(np.linalg.norm(start_layers[0] - inverse @ (X @ start_layers[0]), 2))
    if outside == 0:
        return unfitted, unfitted
    lacking = scale**2 * sum(
        max(0.0, -float(np.linalg.eigvalsh(W.T @ W - V @ V.T)[0])) for W, V in pairwise(start_layers)
    )
    p = float(last_of_product((1 + unfitted) * size, lacking + outside**2, len(start_layers)))
    return unfitted, unfitted + (1 + unfitted) * outside / p


def _layer_measures(state: np.ndarray, scale: float, start: np.ndarray, inputs: int) -> tuple[float, float, float]:
    """Return the largest distance from rank one, the largest misalignment, and its largest ratio to the bound (93, 94).

    G_l is the norm of layer l's difference of Gram matrices at alpha = 1, and the sum of all from l on; but for the
    last pair also |W_(l+1)|_F^2 - |w_L|^2 (below (93)).
    """
    if not np.isfinite(state).all():
        return np.nan, np.nan, np.nan
    layers, start_layers = _factors(state, inputs), _factors(start, inputs)
    decompositions = [np.linalg.svd(W) for W in layers]
    rank_one = max(float(np.linalg.norm(s[1:])) for _, s, _ in decompositions[:-1])
    gaps = [np.linalg.norm(W.T @ W - V @ V.T, 2) for W, V in pairwise(start_layers)]
    misaligned, ratio = 0.0, 0.0
    for place, ((_, _, Vt), (U, s, _)) in enumerate(pairwise(decompositions)):
        angle = 1 - float(Vt[0] @ U[:, 0]) ** 2
        # `gaps` has one for each pair of adjacent layers, last that of W_(L-1) and w_L
        G = gaps[place] + sum(gaps[place:])
        if place < len(gaps) - 1:
            G += np.linalg.norm(start_layers[place + 1]) ** 2 - np.linalg.norm(start_layers[-1]) ** 2
        with np.errstate(invalid="ignore", divide="ignore"):  # matrices that are zero point nowhere
            misaligned, ratio = max(misaligned, angle), max(ratio, angle * s[0] ** 2 / (scale**2 * G))
    return rank_one, misaligned, ratio
