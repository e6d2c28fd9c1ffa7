"""What is measured of one run of classification in logarithmic time, and where theory says that it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from learning_dynamics.papers.tensor_networks.distances import angle_between
from learning_dynamics.papers.tensor_networks.log_time import residual_directions
from learning_dynamics.papers.tensor_networks.quantities import rows_of
from learning_dynamics.papers.tensor_networks.reference_solutions import minimum_norm
from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork, contractions


@dataclass(frozen=True)
class Limit:
    """A predicted limit direction of beta, and the exponent of tau in the angle to it, given the last -X^T r."""

    direction: np.ndarray
    exponent: Callable[[np.ndarray], float]


def classified(
    network: TensorNetwork,
    X: np.ndarray,
    y: np.ndarray,
    taus: np.ndarray,
    states: np.ndarray,
    limit: Limit | None,
    keys: dict,
) -> Iterator[pd.DataFrame]:
    """Yield what `log_time` and `filters` measure of one run, after its start, where beta may be zero."""
    taus, states = taus[1:], states[1:]
    beta = network.coefficients(states)
    pushed = residual_directions(network, X, y, states)
    yield rows_of("log_loss", logsumexp(-beta @ (y[:, None] * X).T, axis=1), tau=taus, **keys)
    singular = [_singular_residual(network, u, state) for u, state in zip(pushed, states, strict=True)]
    yield rows_of("singular", singular, tau=taus, **keys)
    decade = int(np.searchsorted(taus, taus[-1] / 10 * (1 - 1e-9)))
    yield rows_of("settled", angle_between(pushed[decade : decade + 1], pushed[-1]), tau=taus[-1], **keys)
    if network.S is not None:
        stationarity = _stationarity(network, pushed, states)
        yield rows_of("stationarity", stationarity, tau=taus, **keys)
    if len(X) == 1 and network.depth == 2:
        yield rows_of("layer_difference", _layer_difference(network, X[0], y[0], states), tau=taus, **keys)
    unit = beta[-1:] / np.linalg.norm(beta[-1])
    if limit is None:
        yield rows_of("coefficient", unit, tau=taus[-1], **keys)
        return
    angle = angle_between(beta, limit.direction)
    yield rows_of("angle", angle, tau=taus, **keys)
    yield rows_of("coefficient", unit, limit.direction / np.linalg.norm(limit.direction), tau=taus[-1], **keys)
    yield from _fitted(taus, angle, limit.exponent(pushed[-1]), keys)


def limit_of(network: TensorNetwork, architecture: str, X: np.ndarray, y: np.ndarray) -> Limit | None:
    """Return what theory says of the limit direction of beta, where it is one direction, not any stationary point."""
    if architecture == "fully_connected":
        # W_1 keeps its part outside the span of the data, which the other layers carry along like tau**(1 - 1/L)
        return Limit(minimum_norm(X, y, "l2", classification=True), lambda u: 1 / network.depth)
    if network.depth > 2:
        return None
    if network.S is None:
        return _one_point_limit(network, X[0], y[0]) if len(X) == 1 else None
    if np.iscomplexobj(network.S):
        direction = minimum_norm(X, y, "dft_l1", classification=True)
        rho = np.fft.fft(direction)
    else:
        rho = minimum_norm(X @ network.S.T, y, "l1", classification=True)
        direction = network.S.T @ rho
    active = np.abs(rho) > 1e-6 * np.abs(rho).max()
    return Limit(direction, lambda u: _lag(np.abs(network.S @ u), active))


def _lag(values: np.ndarray, active: np.ndarray) -> float:
    """Return the exponent with which inactive singular directions of two layers fall behind active ones.

    Active directions grow like tau in the coefficients, and an inactive one, whose singular value of M(-u) is
    smaller by a factor s, like tau**s. Offsets of the margins fall behind like 1/tau. Active directions share
    the largest singular value in the limit; where they do not yet, the answer is nan.
    """
    if values[active].min() < 0.99 * values.max():
        return np.nan
    if active.all():
        return 1.0
    return float(np.clip(1 - values[~active].max() / values[active].min(), 0.0, 1.0))


def _one_point_limit(network: TensorNetwork, x: np.ndarray, label: float) -> Limit:
    """Return the coefficients at the top singular vectors of M(x), which must be simple (Theorem 3).

    Where M has no common singular vectors for all inputs, a lagging direction of one layer enters the
    coefficients together with the leading direction of the other, so that the exponent is halved.
    """
    U1, values, U2 = np.linalg.svd(network.data_tensor(x), full_matrices=False)
    direction = label * network.coefficients(np.concatenate([U1[:, 0], U2[0]]))
    second = values[1] / values[0] if len(values) > 1 else 0.0
    return Limit(direction, lambda u: (1 - second) / 2)


def _fitted(taus: np.ndarray, angle: np.ndarray, predicted: float, keys: dict) -> Iterator[pd.DataFrame]:
    """Yield the exponent of tau in the angle over the last decade, and the angle's intercept at infinite tau.

    The intercept is that of a straight line through the last two decades against the predicted power of tau.
    """
    decade = taus >= taus[-1] / 10 * (1 - 1e-9)
    last = np.maximum(angle[decade], 1e-300)
    yield rows_of("exponent", [-np.log(last[-1] / last[0]) / np.log(10)], predicted, tau=taus[-1], **keys)
    late = taus >= taus[-1] / 100 * (1 - 1e-9)
    if predicted > 0:
        line = np.polynomial.Polynomial.fit(taus[late] ** -predicted, angle[late], 1)
        yield rows_of("intercept", [line(0.0)], 0.0, tau=taus[-1], **keys)


def _singular_residual(network: TensorNetwork, u: np.ndarray, state: np.ndarray) -> float:
    """Return how far the layers' directions are from singular vectors of M(u), relative to the singular value."""
    layers = [layer / max(np.linalg.norm(layer), 1e-300) for layer in network.layers(state)]
    pushes = contractions(network.data_tensor(u), layers)
    value = float(pushes[0] @ layers[0])
    if value <= 0:
        return 1.0
    distances = [np.linalg.norm(push - value * layer) for push, layer in zip(pushes, layers, strict=True)]
    return float(max(distances)) / value


def _stationarity(network: TensorNetwork, pushed: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Return the residual of Theorem 2's stationarity conditions, shape (times,).

    At a stationary point of the l_(2/L) problem, |rho_j|**(2/L) is proportional to (S u)_j rho_j, which is
    real and not negative; where rho_j is zero both sides are.
    """
    assert network.S is not None
    projected = [layer @ vectors for layer, vectors in zip(network.layers(states), network.U, strict=True)]
    rho = np.prod(projected, axis=0)
    size = np.abs(rho) ** (2 / network.depth)
    aligned = (pushed @ network.S.T) * rho
    with np.errstate(invalid="ignore", divide="ignore"):
        factor = size.sum(axis=1, keepdims=True) / aligned.real.sum(axis=1, keepdims=True)
        residual = np.abs(size - factor * aligned).sum(axis=1) / size.sum(axis=1)
    return np.nan_to_num(residual, nan=1.0, posinf=1.0)


def _layer_difference(network: TensorNetwork, x: np.ndarray, label: float, states: np.ndarray) -> np.ndarray:
    """Return |eta_1 - y eta_2| / |eta_1| in the coordinates of the singular vectors of M(x)."""
    U1, _, U2 = np.linalg.svd(network.data_tensor(x), full_matrices=False)
    first, second = network.layers(states)
    eta1, eta2 = first @ U1, second @ U2.T
    return np.linalg.norm(eta1 - label * eta2, axis=1) / np.linalg.norm(eta1, axis=1)
